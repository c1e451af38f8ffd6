// The table of Chatpentiers: castles, the trick, the discarded cards, the hand.

import { cardBack, cardFace, chip, seatMark, suitSymbol } from "../../art/cards.js";
import { cardboardBox, crown } from "../../art/pieces.js";
import { s } from "../../dom.js";
import {
  around,
  contentOf,
  flow,
  isTaking,
  ledSuit,
  RATIO,
  suitOf,
  tableOf,
  valueOf,
  zonesOf,
} from "./layout.js";
import { at, brick, ground, plane, plate, text, tower, widthOf } from "./parts.js";

/** @typedef {import("../../game.js").Item} Item @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./layout.js").Table} Table */
/** @typedef {import("./layout.js").Style} Style */
/** @typedef {import("./parts.js").Plate} Plate */

// Cards are drawn this wide, and scaled.
const DRAWN = 100;

/**
 * A player's panel: the plate and the castle.
 * @param {Table} table @param {number} seat @param {Box} box
 */
export function drawSeat(table, seat, box) {
  const { view, layout, items, seatName, nameOf, t, turn, update, bottom } = table;
  const { size } = layout;
  const isMine = seat === bottom;
  const style = isMine ? layout.own : layout.theirs;
  const { handSize = 0, shownVoids = [] } = view.seats[seat];
  const total = update.score?.totals?.[seat]?.total ?? 0;
  const isActive = turn === seat;
  items.push({
    key: `panel:${seat}`,
    x: box.x,
    y: box.y,
    stamp: `${box.width} ${box.height} ${isActive}`,
    draw: () =>
      plane(
        { x: 0, y: 0, width: box.width, height: box.height },
        12,
        "var(--surface)",
        isActive
          ? { stroke: "var(--accent)", "stroke-width": 3 }
          : { stroke: "var(--table-line)", "fill-opacity": 0.72 },
      ),
  });
  const isSmall = size === "small";
  const isBeside = isMine ? size === "middle" : layout.kind === "side";
  const kind = !isMine ? layout.kind : isSmall ? "line" : isBeside ? "tall" : "full";
  const pad = isSmall ? 6 : 10;
  const mark = isMine ? (isSmall ? 30 : 42) : !isSmall ? 34 : kind === "side" ? 27 : 22;
  const column = !isBeside ? 0 : isMine ? 170 : 72;
  const voids = shownVoids.map((/** @type {number} */ colour) =>
    t("no-colour", { colour: nameOf("colour", colour) }),
  );
  const leads = view.leader === seat && view.phase !== "CHATPENTIERS_PHASE_OVER";
  /** @type {Plate} */
  const face = {
    kind,
    seat,
    name: seatName(seat),
    hand: handSize,
    total,
    leads,
    voids: shownVoids,
    mark,
    width: column || box.width - 2 * pad,
  };
  items.push({
    key: `plate:${seat}`,
    x: box.x + pad,
    y: box.y + (isBeside && isMine ? 14 : isSmall ? 5 : 9),
    layer: 1,
    stamp: JSON.stringify(face),
    draw: () => plate(face),
    label: [
      t("hand-of", { name: seatName(seat), count: handSize, points: total }),
      leads && t("leads"),
      ...voids,
    ]
      .filter(Boolean)
      .join(", "),
  });
  const left = box.x + pad + column;
  drawCastle(
    table,
    seat,
    style,
    left,
    box.width - 2 * pad - column,
    box.y + box.height - style.foot - (isSmall ? 5 : 9),
  );
}

/**
 * A player's castle: its ground line is at `y`.
 * @param {Table} table @param {number} seat @param {Style} style
 * @param {number} x @param {number} width @param {number} y
 */
