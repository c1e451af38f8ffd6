// The layout of a table of Chatpentiers, and the facts that its view tells.

import { widthOf } from "./parts.js";

/** @typedef {import("../../game.js").Context} Context @typedef {import("../../game.js").Item} Item */
/** @typedef {import("../../game.js").Box} Box @typedef {import("./parts.js").Plate} Plate */
/**
 * How big a castle is drawn: the height of a stone, of the battlements and of the ground wall, the widest
 * tower.
 * @typedef {{step: number, head: number, foot: number, tower: number}} Style
 */
/**
 * How the table is laid out: on a `small` screen, a `middle` or a `large` one. `rows`: the stones that a
 * castle has room for; `kind`: the plates of the others.
 * @typedef {object} Layout
 * @property {"small" | "middle" | "large"} size
 * @property {number} height
 * @property {Box[]} others @property {Box} mine @property {Box} trick @property {Box} hand
 * @property {number} rows @property {Style} theirs @property {Style} own @property {Plate["kind"]} kind
 * @property {number} card @property {number} handCard @property {number} handRows @property {number} discards
 */
/** @typedef {Context & {layout: Layout, bottom: number, items: Item[]}} Table */

const GAP = 8;
/** How much higher than wide a card is. */
export const RATIO = 1.4;

/** Whether cards of the trick are being taken. @param {any} view */
export function isTaking(view) {
  return view.phase === "CHATPENTIERS_PHASE_TAKE";
}

/** A card's colour. @param {any} details @param {number} card @returns {number} */
export function suitOf(details, card) {
  return details.cards[card]?.colour ?? 0;
}

/** A card's value. @param {any} details @param {number} card @returns {number} */
export function valueOf(details, card) {
  return details.cards[card]?.value ?? 0;
}

/** The colour that was led. @param {any} view @param {any} details @returns {number | undefined} */
export function ledSuit(view, details) {
  const [play] = view.plays ?? [];
  return play && suitOf(details, play.card ?? 0);
}

/** The numbers that depend on the number of players. @param {Context} context */
export function tableOf({ details, players }) {
  return details.byPlayers.find((/** @type {any} */ table) => table.players === players) ?? {};
}

/** The zones of a board. @param {Context} context @returns {{zone?: number, section?: boolean}[]} */
export function zonesOf({ details, players }) {
  return details.zones.filter((/** @type {any} */ zone) => (zone.minPlayers ?? 0) <= players);
}

/**
 * What lies in a zone.
 * @param {Context} context @param {number} seat @param {{zone?: number, section?: boolean}} which
 */
export function contentOf({ view, details, update }, seat, { zone = 0, section = false }) {
  const found = (view.seats[seat]?.zones ?? []).find((/** @type {any} */ each) => (each.zone ?? 0) === zone);
  /** @type {number[]} */
  const cards = found?.cards ?? [];
  const limit = section ? (view.sectionLimits?.[zone] ?? 0) : 0;
  const score = /** @type {any} */ (update.score?.detail)?.chatpentiers?.seats?.[seat] ?? {};
  const points = section ? (score.sectionPoints?.[zone] ?? 0) : (score.zeroZonePoints ?? 0);
  const suit = cards[0] === undefined ? undefined : suitOf(details, cards[0]);
  return { zone, isSection: section, cards, limit, points, suit };
}

/** The seats, the first at the bottom of the table. @param {number} players @param {number} first */
export function around(players, first) {
  return Array.from({ length: players }, (_, index) => (first + index) % players);
}

/**
 * Lay the table out; `grow`: how much bigger than the least.
 * @param {Context} context @param {number} bottom @param {number} grow @returns {Layout}
 */
