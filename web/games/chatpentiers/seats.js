// The seats of Chatpentiers: their plates and castles, and the hand at the bottom.

import { cardBack } from "../../art/cards.js";
import { drawnBy, panelItem, seatsFrom, stepOf } from "../../art/table_pieces.js";
import { middleOf } from "../../boxes.js";
import { numberOf } from "../../picks.js";
import { seatOf, usedBy } from "../../views.js";
import { brick, card, DRAWN, ground, RATIO, seatPlate, signed, tower } from "./parts.js";
import { keyOf, zoneKey } from "./picks.js";
import { contentOf, isOver, isTaking, suitOf, valueOf } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Part} Part */
/** @typedef {import("./layout.js").Style} Style */
/** @typedef {import("./parts.js").Plate} Plate */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {ReturnType<typeof contentOf>} Content */
/**
 * The position of a castle, in pixels.
 * @typedef {object} Castle
 * @property {number} seat
 * @property {Style} style
 * @property {number} x the left edge of the space for it
 * @property {number} width the width of the space for it
 * @property {number} y the ground line
 * @property {number} rows the number of stones for which there is room
 */

const PANEL = { line: "var(--table-line)", opacity: 0.72 };

/**
 * Return the panels of all seats, with their plates and castles.
 * @type {Part}
 */