function drawCastle(table, seat, style, x, width, y) {
  const { items, layout, view, details, nameOf, seatName, t, me, picked, candidates, actions } = table;
  const { step, head, foot } = style;
  const zones = zonesOf(table);
  const between = width < 140 ? 1 : width < 250 ? 3 : 6;
  const zoneWidth = Math.min(style.tower, (width - 4 - between * (zones.length - 1)) / zones.length);
  const whole = zoneWidth * zones.length + between * (zones.length - 1) + 4;
  const middle = x + width / 2;
  items.push({
    key: `ground:${seat}`,
    x: middle,
    y,
    layer: 1,
    stamp: `${whole} ${foot}`,
    draw: () => ground(whole, foot),
  });
  const isTaker = seat === me && isTaking(view) && actions.length > 0;
  const [chosen] = picked;
  for (const [index, which] of zones.entries()) {
    const content = contentOf(table, seat, which);
    const { zone, cards, limit, isSection, suit, points } = content;
    const count = cards.length;
    const room = layout.rows * step;
    const heights = count + 1 > layout.rows ? room / (count + 1) : step;
    // Stones beyond the limit lie on top of the battlements.
    const middleOf = (/** @type {number} */ nth) =>
      nth < limit ? -(nth + 0.5) * heights : -(nth + 0.5) * heights - (isSection ? head : 0);
    const pick = isTaker ? `zone:${zone}` : undefined;
    const isNext = pick !== undefined && chosen !== undefined && candidates.has(pick);
    const next = isNext
      ? { y: middleOf(count), height: heights, suit: suitOf(details, Number(chosen.slice("card:".length))) }
      : undefined;
    const place = { x: middle - whole / 2 + 2 + zoneWidth / 2 + index * (zoneWidth + between), y };
    const look = {
      width: zoneWidth,
      step: heights,
      head,
      foot,
      isSection,
      limit,
      count,
      suit,
      points,
      seat,
      next,
      room,
    };
    const what = [
      count === 0 ? t("empty") : nameOf("colour", suit ?? 0),
      isSection && count === limit && t("perfect"),
      count > limit && t("too-many"),
    ]
      .filter(Boolean)
      .join(", ");
    const name = seatName(seat);
    items.push({
      key: `zone:${seat}:${zone}`,
      ...place,
      layer: 2,
      stamp: JSON.stringify(look),
      draw: () => tower(look),
      label: t("zone", { zone: nameOf("zone", zone), name, count, limit, what }),
      ...(pick && { pick }),
    });
    for (const [nth, card] of cards.entries()) {
      const inside = zoneWidth - (zoneWidth < 24 ? 5 : isSection ? 8 : 12);
      items.push({
        key: `card:${card}`,
        x: place.x,
        y: y + middleOf(nth),
        layer: 3,
        stamp: `brick ${inside} ${heights}`,
        draw: () => brick(suitOf(details, card), valueOf(details, card), inside, heights - 1),
        label: t("stone", { card: nameOf("card", card), name, zone: nameOf("zone", zone) }),
        ...(pick && { pick }),
      });
    }
  }
}

