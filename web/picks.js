// The keys of pieces, and the items that can be picked: the items that some legal action still needs.

/** @typedef {import("./game.js").Action} Action */
/** @typedef {import("./game.js").Picks} Picks */
/** @typedef {{action: Action, picks: Picks}} Option */
/** @typedef {{candidates: Set<string>, complete: Action[], hasMore: boolean}} Found */

/**
 * Return the function that maps the number of a piece to the piece's key, such as `card:7`.
 * @param {string} kind the kind of the piece
 */
export function keysOf(kind) {
  return (number = 0) => `${kind}:${number}`;
}

/**
 * Return the number of the piece of a key.
 * @param {string} [key]
 */
export function numberOf(key = "") {
  return Number(key.split(":")[1]);
}

/**
 * Return the keys that can be picked next, and the complete actions with the most likely action first. `hasMore` is
 * true if an action needs more keys.
 * @param {readonly Option[]} options
 * @param {readonly string[]} picked
 * @returns {Found}
 */
export function follow(options, picked) {
  /** @type {Found} */
  const found = { candidates: new Set(), complete: [], hasMore: false };
  for (const { action, picks } of options) {
    const rest = restOf(picks, picked);
    if (rest?.length === 0) {
      const isLikely = picks.keys.at(-1) === picked.at(-1);
      found.complete.splice(isLikely ? 0 : found.complete.length, 0, action);
    } else if (rest) {
      found.hasMore = true;
      for (const key of picks.ordered ? rest.slice(0, 1) : rest) {
        found.candidates.add(key);
      }
    }
  }
  return found;
}

/**
 * Return the picked keys after a click on a key, or undefined if the click leads to no action.
 * @param {readonly Option[]} options
 * @param {readonly string[]} picked
 * @param {string} key
 * @returns {string[] | undefined}
 */
export function pick(options, picked, key) {
  const more = [...picked, key];
  if (options.some(({ picks }) => restOf(picks, more) !== undefined)) {
    return more;
  }
  const index = picked.lastIndexOf(key);
  if (index >= 0) {
    const isOrdered = options.some(({ picks }) => picks.ordered && restOf(picks, picked) !== undefined);
    return isOrdered ? picked.slice(0, index) : picked.filter((_, at) => at !== index);
  }
  return options.some(({ picks }) => restOf(picks, [key]) !== undefined) ? [key] : undefined;
}

/**
 * Return the keys that an action needs in addition to the picked keys, or undefined if the picked keys do not fit the
 * action.
 * @param {Picks} picks
 * @param {readonly string[]} picked
 */
function restOf({ keys, ordered }, picked) {
  if (ordered) {
    return picked.every((key, index) => keys[index] === key) ? keys.slice(picked.length) : undefined;
  }
  const rest = [...keys];
  for (const key of picked) {
    const index = rest.indexOf(key);
    if (index < 0) {
      return undefined;
    }
    rest.splice(index, 1);
  }
  return rest;
}
