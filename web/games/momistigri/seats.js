// The seats of Momistigri: their plates and hands.

import { cardBack } from "../../art/cards.js";
import { catCurled } from "../../art/cats.js";
import { drawnBy, smallBack } from "../../art/table_pieces.js";
import { fill } from "../../art/text.js";
import { middleOf } from "../../boxes.js";
import { seatOf } from "../../views.js";
import { LEAST_STEP, spread } from "./layout.js";
import { handCard, seatPlate, tile } from "./parts.js";
import { handKey, seatKey } from "./picks.js";
import { handLabel, nameOf, stateOf } from "./text.js";
import { arrivals, effectOf, lookOf, phaseOf } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Part} Part */
/** @typedef {import("./layout.js").Place} Place */
/** @typedef {import("./view.js").Card} Card */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {ReturnType<typeof spread>[number]} Spot */

/**
 * Return the items of the hand at the bottom.
 * @type {Part}
 */
export function handItems(context, { below, hand: room, cards: all, isNarrow }) {
  const cards = all.filter(({ place }) => place === below);
  if (cards.length === 0) {
    return restItems(context, room, below, isNarrow ? 64 : 96);
  }
  const isRow = cards.length <= 1 + Math.floor((room.width - 80) / LEAST_STEP);
  const width = isNarrow ? (isRow ? 80 : 58) : Math.min(104, (room.height - 54) / 1.42);
  const height = width * (isNarrow ? 1.46 : 1.42);
  const lift = isNarrow ? 44 : height * 0.5;
  const spots = spread(
    cards.map(() => ({ least: isNarrow ? LEAST_STEP : 36, wish: isNarrow ? width + 4 : width * 0.86 })),
    { ...room, height: lift * 3.5 },
    width,
    lift,
  );
  const rows = 1 + Math.max(...spots.map(({ row }) => row));
  const first = room.y + room.height - height / 2 - (rows - 1) * lift - (isNarrow ? 8 : 22);
  const marks = marksOf(context, cards, below);
  return cards.map((card, index) => {
    const spot = spots[index] ?? { x: 0, row: 0, index: 0, count: 1 };
    const { turn, drop } = bentBy(spot, rows > 1 ? 0 : Math.min(2.2, 16 / spot.count), 0.42);
    const mark = marks[index] ?? {};
    const y = first + spot.row * lift + drop - (mark.isPicked ? 18 : 0);
    return { x: spot.x, y, turn, layer: 2, ...ownCard(context, card, { width, height }, mark) };
  });
}

/**
 * Return the rotation and the vertical offset of a card in a curved hand.
 * @param {Spot} spot
 * @param {number} bend the angle between two neighbouring cards, in degrees
 * @param {number} depth the vertical offset of the outer cards, relative to `bend`
 */
function bentBy({ index, count }, bend, depth) {
  const offset = index - (count - 1) / 2;
  return { turn: offset * bend, drop: offset * offset * bend * depth };
}

/**
 * Return for each card of the hand at the bottom the key that picks it, whether it is picked, and whether it has just
 * arrived.
 * @param {Context} context
 * @param {readonly Card[]} cards
 * @param {number} seat
 * @returns {{pick?: string | undefined, isPicked?: boolean, isNew?: boolean}[]}
 */
function marksOf(context, cards, seat) {
  const fresh = arrivals(context, seat);
  const left = [...context.picked];
  return cards.map(({ kind }) => {
    const pick = kind === undefined || context.me === undefined ? undefined : handKey(kind);
    const isPicked = pick !== undefined && left.includes(pick);
    if (isPicked) {
      left.splice(left.indexOf(pick), 1);
    }
    const isNew = kind !== undefined && (fresh.get(kind) ?? 0) > 0;
    if (isNew) {
      fresh.set(kind, (fresh.get(kind) ?? 0) - 1);
    }
    return { pick, isPicked, isNew };
  });
}

/**
 * @param {Context} context
 * @param {Card} card
 * @param {{width: number, height: number}} size
 * @param {ReturnType<typeof marksOf>[number]} mark
 */
function ownCard(context, { id, kind }, { width, height }, { pick, isPicked = false, isNew = false }) {
  const { picked, candidates } = context;
  const isDim = picked.length > 0 && !isPicked && pick !== undefined && !candidates.has(pick);
  const look = kind === undefined ? undefined : lookOf(context, kind);
  const effect = look && effectOf(context, look.value);
  return {
    key: `card:${id}`,
    ...(look
      ? drawnBy(handCard, look, width, height, effect, { isNew, isDim })
      : drawnBy(cardBack, width, height)),
    ...(kind !== undefined && { label: handLabel(context, kind, effect, isNew) }),
    ...(pick !== undefined && { pick }),
  };
}

