// The keys of Chat Cartonne's cards, cells and joints, and how actions are picked.

import { keysOf } from "../../picks.js";
import { hasOneForm, rimOf } from "./view.js";

/** @typedef {import("./view.js").Remembered} Remembered */

/**
 * Return the key of a card of the hand or of a starting carton, either way up.
 * @param {"card" | "start"} what
 * @param {number} kind the number of the card's kind
 * @param {boolean} [turned]
 */
export function formKey(what, kind, turned = false) {
  return `${what}:${kind}${turned ? ":turned" : ""}`;
}

/** Return the key of a cell. */
export const cellKey = keysOf("cell");

/** Return the key of a joint by the number of the cell west of it. */
export const jointKey = keysOf("joint");

/** @type {import("../../game.js").Game<"chatCartonne", Remembered>["picks"]} */
export function picks({ chatCartonne: part = {} }, context) {
  const {
    chooseStart,
    placeCarton,
    sleep,
    princessOnJoint: onJoint,
    princessInCell: inCell,
    toyAsCarton,
  } = part;
  if (part.draw) {
    return { keys: ["pile"] };
  }
  if (chooseStart) {
    return { keys: [formKey("start", chooseStart.card ?? 0, chooseStart.turned)] };
  }
  if (placeCarton) {
    const cell = cellKey(placeCarton.cell);
    return hasOneForm(context)
      ? { keys: [cell] }
      : { keys: [formKey("card", placeCarton.card ?? 0, placeCarton.turned), cell], ordered: true };
  }
  if (sleep) {
    return { keys: ["cat", cellKey(sleep.cell)], ordered: true };
  }
  if (onJoint || inCell) {
    return { keys: ["princess", onJoint ? jointKey(onJoint.joint) : cellKey(inCell?.cell)], ordered: true };
  }
  const lies = part.layCat ?? part.toyOnJoint;
  if (lies) {
    return { keys: [jointKey(lies.joint)] };
  }
  return { keys: toyAsCarton ? [cellKey(toyAsCarton.cell)] : [] };
}

/** @type {import("../../game.js").Game<"chatCartonne", Remembered>["attempt"]} */
export function attempt(keys, context) {
  const last = keys.at(-1) ?? "";
  const [shape = "", at] = last.split(":");
  const isPlace = shape === "cell" || shape === "joint";
  const [what, number, turned] = (isPlace ? (keys[0] ?? "") : last).split(":");
  const cell = isPlace ? Number(at) : ([...rimOf(context)][0] ?? 0);
  const { view } = context;
  if (what === "pile") {
    return { draw: {} };
  }
  if (what === "cat") {
    return { sleep: { cell } };
  }
  if (what === "princess") {
    return shape === "cell" ? { princessInCell: { cell } } : { princessOnJoint: { joint: cell } };
  }
  if (what === "card") {
    return { placeCarton: { card: Number(number), turned: turned !== undefined, cell } };
  }
  if (view.toy !== undefined) {
    return shape === "cell" ? { toyAsCarton: { cell } } : { toyOnJoint: { joint: cell } };
  }
  if (view.startingCarton !== undefined) {
    return { placeCarton: { card: view.startingCarton, turned: false, cell } };
  }
  return shape === "joint" ? { layCat: { joint: cell } } : undefined;
}

/** @type {import("../../game.js").Game<"chatCartonne", Remembered>["touched"]} */
export function touched({ chatCartonne: { seat, cell, joint } = {} }) {
  return [
    ...(cell === undefined ? [] : [`at:${cell}`, `asleep:${cell}:${seat}`, `princess-in:${cell}`]),
    ...(joint === undefined ? [] : [`awake:${joint}:${seat}`, `princess:${joint}`, `toy:${joint}`]),
  ];
}
