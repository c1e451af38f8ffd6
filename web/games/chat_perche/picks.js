// The keys of Chat perché's spaces, branches and tokens, and how actions are picked.

import { keysOf, numberOf } from "../../picks.js";
import { isPlacing, startOf } from "./view.js";

/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("#api/chatiere/v1/chat_perche_pb.js").ChatPercheActionJson} PercheAction */

/** Return the key of a space, and of the animal on it. */
export const spaceKey = keysOf("space");

/** Return the mark of the animal on a space. */
export const animalMark = keysOf("on");

/** Return the key of a seat's waiting cats. */
export const startKey = keysOf("start");

/** Return the key of a branch. */
export const branchKey = keysOf("branch");

/** Return the key of an unplaced token. */
export const tokenKey = keysOf("value");

/**
 * Return the key of a move's first space.
 * @param {number} space
 * @param {Context} context
 */
function fromKey(space, { details, view }) {
  return space === startOf(details) ? startKey(view.catOwner) : spaceKey(space);
}

/** @type {import("../../game.js").Game<"chatPerche", import("./view.js").Remembered>["picks"]} */
export function picks({ chatPerche = {} }, context) {
  const { placeToken, move, fall, placeBird } = chatPerche;
  if (placeToken) {
    return { keys: [tokenKey(placeToken.solidity), branchKey(placeToken.branch)] };
  }
  if (move) {
    return { keys: [fromKey(move.fromSpace ?? 0, context), spaceKey(move.toSpace)], ordered: true };
  }
  const target = fall ?? placeBird;
  return { keys: target ? [spaceKey(target.space)] : [] };
}

/**
 * @param {readonly string[]} keys
 * @param {Context} context
 * @returns {PercheAction | undefined}
 */
export function attempt(keys, context) {
  const { view, details } = context;
  if (isPlacing(view)) {
    return attemptToken(keys, context);
  }
  const start = startOf(details);
  const numbers = keys.map((key) => (key.startsWith("space") ? numberOf(key) : start));
  const [first = 0, last = first] = [numbers[0], numbers.at(-1)];
  switch (view.phase) {
    case "CHAT_PERCHE_PHASE_MOVE":
    case "CHAT_PERCHE_PHASE_SECOND_MOVE": {
      const isOthersStart = first === start && keys[0] !== fromKey(first, context);
      if (isOthersStart || (keys.length > 1 && last === start)) {
        return undefined;
      }
      // A cat picked without a target is tried with a step to a neighbouring space, so that the service explains why
      // the cat cannot move.
      const away = details.spaces?.[first]?.neighbours?.[0] ?? 0;
      return { move: { fromSpace: first, toSpace: keys.length > 1 ? last : away } };
    }
    case "CHAT_PERCHE_PHASE_FALL":
      return last === start ? undefined : { fall: { space: last } };
    case "CHAT_PERCHE_PHASE_PLACE_BIRD":
      return details.spaces?.[last]?.branch === undefined ? undefined : { placeBird: { space: last } };
    default:
      return undefined;
  }
}

/**
 * @param {readonly string[]} keys
 * @param {Context} context
 * @returns {PercheAction | undefined}
 */
function attemptToken(keys, { view }) {
  if (!/^(value|branch)/.test(keys.at(-1) ?? "")) {
    return undefined;
  }
  const value = keys.findLast((key) => key.startsWith("value"));
  const branch = keys.findLast((key) => key.startsWith("branch"));
  const own = view.seats?.[view.activeSeat ?? 0]?.unplacedSolidity?.[0] ?? 0;
  const solidity = value ? numberOf(value) : own;
  return branch === undefined ? undefined : { placeToken: { branch: numberOf(branch), solidity } };
}

/** @type {import("../../game.js").Game<"chatPerche", import("./view.js").Remembered>["touched"]} */
export function touched({ chatPerche: { kind, branch, toSpace, space } = {} }) {
  switch (kind) {
    case "CHAT_PERCHE_EVENT_KIND_TOKEN_PLACED":
      return [`token:${branch}`];
    case "CHAT_PERCHE_EVENT_KIND_CAT_MOVED":
      return [animalMark(toSpace)];
    case "CHAT_PERCHE_EVENT_KIND_BIRD_PLACED":
      return [animalMark(space)];
    default:
      return [];
  }
}
