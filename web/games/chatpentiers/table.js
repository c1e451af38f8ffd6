// The middle of Chatpentiers' table: the trick and the discarded cards.

import { seatMark, suitSymbol } from "../../art/cards.js";
import { cardboardBox, crown } from "../../art/pieces.js";
import { at, group } from "../../art/shapes.js";
import { badgeItem, drawnBy, panel, plate, seatsFrom, stepOf } from "../../art/table_pieces.js";
import { cut, widthOf, write } from "../../art/text.js";
import { middleOf } from "../../boxes.js";
import { s } from "../../dom.js";
import { playersInfo } from "../../views.js";
import { flow } from "./layout.js";
import { brick, captionedSlot, card, RATIO } from "./parts.js";
import { keyOf } from "./picks.js";
import { isOver, isTaking, ledSuit, valueOf } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Part} Part */
/** @typedef {import("./view.js").Context} Context */
/**
 * The position of a card of the trick: its middle in pixels, and its index from the left.
 * @typedef {{x: number, y: number, index: number}} Place
 */

/**
 * Return the trick or, once the game is over, the ranking, and the discarded cards.
 * @type {Part}
 */
export function tableItems(context, layout) {
  return [
    trickItem(context, layout),
    ...(isOver(context.view) ? rankItems(context, layout) : trickItems(context, layout)),
    ...discardItems(context, layout),
  ];
}

/**
 * Return the box around the trick.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item}
 */
function trickItem(context, { trick: box, size }) {
  const { view, details, nameOf, t } = context;
  const isSmall = size === "small";
  const soft = { fill: "var(--ink-soft)", weight: 600 };
  const led = ledSuit(context);
  const title = t("round", { round: view.round ?? 0, rounds: details.rounds ?? 0 });
  const trick = { trick: view.trick ?? 0, tricks: playersInfo(context).cardsDealt ?? 0 };
  const second = isOver(view) ? "" : t("trick", trick);
  const [letters, line] = isSmall ? [12, 14] : [15, 20];
  const colour = led === undefined ? "" : nameOf("colour", led);
  const asked = led === undefined || isSmall ? colour : t("led", { colour });
  return {
    key: "trick",
    x: box.x,
    y: box.y,
    stamp: `${box.width} ${box.height} ${title} ${second} ${asked}`,
    draw: () =>
      group(
        panel(box.width, box.height, false, { line: "none", opacity: 0.35 }),
        write(title, 10, line, letters, { anchor: "start", ...soft }),
        write(second, 20 + widthOf(title, letters, 600), line, letters, { anchor: "start" }),
        write(asked, box.width - 2 * line, line, letters, { anchor: "end", ...soft }),
        led !== undefined && at(box.width - line - 2, line, suitSymbol(led, line + 4)),
      ),
  };
}

/**
 * Return the items of the trick, in the order of play, and once all have played in the order of rank.
 * @type {Part}
 */
function trickItems(context, layout) {
  const { view, players } = context;
  const { trick: box, card: width, size } = layout;
  const isSmall = size === "small";
  const { ranking = [], extraCard } = view;
  const seats = ranking.length > 0 ? ranking : seatsFrom(players, view.leader ?? 0);
  const slots = seats.length + (extraCard === undefined ? 0 : 1);
  const gap = stepOf(slots, 28, box.width - (isSmall ? 22 : 44) - slots * width);
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
 * Return the items of a seat's place in the trick.
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
  const { caption, label } = saidOf(context, seat, index, {
    isSmall,
    isDone,
    hasPlayed: play !== undefined,
    width,
  });
  const captionSize = isSmall ? 12 : 14;
  const mark = isSmall ? 22 : 32;
  const look = isActive
    ? { size: captionSize, fill: "var(--accent)", ink: "var(--accent-ink)", line: "none" }
    : { size: captionSize };
  const number = play?.card ?? 0;
  const isThere = play && (ranking.length === 0 || (view.tableCards ?? []).includes(number));
  return [
    {
      key: `slot:${index}`,
      x,
      y,
      layer: 1,
      ...drawnBy(captionedSlot, width, caption, captionSize, isActive, isDone),
      label,
    },
    {
      key: `mark:${seat}`,
      x: x + width / 2 - 4,
      y: y - (width * RATIO) / 2 + 8,
      layer: 6,
      ...drawnBy(seatMark, seat, mark),
    },
    ...(ranking.length > 0
      ? [badgeItem(`rank:${index + 1}`, x, y + (width * RATIO) / 2, String(index + 1), look)]
      : []),
    ...(isThere ? [playedCard(context, layout, seat, number, place)] : []),
  ];
}

