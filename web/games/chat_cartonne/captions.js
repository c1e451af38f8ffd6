// Explains each item of Chat Cartonne's table.

/** @type {Readonly<Record<string, string>>} */
const DOES = {
  pile: "does-pile",
  plate: "does-plate",
  cat: "does-cat",
  awake: "does-awake",
  asleep: "does-asleep",
  princess: "does-princess",
  "princess-in": "does-princess",
  card: "does-carton",
  at: "does-carton",
  toy: "does-toy",
  label: "does-box",
  cell: "does-cell",
};

/** @type {import("../../game.js").Game<"chatCartonne", import("./view.js").Remembered>["does"]} */
export function does({ key, pick }, { t }) {
  const [kind = ""] = key.split(":");
  const word = DOES[kind] ?? DOES[pick?.split(":")[0] ?? ""];
  return word && t(word);
}
