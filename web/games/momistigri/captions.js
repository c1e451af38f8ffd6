// Explains each item of Momistigri's table.

import { numberOf } from "../../picks.js";

/** @type {Readonly<Record<string, string>>} */
const DOES = { plate: "does-plate", mat: "does-mat", head: "does-head" };

/** @type {import("../../game.js").Game<"momistigri", import("./view.js").Remembered>["does"]} */
export function does({ key, pick, mark }, { details, t }) {
  const [kind = ""] = key.split(":");
  if (kind !== "card") {
    const word = DOES[kind];
    return word && t(word);
  }
  if (mark?.startsWith("pile:")) {
    return t("does-pile");
  }
  const { colour } = details.cards?.[numberOf(pick)] ?? { colour: 0 };
  return t(colour === undefined ? "does-momistigri" : "does-card");
}