/**
 * Return the caption of a place in the trick: the player's name and the number of cards that the player takes.
 * @param {Context} context
 * @param {number} seat
 * @param {number} index
 * @param {{isSmall: boolean, isDone: boolean, hasPlayed: boolean, width: number}} how
 */
function saidOf(context, seat, index, { isSmall, isDone, hasPlayed, width }) {
  const { view, seatName, t } = context;
  const { ranking = [] } = view;
  const name = seatName(seat);
  if (ranking.length > 0) {
    const isActive = index === ranking.indexOf(view.activeSeat ?? -1);
    const count = isActive ? (view.cardsToTake ?? 0) : (playersInfo(context).cardsTaken?.[index] ?? 0);
    return {
      caption: count > 0 ? t(isDone ? "took" : "takes", { count }) : "–",
      label: t("rank", { name, rank: index + 1, count }),
    };
  }
  return {
    caption: index === 0 ? t("leads") : isSmall ? "" : cut(name, width + 12, 14, 600),
    label: hasPlayed ? "" : t("to-play", { name }),
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
    from: panel && { ...middleOf(panel), scale: 0.2 },
    pick: isTaking(view),
  });
}

/**
 * Return the items of the extra card of the trick.
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
  // Cards are taken only after all seats have played; until then the extra card lies there.
  const isThere = tableCards.includes(extra) || ranking.length === 0;
  return [
    {
      key: "slot:extra",
      x,
      y,
      layer: 1,
      ...drawnBy(captionedSlot, width, t("extra"), size === "small" ? 12 : 14, false, true),
    },
    ...(isThere ? [card(context, extra, { x, y, width, layer: 4, label, pick: isTaking(view) })] : []),
  ];
}

/**
 * Return the ranking of the players.
 * @type {Part}
 */
function rankItems({ players, update, seatName, t }, layout) {
  const { trick: box, size } = layout;
  const isSmall = size === "small";
  const top = box.y + (isSmall ? 26 : 42);
  const ranks = update.score?.ranks ?? [];
  const seats = seatsFrom(players, 0).sort((one, other) => (ranks[one] ?? 0) - (ranks[other] ?? 0));
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
      ...drawnBy(rankOf, seat, seatName(seat), total, { mark, room: step - 4, isSmall, isFirst }),
      label: t("place-of", { rank: ranks[seat] ?? "", name: seatName(seat), total }),
    };
  });
}

/**
 * Draw a player in the ranking: mark, name and points.
 * @param {number} seat
 * @param {string} name
 * @param {string} total
 * @param {{mark: number, room: number, isSmall: boolean, isFirst: boolean}} look
 */
function rankOf(seat, name, total, { mark, room, isSmall, isFirst }) {
  const text = /** @type {const} */ ([0, mark / 2 + 12, isSmall ? 12 : 15]);
  return group(
    plate(seat, name, { mark: [0, 0, mark], text, room, anchor: "middle" }),
    isFirst && at(0, -mark * 0.62, crown(mark * 0.6)),
    write(total, 0, mark / 2 + 32, isSmall ? 16 : 20),
  );
}

/**
 * Return the discarded cards.
 * @type {Part}
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
      group(
        s("path", { d: `M-9 -14H${box.width - 29}`, stroke: "var(--table-line)" }),
        cardboardBox(22),
        write(title, 17, 0, 13, { anchor: "start", fill: "var(--ink-soft)", weight: 600 }),
      ),
    label: t("discards-are", { cards: view.discards?.length ?? 0 }),
  };
  const stones = spots.map(({ suit, card: number, x, row }) => {
    const place = { x: box.x + x, y: y + row * 22, layer: 2 };
    return number === undefined
      ? { key: `out:${suit}:${row}`, ...place, ...drawnBy(suitSymbol, suit, 16) }
      : {
          key: keyOf(number),
          ...place,
          ...drawnBy(brick, suit, valueOf(details, number), stone - 2, 19),
          label: t("out", { card: nameOf("card", number) }),
        };
  });
  return [line, ...stones];
}