/** The trick, in the order of play or of rank. @param {Table} table */
export function drawTrick(table) {
  const { view, details, layout, items, players, seatName, nameOf, t, turn } = table;
  const { trick: box, card: width, size } = layout;
  const isSmall = size === "small";
  const isOver = view.phase === "CHATPENTIERS_PHASE_OVER";
  const led = ledSuit(view, details);
  const { cardsDealt = 0, cardsTaken = [] } = tableOf(table);
  const title = t("round", { round: view.round ?? 0, rounds: details.rounds ?? 0 });
  const second = isOver ? "" : t("trick", { trick: view.trick ?? 0, tricks: cardsDealt });
  const [letters, line] = isSmall ? [12, 14] : [15, 20];
  const colour = led === undefined ? "" : nameOf("colour", led);
  const asked = led === undefined || isSmall ? colour : t("led", { colour });
  items.push({
    key: "trick",
    x: box.x,
    y: box.y,
    stamp: `${box.width} ${box.height} ${title} ${second} ${asked}`,
    draw: () =>
      s(
        "g",
        {},
        plane({ x: 0, y: 0, width: box.width, height: box.height }, 12, "var(--surface)", {
          "fill-opacity": 0.35,
        }),
        text(title, 10, line, letters, { fill: "var(--ink-soft)" }),
        text(second, 20 + widthOf(title, letters), line, letters, { weight: 700 }),
        text(asked, box.width - 2 * line, line, letters, { anchor: "end", fill: "var(--ink-soft)" }),
        led !== undefined && at(box.width - line - 2, line, suitSymbol(led, line + 4)),
      ),
  });
  const top = box.y + (isSmall ? 26 : 42);
  if (isOver) {
    drawRanks(table, top);
    return;
  }
  /** @type {number[]} */
  const ranking = view.ranking ?? [];
  const seats = ranking.length > 0 ? ranking : around(players, view.leader ?? 0);
  const extra = view.extraCard;
  const slots = seats.length + (extra === undefined ? 0 : 1);
  const gap = Math.min(28, (box.width - (isSmall ? 22 : 44) - slots * width) / Math.max(1, slots - 1));
  const first = box.x + (box.width - slots * width - (slots - 1) * gap) / 2;
  const high = box.height - (isSmall ? 26 : 42) - layout.discards - 10;
  const y = top + Math.max(0, (high - (isSmall ? 20 : 30) - width * RATIO) / 2) + (width * RATIO) / 2;
  const active = ranking.indexOf(view.activeSeat);
  const captionSize = isSmall ? 12 : 14;
  for (const [index, seat] of seats.entries()) {
    const x = first + width / 2 + index * (width + gap);
    const play = (view.plays ?? []).find((/** @type {any} */ each) => (each.seat ?? 0) === seat);
    const isActive = turn === seat;
    const isDone = ranking.length > 0 && index < active;
    const count = index === active ? (view.cardsToTake ?? 0) : (cardsTaken[index] ?? 0);
    const caption =
      ranking.length > 0
        ? count > 0
          ? t(isDone ? "took" : "takes", { count })
          : "–"
        : index === 0
          ? t("leads")
          : isSmall
            ? ""
            : seatName(seat);
    const rank = ranking.length > 0 ? index + 1 : 0;
    items.push({
      key: `slot:${index}`,
      x,
      y,
      layer: 1,
      stamp: `${width} ${caption} ${isActive} ${isDone}`,
      draw: () => slot(width, caption, captionSize, isActive, isDone),
      label:
        rank > 0
          ? t("rank", { name: seatName(seat), rank, count })
          : play
            ? ""
            : t("to-play", { name: seatName(seat) }),
    });
    items.push({
      key: `mark:${seat}`,
      x: x + width / 2 - 4,
      y: y - (width * RATIO) / 2 + 8,
      layer: 6,
      stamp: isSmall ? "22" : "32",
      draw: () => seatMark(seat, isSmall ? 22 : 32),
    });
    if (rank > 0) {
      items.push({
        key: `rank:${rank}`,
        x,
        y: y + (width * RATIO) / 2,
        layer: 6,
        stamp: `${captionSize} ${isActive}`,
        draw: () =>
          chip(
            String(rank),
            isActive
              ? { size: captionSize, fill: "var(--accent)", ink: "var(--accent-ink)", stroke: "none" }
              : { size: captionSize },
          ),
      });
    }
    if (play && (ranking.length === 0 || (view.tableCards ?? []).includes(play.card ?? 0))) {
      const panel =
        table.bottom === seat ? layout.mine : layout.others[((seat - table.bottom + players) % players) - 1];
      items.push(
        card(table, play.card ?? 0, {
          x,
          y,
          width,
          layer: 4,
          label: t("played-by", { card: nameOf("card", play.card ?? 0), name: seatName(seat) }),
          from: panel && { x: panel.x + panel.width / 2, y: panel.y + panel.height / 2, scale: 0.2 },
          pick: isTaking(view),
        }),
      );
    }
  }
  if (extra !== undefined) {
    const x = first + width / 2 + seats.length * (width + gap);
    items.push({
      key: "slot:extra",
      x,
      y,
      layer: 1,
      stamp: `${width} extra`,
      draw: () => slot(width, t("extra"), captionSize, false, true),
    });
    // Before all have played nothing is taken, so that the extra card lies there.
    if ((view.tableCards ?? []).includes(extra) || ranking.length === 0) {
      items.push(
        card(table, extra, {
          x,
          y,
          width,
          layer: 4,
          label: t("extra-card", { card: nameOf("card", extra) }),
          pick: isTaking(view),
        }),
      );
    }
  }
}