export function seatItems(context, layout) {
  const boxes = [layout.mine, ...layout.others];
  return seatsFrom(context.players, layout.bottom).flatMap((seat, index) => {
    const box = /** @type {Box} */ (boxes[index]);
    return [
      panelItem(`panel:${seat}`, box, context.turn === seat, PANEL),
      ...plateAndCastle(context, layout, seat, box),
    ];
  });
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {number} seat
 * @param {Box} box
 * @returns {Item[]}
 */
function plateAndCastle(context, layout, seat, box) {
  const isMine = seat === layout.bottom;
  const isSmall = layout.size === "small";
  const isBeside = isMine ? layout.size === "middle" : layout.kind === "side";
  const kind = !isMine ? layout.kind : isSmall ? "line" : isBeside ? "tall" : "full";
  const pad = isSmall ? 6 : 10;
  const mark = isMine ? (isSmall ? 30 : 42) : !isSmall ? 34 : kind === "side" ? 27 : 22;
  const column = !isBeside ? 0 : isMine ? 170 : 72;
  const style = isMine ? layout.own : layout.theirs;
  const place = { x: box.x + pad, y: box.y + (isBeside && isMine ? 14 : isSmall ? 5 : 9) };
  return [
    plateItem(context, seat, place, { kind, mark, width: column || box.width - 2 * pad }),
    ...castleItems(context, {
      seat,
      style,
      x: box.x + pad + column,
      width: box.width - 2 * pad - column,
      y: box.y + box.height - style.foot - (isSmall ? 5 : 9),
      rows: layout.rows,
    }),
  ];
}

/**
 * @param {Context} context
 * @param {number} seat
 * @param {{x: number, y: number}} place
 * @param {Pick<Plate, "kind" | "mark" | "width">} look
 * @returns {Item}
 */
function plateItem(context, seat, place, { kind, mark, width }) {
  const { view, seatName, nameOf, t, update } = context;
  const { handSize = 0, shownVoids = [] } = seatOf(context, seat);
  const total = update.score?.totals?.[seat]?.total ?? 0;
  const voids = shownVoids.map((colour) => t("no-colour", { colour: nameOf("colour", colour) }));
  const leads = view.leader === seat && !isOver(view);
  const name = seatName(seat);
  /** @type {Plate} */
  const face = { kind, seat, name, hand: handSize, total, leads, voids: shownVoids, mark, width };
  return {
    key: `plate:${seat}`,
    ...place,
    layer: 1,
    ...drawnBy(seatPlate, face),
    label: [t("hand-of", { name, count: handSize, points: total }), leads && t("leads"), ...voids]
      .filter(Boolean)
      .join(", "),
  };
}

/**
 * Return the items of a player's castle.
 * @param {Context} context
 * @param {Castle} castle
 * @returns {Item[]}
 */
function castleItems(context, castle) {
  const { seat, style, x, width, y } = castle;
  const zones = usedBy(context.details.zones, context.players);
  const between = width < 140 ? 1 : width < 250 ? 3 : 6;
  const zoneWidth = Math.min(style.tower, (width - 4 - between * (zones.length - 1)) / zones.length);
  const whole = zoneWidth * zones.length + between * (zones.length - 1) + 4;
  const middle = x + width / 2;
  return [
    { key: `ground:${seat}`, x: middle, y, layer: 1, ...drawnBy(ground, whole, style.foot) },
    ...zones.flatMap((which, index) => {
      const left = middle - whole / 2 + 2 + zoneWidth / 2 + index * (zoneWidth + between);
      return zoneItems(context, castle, contentOf(context, seat, which), { x: left, width: zoneWidth });
    }),
  ];
}

/**
 * Return the items of a zone of a castle and of its stones.
 * @param {Context} context
 * @param {Castle} castle
 * @param {Content} content
 * @param {{x: number, width: number}} place
 * @returns {Item[]}
 */
function zoneItems(context, castle, content, { x, width }) {
  const { view, details, seatName, nameOf, t, me, actions } = context;
  const { seat, style, y, rows } = castle;
  const { zone, cards, limit, isSection } = content;
  const count = cards.length;
  const room = rows * style.step;
  const step = count + 1 > rows ? room / (count + 1) : style.step;
  // Stones beyond the limit lie on top of the battlements.
  const middleOf = (/** @type {number} */ nth) =>
    nth < limit ? -(nth + 0.5) * step : -(nth + 0.5) * step - (isSection ? style.head : 0);
  const isTaker = seat === me && isTaking(view) && actions.length > 0;
  const pick = isTaker ? zoneKey(zone) : undefined;
  const next = nextOf(context, pick, { y: middleOf(count), height: step });
  const { head, foot } = style;
  const { suit, points } = content;
  const look = { width, step, head, foot, isSection, limit, count, suit, points, seat, next, room };
  const name = seatName(seat);
  const zoneName = nameOf("zone", zone);
  const inside = width - (width < 24 ? 5 : isSection ? 8 : 12);
  return [
    {
      key: `zone:${seat}:${zone}`,
      x,
      y,
      layer: 2,
      ...drawnBy(tower, look),
      label: t("zone", { zone: zoneName, name, count, limit, what: whatIn(context, content) }),
      ...(pick && { pick }),
    },
    ...cards.map((number, nth) => ({
      key: keyOf(number),
      x,
      y: y + middleOf(nth),
      layer: 3,
      ...drawnBy(brick, suitOf(details, number), valueOf(details, number), inside, step - 1),
      label: t("stone", { card: nameOf("card", number), name, zone: zoneName }),
      ...(pick && { pick }),
    })),
  ];
}

/**
 * Return the place that the picked card would take; undefined if it cannot be placed there.
 * @param {Context} context
 * @param {string | undefined} pick
 * @param {{y: number, height: number}} place the place of the next stone
 */
function nextOf({ details, picked: [chosen], candidates }, pick, place) {
  return pick !== undefined && chosen !== undefined && candidates.has(pick)
    ? { ...place, suit: suitOf(details, numberOf(chosen)) }
    : undefined;
}

/**
 * Return the text of a zone's contents and points.
 * @param {Context} context
 * @param {Content} content
 */
function whatIn({ nameOf, t }, { cards, limit, isSection, points, suit }) {
  const count = cards.length;
  return [
    // The points follow the number of cards, as in the drawing.
    signed(points),
    count === 0 ? t("empty") : nameOf("colour", suit ?? 0),
    isSection && count === limit && t("perfect"),
    count > limit && t("too-many"),
  ]
    .filter(Boolean)
    .join(", ");
}

/**
 * Return the items of the hand at the bottom, sorted by colour.
 * @type {Part}
 */
export function handItems(context, layout) {
  const { handSize = 0, handCards = [] } = seatOf(context, layout.bottom);
  /** @type {(number | undefined)[]} */
  const cards = handCards.length > 0 ? handCards : Array.from({ length: handSize }, () => undefined);
  const each = Math.ceil(cards.length / layout.handRows);
  return Array.from({ length: layout.handRows }, (_, row) =>
    cards.slice(row * each, (row + 1) * each),
  ).flatMap((shown, row) => handRow(context, layout, shown, row));
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {readonly (number | undefined)[]} shown
 * @param {number} row
 * @returns {Item[]}
 */
function handRow(context, { hand: box, handCard: width, trick }, shown, row) {
  const { view, details, candidates, nameOf, t, me, actions } = context;
  const suits = shown.map((number) => (number === undefined ? 0 : suitOf(details, number)));
  const breaks = suits.map(
    (suit, index) => suits.slice(0, index + 1).filter((one, at) => at > 0 && one !== suits[at - 1]).length,
  );
  const space = 10;
  const spaces = (breaks.at(-1) ?? 0) * space;
  const step = stepOf(shown.length, width + 4, box.width - width - spaces);
  const left = box.x + (box.width - step * (shown.length - 1) - spaces) / 2;
  const y = box.y + (width * RATIO) / 2 + row * width * 1.12 + 2;
  const from = { ...middleOf(trick), scale: 0.2 };
  return shown.map((number, index) => {
    const x = left + index * step + (breaks[index] ?? 0) * space;
    if (number === undefined) {
      const back = drawnBy(cardBack, DRAWN, DRAWN * RATIO);
      return { key: `back:${row}:${index}`, x, y, scale: width / DRAWN, layer: 5, ...back };
    }
    const isDim = actions.length > 0 && !isTaking(view) && !candidates.has(keyOf(number));
    const label = t("hand", { card: nameOf("card", number) });
    return card(context, number, { x, y, width, layer: 5, label, from, pick: me !== undefined, isDim });
  });
}