/**
 * Return a resting cat for a seat that has left the round.
 * @param {Context} context
 * @param {Box} room
 * @param {number} seat
 * @param {number} size
 * @returns {Item[]}
 */
function restItems(context, room, seat, size) {
  if (seatOf(context, seat).inRound) {
    return [];
  }
  return [
    {
      key: `rest:${seat}`,
      x: room.x + room.width / 2,
      y: room.y + Math.min(room.height, size) / 2,
      ...drawnBy(catCurled, seat, size),
    },
  ];
}

/**
 * Return the items of all plates, and of the other seats' hands.
 * @type {Part}
 */
export function seatItems(context, layout) {
  return [
    plateItem(context, layout.below, layout.plate),
    ...layout.others.flatMap((place) => [
      plateItem(context, place.seat, place.plate),
      ...otherHandItems(context, layout, place),
    ]),
  ];
}

/**
 * Return the items of another seat's hand.
 * @param {Context} context
 * @param {Layout} layout
 * @param {Place} place
 * @returns {Item[]}
 */
function otherHandItems(context, { cards: all, isNarrow }, { seat, hand: room }) {
  const { t, seatName } = context;
  const cards = all.filter(({ place }) => place === seat);
  if (cards.length === 0) {
    return restItems(context, room, seat, isNarrow ? 48 : 60);
  }
  const [width, height] = isNarrow ? [26, 34] : [40, 56];
  const lift = height * (isNarrow ? 0.5 : 0.62);
  const spots = spread(
    cards.map(({ kind }) => ({
      least: kind === undefined ? 5 : isNarrow ? 19 : 27,
      wish: kind === undefined ? width / 2 : width + 2,
    })),
    { ...room, height: room.height - height + lift + 2 },
    width,
    lift,
  );
  const rows = 1 + Math.max(...spots.map(({ row }) => row));
  return cards.map(({ id, kind }, index) => {
    const spot = spots[index] ?? { x: 0, row: 0, index: 0, count: 1 };
    const { turn, drop } = bentBy(spot, rows > 1 ? 0 : Math.min(2, 14 / spot.count), 0.18);
    const look = kind === undefined ? undefined : lookOf(context, kind);
    return {
      key: `card:${id}`,
      x: spot.x,
      y: room.y + height / 2 + spot.row * lift + drop + 1,
      turn,
      layer: 2,
      ...(look ? drawnBy(tile, look, width, height, { isLeft: true }) : drawnBy(smallBack, width, height)),
      ...(kind !== undefined && {
        label: t("in-seat", { card: nameOf(context, kind), name: seatName(seat) }),
      }),
    };
  });
}

/**
 * @param {Context} context
 * @param {number} seat
 * @param {Box} room
 * @returns {Item}
 */
function plateItem(context, seat, room) {
  const { view, t, update, me } = context;
  const { handSize = 0, inRound = false, passMark = false } = seatOf(context, seat);
  const isOver = phaseOf(view) === "OVER";
  const state = stateOf(context, seat);
  const name = context.seatName(seat);
  const texts = room.width >= 140 ? room.width * 0.74 - (handSize > 0 ? 46 : 20) : room.width - 6;
  const most = room.width >= 140 && room.height > 50 ? 2 : 1;
  const lines = fill(state, " · ", texts, 12, { weight: 500 }).slice(-most);
  const seen = lines.flat();
  // The visible texts in their order, then the texts for which there is no room.
  const said = [
    ...seen,
    t("hand-size", { count: handSize }),
    ...state.filter((part) => !seen.includes(part)),
  ];
  const look = {
    seat,
    name,
    // Players see the number of their own cards in the hand.
    count: handSize > 0 && seat !== me ? String(handSize) : "",
    lines: lines.map((parts) => parts.join(" · ")),
    isActive: context.turn === seat,
    isReceiver: view.receiver === seat,
    isOut: !inRound && !isOver,
    hasPassed: passMark,
    isWinner: isOver && (update.score?.winners ?? []).includes(seat),
  };
  return {
    key: `plate:${seat}`,
    ...middleOf(room),
    layer: 1,
    ...drawnBy(seatPlate, look, room.width, room.height),
    label: t("plate", { name, lines: said.join(", ") }),
    ...(phaseOf(view) === "GIVE" && seat !== me && { pick: seatKey(seat) }),
  };
}
