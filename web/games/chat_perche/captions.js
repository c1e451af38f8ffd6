// Explains each item of Chat perché's table.

/** @type {Readonly<Record<string, string>>} */
const DOES = {
  trunk: "does-trunk",
  branch: "does-branch",
  stump: "does-stump",
  deck: "does-deck",
  card: "does-card",
  start: "does-start",
  cat: "does-cat",
  bird: "does-bird",
  dogs: "does-dogs",
  hand: "does-token",
  space: "does-space",
};

/** @type {import("../../game.js").Game<"chatPerche", import("./view.js").Remembered>["does"]} */
export function does({ key }, { t }) {
  const word = DOES[key.split(":")[0] ?? ""];
  return word && t(word);
}
