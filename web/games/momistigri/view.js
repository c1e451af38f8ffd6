// Functions that read a view of Momistigri, and the identity of each card.

/** @import * as api from "#api/chatiere/v1/momistigri_pb.js" */

/** @typedef {api.MomistigriEffectInfoJson} Effect */
/** @typedef {api.MomistigriEventJson} GameEvent */
/** @typedef {import("./parts.js").Look} Look */
/**
 * A card on the pile or in a hand.
 * @typedef {object} Card
 * @property {number} id the card's identity, which it keeps when it moves
 * @property {typeof PILE | number} place the pile, or the seat that holds the card
 * @property {number | undefined} [kind] undefined if the viewer does not see the card's face
 */
/**
 * A draw of cards from a seat by another seat.
 * @typedef {object} Draw
 * @property {string} [at] the round and the turn
 * @property {number} seat the seat that drew
 * @property {number} other the seat from which cards were drawn
 * @property {number} count the number of cards
 */
/**
 * The state that the drawing keeps: the cards and their places, the id of the next card, and the last draw.
 * @typedef {{cards?: Card[], nextCard?: number, draw?: Draw}} Remembered
 */
/** @typedef {import("../../game.js").Context<"momistigri", Remembered>} Context */

/** The place of the discarded cards. */
export const PILE = /** @type {const} */ ("pile");
const ROUND_ENDS = new Set(["ONE_SEAT_LEFT", "ALL_PASSED", "TURN_LIMIT_REACHED"]);
/** The events that put cards on the pile. */
export const TO_PILE = new Set(["PAIR_DISCARDED", "ONES_DISCARDED", "CARD_SWAPPED_OUT"]);
// The events that put a card into a hand.
const TO_SEAT = new Set(["CARD_DRAWN", "CARD_SWAPPED_IN", "CARD_HANDED_OUT"]);

/**
 * Return the phase without its prefix, such as "GIVE".
 * @param {Context["view"]} view
 */
export function phaseOf({ phase = "MOMISTIGRI_PHASE_UNSPECIFIED" }) {
  return phase.slice("MOMISTIGRI_PHASE_".length);
}

/**
 * Return the kind of an event without its prefix, such as "CARD_DRAWN".
 * @param {GameEvent} event
 */
export function kindOf({ kind = "MOMISTIGRI_EVENT_KIND_UNSPECIFIED" }) {
  return kind.slice("MOMISTIGRI_EVENT_KIND_".length);
}

/**
 * Return the facts printed on a kind of card.
 * @param {Context} context
 * @param {number} kind
 * @returns {api.MomistigriCardInfoJson}
 */
export function infoOf({ details }, kind) {
  return details.cards?.find(({ card = 0 }) => card === kind) ?? {};
}

/**
 * Return the look of a kind of card.
 * @param {Context} context
 * @param {number} kind
 * @returns {Look}
 */
export function lookOf(context, kind) {
  const { colour, value = 0 } = infoOf(context, kind);
  return { name: context.nameOf("card", kind), value, colour };
}

/**
 * Return the first effect that passes a test; undefined if no effect does.
 * @param {Context} context
 * @param {(effect: Effect) => boolean} test
 */
export function effectWhere({ details }, test) {
  return details.effects?.find(test);
}

/**
 * Return the effect of a pair of a value; undefined if such pairs have no effect.
 * @param {Context} context
 * @param {number} value
 */
export function effectOf(context, value) {
  return effectWhere(context, (effect) => effect.value === value);
}

/**
 * Return the game's part of each event.
 * @param {Context} context
 */
export function eventsOf({ update }) {
  return (update.events ?? []).map(({ momistigri = {} }) => momistigri);
}

/**
 * Return true if an event ends a round.
 * @param {GameEvent} event
 */
export function endsRound(event) {
  return ROUND_ENDS.has(kindOf(event));
}

/**
 * Compare kinds of card by value, for sorting.
 * @param {Context} context
 * @param {number} a
 * @param {number} b
 */
export function byValue(context, a, b) {
  return (infoOf(context, a).value ?? 0) - (infoOf(context, b).value ?? 0) || a - b;
}

/**
 * Return the places of all cards. A card keeps its id from one view to the next as long as it can be followed.
 * @param {Context} context
 * @returns {Card[]}
 */
export function cardsOf(context) {
  const { ui } = context;
  const wanted = cardsInView(context);
  const free = [...(ui.cards ?? [])];
  /** @type {(Card | undefined)[]} */
  const cards = wanted.map(() => undefined);
  /** @type {((card: Card, kind: number | undefined, place: Card["place"]) => boolean)[]} */
  const tests = [
    (card, kind, place) => card.kind === kind && card.place === place,
    (card, kind) => card.kind === kind && kind !== undefined,
    (card, kind) => card.kind === undefined && kind !== undefined,
    (card, kind) => card.kind === undefined && kind === undefined,
    () => true,
  ];
  for (const test of tests) {
    for (const [index, { place, kind }] of wanted.entries()) {
      const found = cards[index] ? -1 : free.findIndex((card) => test(card, kind, place));
      if (found >= 0) {
        const [{ id } = { id: 0 }] = free.splice(found, 1);
        cards[index] = { id, place, kind };
      }
    }
  }
  let next = ui.nextCard ?? 0;
  const all = wanted.map((card, index) => cards[index] ?? { id: next++, ...card });
  ui.nextCard = next;
  ui.cards = all;
  return all;
}

/**
 * @param {Context} context
 * @returns {Omit<Card, "id">[]}
 */
function cardsInView(context) {
  const { view } = context;
  const hands = (view.seats ?? []).map(({ handSize = 0, handCards = [] }, place) => [
    ...Array.from({ length: handSize - handCards.length }, () => ({ place })),
    ...[...handCards].sort((a, b) => byValue(context, a, b)).map((kind) => ({ place, kind })),
  ]);
  return [...(view.discards ?? []).map((kind) => ({ place: PILE, kind })), ...hands.flat()];
}

/**
 * Return the number of cards of each kind that have just arrived at a place.
 * @param {Context} context
 * @param {Card["place"]} place
 */
export function arrivals(context, place) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const event of eventsOf(context)) {
    if (placeOf(event) === place) {
      for (const kind of event.cards ?? []) {
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/**
 * Return the place at which an event's cards arrive; undefined if the event moves no cards.
 * @param {GameEvent} event
 */
function placeOf(event) {
  const kind = kindOf(event);
  if (TO_PILE.has(kind)) {
    return PILE;
  }
  return TO_SEAT.has(kind) ? (event.seat ?? 0) : kind === "CARD_GIVEN" ? event.otherSeat : undefined;
}

/**
 * Return the last draw in the current turn; undefined before the first one.
 * @param {Context} context
 * @returns {Draw | undefined}
 */
export function drawOf(context) {
  const { view, ui } = context;
  const active = view.activeSeat;
  if (active === undefined) {
    return undefined;
  }
  const at = `${view.round ?? 0} ${view.turn ?? 0}`;
  const begun = eventsOf(context).findLast((event) => kindOf(event) === "TURN_BEGUN");
  if (begun && (begun.seat ?? 0) === active) {
    ui.draw = { at, seat: active, other: begun.otherSeat ?? 0, count: begun.draws ?? 1 };
  }
  const known = ui.draw?.at === at ? ui.draw : undefined;
  if (view.drawnFrom !== undefined) {
    return { count: 1, ...known, seat: active, other: view.drawnFrom };
  }
  return known;
}
