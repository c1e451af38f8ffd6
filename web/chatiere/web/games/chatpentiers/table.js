// The middle of a table of Chatpentiers: the trick and the discarded cards.

import { chip, seatMark, suitSymbol } from "../../art/cards.js";
import { cardboardBox, crown } from "../../art/pieces.js";
import { s } from "../../dom.js";
import { flow } from "./layout.js";
import { at, brick, card, plane, RATIO, slot, text, widthOf } from "./parts.js";
import { keyOf } from "./picks.js";
import { around, isOver, isTaking, ledSuit, numbersOf, valueOf } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./view.js").Context} Context */
/**
 * A place of the trick: its middle, and its number from the left.
 * @typedef {{x: number, y: number, index: number}} Place
 */

/**
 * The trick, or who has won, and the discarded cards.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
 */
export function tableItems(context, layout) {
  return [
    trickItem(context, layout),
    ...(isOver(context.view) ? rankItems(context, layout) : trickItems(context, layout)),
    ...discardItems(context, layout),
  ];
}

/**
 * The box around the trick.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item}
 */
function trickItem(context, { trick: box, size }) {
  const { view, details, nameOf, t } = context;
  const isSmall = size === "small";
  const led = ledSuit(context);
  const title = t("round", { round: view.round ?? 0, rounds: details.rounds ?? 0 });
  const trick = { trick: view.trick ?? 0, tricks: numbersOf(context).cardsDealt ?? 0 };
  const second = isOver(view) ? "" : t("trick", trick);
  const [letters, line] = isSmall ? [12, 14] : [15, 20];
  const colour = led === undefined ? "" : nameOf("colour", led);
  const asked = led === undefined || isSmall ? colour : t("led", { colour });
  const whole = { x: 0, y: 0, width: box.width, height: box.height };
  return {
    key: "trick",
    x: box.x,
    y: box.y,
    stamp: `${box.width} ${box.height} ${title} ${second} ${asked}`,
    draw: () =>
      s(
        "g",
        {},
        plane(whole, 12, "var(--surface)", { "fill-opacity": 0.35 }),
        text(title, 10, line, letters, { fill: "var(--ink-soft)" }),
        text(second, 20 + widthOf(title, letters), line, letters, { weight: 700 }),
        text(asked, box.width - 2 * line, line, letters, { anchor: "end", fill: "var(--ink-soft)" }),
        led !== undefined && at(box.width - line - 2, line, suitSymbol(led, line + 4)),
      ),
  };
}

/**
 * The trick, in the order of play or of rank.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
 */
function trickItems(context, layout) {
  const { view, players } = context;
  const { trick: box, card: width, size } = layout;
  const isSmall = size === "small";
  const { ranking = [], extraCard } = view;
  const seats = ranking.length > 0 ? ranking : around(players, view.leader ?? 0);
  const slots = seats.length + (extraCard === undefined ? 0 : 1);
  const gap = Math.min(28, (box.width - (isSmall ? 22 : 44) - slots * width) / Math.max(1, slots - 1));
  const first = box.x + (box.width - slots * width - (slots - 1) * gap) / 2;
  const top = box.y + (isSmall ? 26 : 42);
  const high = box.height - (isSmall ? 26 : 42) - layout.discards - 10;
  const y = top + Math.max(0, (high - (isSmall ? 20 : 30) - width * RATIO) / 2) + (width * RATIO) / 2;
  const placeOf = (/** @type {number} */ index) => ({
    x: first + width / 2 + index * (width + gap),
    y,
    index,
  });
  return [
    ...seats.flatMap((seat, index) => playItems(context, layout, seat, placeOf(index))),
    ...(extraCard === undefined ? [] : extraItems(context, layout, extraCard, placeOf(seats.length))),
  ];
}

/**
 * The card that a seat has played, and what the seat gets.
 * @param {Context} context
 * @param {Layout} layout
 * @param {number} seat
 * @param {Place} place
 * @returns {Item[]}
 */
function playItems(context, layout, seat, place) {
  const { view, turn } = context;
  const { card: width, size } = layout;
  const isSmall = size === "small";
  const { ranking = [], plays = [] } = view;
  const { x, y, index } = place;
  const play = plays.find((each) => (each.seat ?? 0) === seat);
  const isActive = turn === seat;
  const isDone = ranking.length > 0 && index < ranking.indexOf(view.activeSeat ?? -1);
  const { caption, label } = saidOf(context, seat, index, { isSmall, isDone, hasPlayed: play !== undefined });
  const captionSize = isSmall ? 12 : 14;
  const mark = isSmall ? 22 : 32;
  const look = isActive
    ? { size: captionSize, fill: "var(--accent)", ink: "var(--accent-ink)", stroke: "none" }
    : { size: captionSize };
  const number = play?.card ?? 0;
  const isThere = play && (ranking.length === 0 || (view.tableCards ?? []).includes(number));
  return [
    {
      key: `slot:${index}`,
      x,
      y,
      layer: 1,
      stamp: `${width} ${caption} ${isActive} ${isDone}`,
      draw: () => slot(width, caption, captionSize, isActive, isDone),
      label,
    },
    {
      key: `mark:${seat}`,
      x: x + width / 2 - 4,
      y: y - (width * RATIO) / 2 + 8,
      layer: 6,
      stamp: String(mark),
      draw: () => seatMark(seat, mark),
    },
    ...(ranking.length > 0 ? [rankItem(index + 1, { x, y: y + (width * RATIO) / 2 }, look)] : []),
    ...(isThere ? [playedCard(context, layout, seat, number, place)] : []),
  ];
}