/** Who has won. @param {Table} table @param {number} top */
function drawRanks(table, top) {
  const { layout, items, players, update, seatName } = table;
  const { trick: box, size } = layout;
  const ranks = update.score?.ranks ?? [];
  const seats = around(players, 0).sort((one, other) => (ranks[one] ?? 0) - (ranks[other] ?? 0));
  const step = box.width / players;
  const mark = Math.min(size === "small" ? 38 : 68, step - 12);
  const y = top + (box.y + box.height - layout.discards - 10 - top) / 2 - 14;
  for (const [index, seat] of seats.entries()) {
    const isFirst = ranks[seat] === 1;
    const total = String(update.score?.totals?.[seat]?.total ?? "");
    items.push({
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
          text(seatName(seat), 0, mark / 2 + 12, size === "small" ? 12 : 15, {
            anchor: "middle",
            weight: 700,
          }),
          text(total, 0, mark / 2 + 32, size === "small" ? 16 : 20, { anchor: "middle", weight: 700 }),
        ),
      label: `${ranks[seat] ?? ""}. ${seatName(seat)}: ${total}`,
    });
  }
}

/**
 * Where a card of the trick lies, with what is said under it.
 * @param {number} width @param {string} caption @param {number} size
 * @param {boolean} isActive @param {boolean} isSoft
 */
function slot(width, caption, size, isActive, isSoft) {
  const box = { x: -width / 2, y: (-width * RATIO) / 2, width, height: width * RATIO };
  const colour = isActive ? "var(--accent)" : "var(--table-line)";
  return s(
    "g",
    {},
    isActive &&
      plane({ x: box.x - 4, y: box.y - 4, width: width + 8, height: box.height + 8 }, 10, "var(--accent)", {
        "fill-opacity": 0.25,
        stroke: "var(--accent)",
        "stroke-width": 2,
      }),
    plane(box, 7, "var(--table)", { stroke: colour, "stroke-width": 1.5, "stroke-dasharray": "5 4" }),
    text(caption, 0, box.height / 2 + size + 4, size, {
      anchor: "middle",
      fill: isActive ? "var(--accent)" : isSoft ? "var(--ink-soft)" : "var(--ink)",
      weight: isActive ? 700 : 600,
    }),
  );
}

/** The discarded cards. @param {Table} table */
export function drawDiscards(table) {
  const { view, details, layout, items, nameOf, t } = table;
  const { trick: box, size } = layout;
  const { title, spots, stone } = flow(table, size, box.width);
  const y = box.y + box.height - layout.discards + (size === "small" ? 10 : 14);
  items.push({
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
  });
  for (const { suit, card, x, row } of spots) {
    const place = { x: box.x + x, y: y + row * 22, layer: 2 };
    items.push(
      card === undefined
        ? { key: `out:${suit}:${row}`, ...place, stamp: "", draw: () => suitSymbol(suit, 16) }
        : {
            key: `card:${card}`,
            ...place,
            stamp: "out",
            draw: () => brick(suit, valueOf(details, card), stone - 2, 19),
            label: t("out", { card: nameOf("card", card) }),
          },
    );
  }
}

