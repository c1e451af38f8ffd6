// Functions that read a view of Chat Cartonne.

import { seatOf, sumOf } from "../../views.js";

/** @import * as api from "#api/chatiere/v1/chat_cartonne_pb.js" */

/** @typedef {api.ChatCartonneViewJson} View */
/** @typedef {api.ChatCartonneBoxJson} CatBox */
/** @typedef {api.ChatCartonneCardJson} Laid */
/** @typedef {api.ChatCartonneCardViewJson} Shown */
/** @typedef {api.ChatCartonneCardInfoJson} CardInfo */
/**
 * The state that the drawing keeps: which cards of the hand are turned, by kind.
 * @typedef {{turned?: Record<number, boolean>}} Remembered
 */
/** @typedef {import("../../game.js").Context<"chatCartonne", Remembered>} Context */
/**
 * A card of a hand.
 * @typedef {object} Held
 * @property {number} kind
 * @property {string} key
 * @property {boolean} isDrawn true if the card has just been drawn and must be played
 */

/**
 * Return the phase without its prefix, such as "OVER".
 * @param {View} view
 */
export function phaseOf({ phase = "CHAT_CARTONNE_PHASE_UNSPECIFIED" }) {
  return phase.slice("CHAT_CARTONNE_PHASE_".length);
}

/**
 * Return the facts printed on a kind of card.
 * @param {Context} context
 * @param {number} kind
 * @returns {CardInfo}
 */
export function cardOf({ details }, kind) {
  return details.cards?.[kind] ?? {};
}

/**
 * Return the cards on the table, each with its cell.
 * @param {View} view
 */
export function cardsOn({ table = [] }) {
  return table.map((shown) => ({ shown, laid: shown.laid ?? {}, cell: shown.laid?.cell ?? 0 }));
}

/**
 * Return the boxes, with their points.
 * @param {Context} context
 * @returns {CatBox[]}
 */
export function boxesOf({ update }) {
  return update.score?.detail?.chatCartonne?.boxes ?? [];
}

/**
 * Return true if the player places a drawn starting carton that cannot be turned, so that only its cell is to be
 * chosen.
 * @param {Context} context
 */
export function hasOneForm({ view, actions }) {
  return (
    view.startingCarton !== undefined &&
    !actions.some(({ chatCartonne }) => chatCartonne?.placeCarton?.turned)
  );
}

/**
 * Return the visible cards of a seat's hand, then the card that the seat has drawn and must play.
 * @param {Context} context
 * @param {number} seat
 * @returns {Held[]}
 */
export function heldBy(context, seat) {
  const { view } = context;
  const { handCards = [] } = seatOf(context, seat);
  const drawn = view.activeSeat === seat ? (view.toy ?? view.startingCarton) : undefined;
  const times = new Map();
  const held = handCards.map((kind) => {
    const before = times.get(kind) ?? 0;
    times.set(kind, before + 1);
    return { kind, key: `hand:${kind}:${before}`, isDrawn: false };
  });
  return drawn === undefined ? held : [...held, { kind: drawn, key: `hand:${drawn}:0`, isDrawn: true }];
}

/**
 * Return the empty cells that are adjacent to a card.
 * @param {Context} context
 */
export function rimOf({ view, details }) {
  const { rows = 0, columns = 0, cells = [] } = details;
  const taken = new Set((view.table ?? []).map(({ laid }) => laid?.cell ?? 0));
  /** @type {Set<number>} */
  const rim = new Set();
  for (const cell of taken) {
    const { row = 0, column = 0 } = cells[cell] ?? {};
    const beside = [
      row > 0 && cell - columns,
      row < rows - 1 && cell + columns,
      column > 0 && cell - 1,
      column < columns - 1 && cell + 1,
    ];
    for (const each of beside) {
      if (each !== false && !taken.has(each)) {
        rim.add(each);
      }
    }
  }
  return rim;
}

/**
 * Return how many Princesses a seat has played.
 * @param {api.ChatCartonneSeatViewJson} state
 */
export function princessesOf({ byPart = [] }) {
  return sumOf(byPart.map(({ princessesPlayed = 0 }) => princessesPlayed));
}