/**
 * Say of a place of the trick whose it is and how many cards that seat takes.
 * @param {Context} context
 * @param {number} seat
 * @param {number} index
 * @param {{isSmall: boolean, isDone: boolean, hasPlayed: boolean}} how
 */
function saidOf(context, seat, index, { isSmall, isDone, hasPlayed }) {
  const { view, seatName, t } = context;
  const { ranking = [] } = view;
  const name = seatName(seat);
  if (ranking.length > 0) {
    const isActive = index === ranking.indexOf(view.activeSeat ?? -1);
    const count = isActive ? (view.cardsToTake ?? 0) : (numbersOf(context).cardsTaken?.[index] ?? 0);
    return {
      caption: count > 0 ? t(isDone ? "took" : "takes", { count }) : "–",
      label: t("rank", { name, rank: index + 1, count }),
    };
  }
  return {
    caption: index === 0 ? t("leads") : isSmall ? "" : name,
    label: hasPlayed ? "" : t("to-play", { name }),
  };
}

/**
 * @param {number} rank
 * @param {{x: number, y: number}} place
 * @param {{size: number, fill?: string, ink?: string, stroke?: string}} look
 * @returns {Item}
 */
function rankItem(rank, place, look) {
  return {
    key: `rank:${rank}`,
    ...place,
    layer: 6,
    stamp: `${look.size} ${look.fill !== undefined}`,
    draw: () => chip(String(rank), look),
  };
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {number} seat
 * @param {number} number
 * @param {Place} place
 */
function playedCard(context, layout, seat, number, { x, y }) {
  const { view, players, seatName, nameOf, t } = context;
  const panel =
    layout.bottom === seat ? layout.mine : layout.others[((seat - layout.bottom + players) % players) - 1];
  return card(context, number, {
    x,
    y,
    width: layout.card,
    layer: 4,
    label: t("played-by", { card: nameOf("card", number), name: seatName(seat) }),
    from: panel && { x: panel.x + panel.width / 2, y: panel.y + panel.height / 2, scale: 0.2 },
    pick: isTaking(view),
  });
}

/**
 * The card beside those that were played.
 * @param {Context} context
 * @param {Layout} layout
 * @param {number} extra
 * @param {Place} place
 * @returns {Item[]}
 */
function extraItems(context, { card: width, size }, extra, { x, y }) {
  const { view, nameOf, t } = context;
  const { tableCards = [], ranking = [] } = view;
  const label = t("extra-card", { card: nameOf("card", extra) });
  // Before all have played nothing is taken, so that the extra card lies there.
  const isThere = tableCards.includes(extra) || ranking.length === 0;
  return [
    {
      key: "slot:extra",
      x,
      y,
      layer: 1,
      stamp: `${width} extra`,
      draw: () => slot(width, t("extra"), size === "small" ? 12 : 14, false, true),
    },
    ...(isThere ? [card(context, extra, { x, y, width, layer: 4, label, pick: isTaking(view) })] : []),
  ];
}

/**
 * Who has won.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
 */
function rankItems({ players, update, seatName }, layout) {
  const { trick: box, size } = layout;
  const isSmall = size === "small";
  const top = box.y + (isSmall ? 26 : 42);
  const ranks = update.score?.ranks ?? [];
  const seats = around(players, 0).sort((one, other) => (ranks[one] ?? 0) - (ranks[other] ?? 0));
  const step = box.width / players;
  const mark = Math.min(isSmall ? 38 : 68, step - 12);
  const y = top + (box.y + box.height - layout.discards - 10 - top) / 2 - 14;
  return seats.map((seat, index) => {
    const isFirst = ranks[seat] === 1;
    const total = String(update.score?.totals?.[seat]?.total ?? "");
    return {
      key: `mark:${seat}`,
      x: box.x + step * (index + 0.5),
      y,
      layer: 6,
      stamp: `${mark} ${total} ${isFirst}`,
      draw: () =>
        s(
          "g",
          {},
          at(0, 0, seatMark(seat, mark)),
          isFirst && at(0, -mark * 0.62, crown(mark * 0.6)),
          text(seatName(seat), 0, mark / 2 + 12, isSmall ? 12 : 15, {
            anchor: "middle",
            weight: 700,
          }),
          text(total, 0, mark / 2 + 32, isSmall ? 16 : 20, { anchor: "middle", weight: 700 }),
        ),
      label: `${ranks[seat] ?? ""}. ${seatName(seat)}: ${total}`,
    };
  });
}

/**
 * The discarded cards.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
 */
function discardItems(context, layout) {
  const { view, details, nameOf, t } = context;
  const { trick: box, size } = layout;
  const { title, spots, stone } = flow(context, size, box.width);
  const y = box.y + box.height - layout.discards + (size === "small" ? 10 : 14);
  /** @type {Item} */
  const line = {
    key: "discards",
    x: box.x + 19,
    y,
    layer: 1,
    stamp: `${title} ${box.width}`,
    draw: () =>
      s(
        "g",
        {},
        s("path", { d: `M-9 -14H${box.width - 29}`, stroke: "var(--table-line)" }),
        cardboardBox(22),
        text(title, 17, 0, 13, { fill: "var(--ink-soft)" }),
      ),
    label: `${t("discards")}: ${view.discards?.length ?? 0}`,
  };
  const stones = spots.map(({ suit, card: number, x, row }) => {
    const place = { x: box.x + x, y: y + row * 22, layer: 2 };
    return number === undefined
      ? { key: `out:${suit}:${row}`, ...place, stamp: "", draw: () => suitSymbol(suit, 16) }
      : {
          key: keyOf(number),
          ...place,
          stamp: "out",
          draw: () => brick(suit, valueOf(details, number), stone - 2, 19),
          label: t("out", { card: nameOf("card", number) }),
        };
  });
  return [line, ...stones];
}