/** The hand of the player at the bottom, by colour. @param {Table} table */
export function drawHand(table) {
  const { view, details, layout, items, bottom, nameOf, t, me, actions } = table;
  const { hand: box, handCard: width, handRows } = layout;
  const { handSize = 0, handCards = [] } = view.seats[bottom];
  /** @type {(number | undefined)[]} */
  const cards = handCards.length > 0 ? handCards : Array.from({ length: handSize }, () => undefined);
  const each = Math.ceil(cards.length / handRows);
  for (let row = 0; row < handRows; row++) {
    const shown = cards.slice(row * each, (row + 1) * each);
    const suits = shown.map((card) => (card === undefined ? 0 : suitOf(details, card)));
    const breaks = suits.map(
      (suit, index) => suits.slice(0, index + 1).filter((one, at) => at > 0 && one !== suits[at - 1]).length,
    );
    const space = 10;
    const spaces = (breaks.at(-1) ?? 0) * space;
    const step = Math.min(width + 4, (box.width - width - spaces) / Math.max(1, shown.length - 1));
    const left = box.x + (box.width - step * (shown.length - 1) - spaces) / 2;
    const y = box.y + (width * RATIO) / 2 + row * width * 1.12 + 2;
    for (const [index, shownCard] of shown.entries()) {
      const x = left + index * step + (breaks[index] ?? 0) * space;
      if (shownCard === undefined) {
        items.push({
          key: `back:${row}:${index}`,
          x,
          y,
          scale: width / DRAWN,
          layer: 5,
          stamp: "",
          draw: () => cardBack(DRAWN, DRAWN * RATIO),
        });
      } else {
        const isDim = actions.length > 0 && !isTaking(view) && !table.candidates.has(`card:${shownCard}`);
        items.push(
          card(table, shownCard, {
            x,
            y,
            width,
            layer: 5,
            label: t("hand", { card: nameOf("card", shownCard) }),
            from: {
              x: layout.trick.x + layout.trick.width / 2,
              y: layout.trick.y + layout.trick.height / 2,
              scale: 0.2,
            },
            pick: me !== undefined,
            isDim,
          }),
        );
      }
    }
  }
}

/**
 * A card, face up.
 * @param {Table} table @param {number} number
 * @param {{x: number, y: number, width: number, layer: number, label: string, pick: boolean, isDim?: boolean,
 *   from?: {x: number, y: number, scale: number} | undefined}} how
 * @returns {Item}
 */
function card({ details }, number, { x, y, width, layer, label, pick, isDim = false, from }) {
  const suit = suitOf(details, number);
  const value = String(valueOf(details, number));
  const isSmall = width < 66;
  const height = DRAWN * RATIO;
  const face = {
    band: `var(--suit-${suit})`,
    bandInk: `var(--suit-ink-${suit})`,
    soft: `var(--suit-soft-${suit})`,
  };
  const draw = () =>
    s(
      "g",
      {},
      isSmall
        ? cardFace(DRAWN, height, {
            ...face,
            motif: s(
              "g",
              {},
              text(value, 0, -30, 52, { anchor: "middle", fill: "var(--card-ink)", weight: 700 }),
              at(0, 28, suitSymbol(suit, 56)),
            ),
          })
        : cardFace(DRAWN, height, { ...face, corner: value, motif: suitSymbol(suit, 54) }),
      isDim &&
        plane({ x: -DRAWN / 2, y: -height / 2, width: DRAWN, height }, 9, "var(--table)", { opacity: 0.55 }),
    );
  return {
    key: `card:${number}`,
    x,
    y,
    scale: width / DRAWN,
    layer,
    stamp: `face ${isSmall} ${isDim}`,
    draw,
    label,
    ...(from && { from }),
    ...(pick && { pick: `card:${number}` }),
  };
}