export function layoutOf(context, bottom, grow) {
  const { width, players, view } = context;
  const size = width < 560 ? "small" : width < 820 ? "middle" : "large";
  const isSmall = size === "small";
  const gap = isSmall ? 6 : GAP + 2;
  const rows = Math.max(...(view.sectionLimits ?? [0])) + 1;
  const kind = isSmall ? (players === 4 ? "above" : "side") : "full";
  const columns = isSmall && players > 4 ? 2 : players - 1;
  const otherWidth = (width - gap * (columns + 1)) / columns;
  const hasVoids = view.seats.some(
    (/** @type {any} */ seat, /** @type {number} */ index) => index !== bottom && seat.shownVoids?.length > 0,
  );
  const isTall = kind === "above" ? hasVoids : kind === "full" && otherWidth < 206 && hasVoids;
  const theirs = isSmall
    ? { step: 7 * grow, head: 14, foot: 8, tower: 30 }
    : { step: 15 * grow, head: 18, foot: 21, tower: 84 };
  const own = isSmall
    ? { step: 15 * grow, head: 16, foot: 21, tower: 68 }
    : { step: 20 * grow, head: 22, foot: 26, tower: 96 };
  const castle = (/** @type {Style} */ { step, head, foot }) => rows * step + head + foot;
  const otherHeight =
    kind === "side"
      ? Math.max(70, castle(theirs) + 12)
      : castle(theirs) + (isSmall ? 52 : 58) + (isTall ? 22 : 0);
  const others = Array.from({ length: players - 1 }, (_, index) => ({
    x: gap + (index % columns) * (otherWidth + gap),
    y: gap + Math.floor(index / columns) * (otherHeight + gap),
    width: otherWidth,
    height: otherHeight,
  }));
  const slots = players + (tableOf(context).extraCards ?? 0);
  const trickWidth = size === "large" ? Math.round((width - 3 * gap) * 0.54) : width - 2 * gap;
  const discards = (isSmall ? 4 : 8) + 22 * flow(context, size, trickWidth).rows;
  const card = Math.min(
    (isSmall ? 50 : 84) * grow,
    (trickWidth - (isSmall ? 22 : 44) - (slots - 1) * 12) / slots,
  );
  const trickHeight = (isSmall ? 28 : 44) + card * RATIO + (isSmall ? 20 : 30) + discards + 10;
  const ownHeight = size === "middle" ? castle(own) + 20 : castle(own) + (isSmall ? 46 : 68);
  const top = Math.ceil((players - 1) / columns) * (otherHeight + gap) + gap;
  const middle = Math.max(trickHeight, ownHeight);
  const trick = { x: gap, y: top, width: trickWidth, height: size === "large" ? middle : trickHeight };
  const mine =
    size === "large"
      ? { x: 2 * gap + trickWidth, y: top, width: width - 3 * gap - trickWidth, height: middle }
      : { x: gap, y: top + trickHeight + gap, width: width - 2 * gap, height: ownHeight };
  const count = view.seats[bottom]?.handSize ?? 0;
  const handRows = count * (isSmall ? 44 : 48) > width - 2 * gap ? 2 : 1;
  const handCard = isSmall ? 54 : Math.min(92, 82 * grow);
  const handTop = mine.y + mine.height + gap;
  const handHeight = count === 0 ? 0 : handCard * RATIO + (handRows - 1) * handCard * 1.12 + gap + 4;
  const hand = { x: gap, y: handTop, width: width - 2 * gap, height: handHeight };
  return {
    size,
    height: Math.round(handTop + handHeight),
    others,
    mine,
    trick,
    hand,
    rows,
    theirs,
    own,
    card,
    handCard,
    handRows,
    discards,
    kind: isTall && kind === "full" ? "tall" : kind,
  };
}

/**
 * Lay the discarded cards out by colour, each colour after its symbol, in as many rows as it takes.
 * @param {Context} context @param {Layout["size"]} size @param {number} width
 */
export function flow({ view, details, t }, size, width) {
  const title = size === "small" ? "" : t("discards");
  const start = title === "" ? 32 : 42 + widthOf(title, 13);
  const symbol = 22;
  const stone = 23;
  /** @type {{suit: number, card?: number, x: number, row: number}[]} */
  const spots = [];
  let [x, row, last] = [start, 0, -1];
  for (const card of /** @type {number[]} */ (view.discards ?? [])) {
    const suit = suitOf(details, card);
    if (x + stone + (suit === last ? 0 : symbol) > width - 6) {
      [x, row, last] = [start, row + 1, -1];
    }
    if (suit !== last) {
      spots.push({ suit, x: x + symbol / 2, row });
      x += symbol;
    }
    spots.push({ suit, card, x: x + stone / 2, row });
    x += stone;
    last = suit;
  }
  return { title, spots, rows: row + 1, stone };
}
