// Functions that read a view of Chat perché, and the position of each cat and bird.

/** @import * as api from "#api/chatiere/v1/chat_perche_pb.js" */

/** @typedef {api.ChatPercheViewJson} View */
/** @typedef {api.ChatPerchePiecesJson} Details */
/**
 * The spaces of each seat's cats and of the birds, by the animal's number.
 * @typedef {{cats: number[][], birds: number[]}} Whereabouts
 */
/**
 * The state that the drawing keeps: the last update, and the animals' spaces in it.
 * @typedef {{seen?: object, whereabouts?: Whereabouts}} Remembered
 */
/** @typedef {import("../../game.js").Context<"chatPerche", Remembered>} Context */

/** The number that stands for a space outside the tree, for birds. */
const BESIDE = -1;

/**
 * Return the space on which cats wait.
 * @param {Details} details
 */
export function startOf({ startSpace = 0 }) {
  return startSpace;
}

/**
 * Return the spaces of all animals in the tree; a space occurs once for each animal on it.
 * @param {View} view
 */
export function takenSpaces({ birds = [], seats = [] }) {
  return [...birds, ...seats.flatMap(({ cats = [] }) => cats)];
}

/**
 * Return the number of animals on a branch.
 * @param {View} view
 * @param {readonly number[]} spaces the spaces of the branch
 */
export function loadOf(view, spaces) {
  return takenSpaces(view).filter((space) => spaces.includes(space)).length;
}

/**
 * Return true while tokens are being placed.
 * @param {View} view
 */
export function isPlacing({ phase }) {
  return phase === "CHAT_PERCHE_PHASE_PLACE_TOKEN";
}

/**
 * Return the badge of a cat that has moved or may not move; undefined if it has neither.
 * @param {View} view
 * @param {number} space
 * @returns {"moved" | "barred" | undefined}
 */
export function badgeOf({ moved, barred = [] }, space) {
  return moved === space ? "moved" : barred.includes(space) ? "barred" : undefined;
}

/**
 * Return the spaces of pieces in the order of their numbers, so that each piece keeps its identity.
 * @param {readonly number[]} before the spaces at the last update
 * @param {readonly number[]} now the spaces in this update, in any order
 * @param {readonly [number, number][]} moves the first and the last space of each move since then
 */
function follow(before, now, moves) {
  /** @type {(number | undefined)[]} */
  const places = before.length === now.length ? [...before] : now.map(() => undefined);
  for (const [from, to] of moves) {
    const index = places.lastIndexOf(from);
    if (index >= 0) {
      places[index] = to;
    }
  }
  const left = [...now];
  const kept = places.map((place) => {
    const index = place === undefined ? -1 : left.indexOf(place);
    return index < 0 ? undefined : left.splice(index, 1)[0];
  });
  return kept.map((place) => place ?? /** @type {number} */ (left.shift()));
}

/**
 * Return the space of each cat and of each bird.
 * @param {Context} context
 * @returns {Whereabouts}
 */
export function whereabouts({ view, update, details, ui }) {
  if (ui.whereabouts === undefined || ui.seen !== update) {
    const start = startOf(details);
    const events = (update.events ?? []).flatMap(({ chatPerche }) => (chatPerche ? [chatPerche] : []));
    const before = ui.whereabouts ?? { cats: [], birds: [] };
    const cats = (view.seats ?? []).map(({ cats = [], catsAtStart = 0 }, seat) => {
      const moves = events.flatMap((event) => movesOfCats(event, seat, start));
      return follow(before.cats[seat] ?? [], [...cats, ...Array(catsAtStart).fill(start)], moves);
    });
    const birds = [...(view.birds ?? []), ...Array(view.birdsBeside ?? 0).fill(BESIDE)];
    ui.whereabouts = { cats, birds: follow(before.birds, birds, events.flatMap(movesOfBirds)) };
    ui.seen = update;
  }
  return ui.whereabouts;
}

/**
 * @param {api.ChatPercheEventJson} event
 * @param {number} seat
 * @param {number} start
 * @returns {[number, number][]}
 */
function movesOfCats({ kind, catOwner, seat: whose, fromSpace, toSpace, space }, seat, start) {
  if (kind === "CHAT_PERCHE_EVENT_KIND_CAT_MOVED" && catOwner === seat) {
    return [[fromSpace ?? 0, toSpace ?? 0]];
  }
  return kind === "CHAT_PERCHE_EVENT_KIND_CAT_FELL" && whose === seat ? [[space ?? 0, start]] : [];
}

/**
 * @param {api.ChatPercheEventJson} event
 * @returns {[number, number][]}
 */
function movesOfBirds({ kind, space = 0 }) {
  if (kind === "CHAT_PERCHE_EVENT_KIND_BIRD_PLACED") {
    return [[BESIDE, space]];
  }
  return kind === "CHAT_PERCHE_EVENT_KIND_BIRD_LEFT" ? [[space, BESIDE]] : [];
}
