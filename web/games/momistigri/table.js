// The middle of Momistigri's table: the mat with its ring, the discarded cards, the current situation, the result of a
// round.

import { at, group, middleBox } from "../../art/shapes.js";
import { drawnBy, panel, plate, stepOf } from "../../art/table_pieces.js";
import { widthOf, wrap, write, writeLines } from "../../art/text.js";
import { middleOf } from "../../boxes.js";
import { s } from "../../dom.js";
import { sumOf } from "../../views.js";
import { choosesFromPile } from "./layout.js";
import { effectBadge, emptyCell, matWithRing, pictogram, reversal, stepsAround, tile } from "./parts.js";
import { pileKey } from "./picks.js";
import { effectText, pileLabel, statusOf, roundText } from "./text.js";
import { arrivals, drawOf, effectOf, endsRound, eventsOf, kindOf, lookOf, PILE } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Part} Part */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("./view.js").Effect} Effect */
/**
 * The result of a round for a seat: its points, and the cards that it showed.
 * @typedef {{seat: number, points: number, cards: number[]}} Row
 */

/**
 * Return the items in the middle of the table.
 * @type {Part}
 */
export function tableItems(context, layout) {
  return [
    matItem(context, layout),
    ...cellItems(context, layout),
    ...pileItems(context, layout),
    statusItem(context, layout),
    ...roundEndItems(context, layout),
  ];
}

/**
 * Return the mat and its ring. The ring shows the direction of the last draw.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item}
 */
function matItem(context, layout) {
  const { view, t } = context;
  const { mat, ring } = layout;
  const isReversed = view.reversed ?? false;
  const steps = stepsAround(mat, ring / 2, 22 - ring / 2, layout.isNarrow ? 20 : 26);
  const drawn = drawOf(context);
  /** @type {Set<number>} */
  const marked = new Set();
  if (drawn) {
    const place = (/** @type {number} */ seat) => nearestStep(layout, steps, seat);
    const [first, last] = isReversed
      ? [place(drawn.seat), place(drawn.other)]
      : [place(drawn.other), place(drawn.seat)];
    for (let at = first; at !== last; at = (at + 1) % steps.length) {
      marked.add(at);
    }
  }
  return {
    key: "mat",
    x: 0,
    y: 0,
    stamp: JSON.stringify([mat, ring, isReversed, [...marked]]),
    draw: () => matWithRing(mat, ring, steps, marked, isReversed),
    label: t(isReversed ? "says-reversed" : "says-direction"),
  };
}

/**
 * @param {Layout} layout
 * @param {readonly import("./parts.js").Step[]} steps
 * @param {number} seat
 */
function nearestStep(layout, steps, seat) {
  const other = layout.others.find((place) => place.seat === seat);
  if (!other) {
    return 0;
  }
  const { x, y } = middleOf(other.plate);
  let best = 0;
  let least = Infinity;
  for (const step of steps) {
    const distance = Math.hypot(step.x - x, step.y - y);
    if (distance < least) {
      [best, least] = [step.at, distance];
    }
  }
  return best;
}

/**
 * Return the pictograms of the pairs' effects at the head of the mat, and the empty cells.
 * @type {Part}
 */
function cellItems(context, { grid, cell, isNarrow }) {
  const size = isNarrow ? 20 : 24;
  const heads = grid.values.flatMap((value, column) => {
    const effect = effectOf(context, value);
    if (!effect) {
      return [];
    }
    const text = context.t("pair-of", { value, effect: effectText(context, effect) });
    return [
      {
        key: `head:${value}`,
        x: cell.x + column * cell.width,
        y: cell.y - cell.height / 2 - size / 2 - 2,
        ...drawnBy(headOf, effect, size, cell.width, text),
        label: text,
      },
    ];
  });
  const cells = [...grid.cells].map(([kind, { row, column }]) => ({
    key: `slot:${kind}`,
    x: cell.x + column * cell.width,
    y: cell.y + row * cell.height,
    ...drawnBy(emptyCell, lookOf(context, kind), cell.width - 4, cell.height - 4),
  }));
  return [...heads, ...cells];
}

/**
 * @param {Effect} effect
 * @param {number} size
 * @param {number} width
 * @param {string} text
 */
function headOf(effect, size, width, text) {
  const hasBoth = effect.mayReverse && width >= 34;
  return group(
    s("title", {}, text), // The title appears over the whole rectangle.
    middleBox(width, size, 4, { fill: "transparent" }),
    at(hasBoth ? -width * 0.2 : 0, 0, pictogram(effect, size * 0.8)),
    hasBoth && at(width * 0.24, 0, reversal(size * 0.6, "var(--ink-soft)")),
  );
}

/**
 * Return the discarded cards.
 * @type {Part}
 */
function pileItems(context, { isNarrow, cell, grid, cards }) {
  const isOpen = choosesFromPile(context);
  const fresh = arrivals(context, PILE);
  const pile = cards.filter(({ place }) => place === PILE);
  const gap = isNarrow ? 4 : 6;
  const [width, height] = [cell.width - gap, cell.height - gap];
  return pile.map(({ id, kind = 0 }, index) => {
    const at = grid.cells.get(kind) ?? { row: 0, column: 0 };
    const below = pile.slice(0, index).filter((card) => card.kind === kind).length;
    const count = pile.filter((card) => card.kind === kind).length;
    const isTop = below === count - 1;
    const isNew = below >= count - (fresh.get(kind) ?? 0);
    const shift = Math.min(below, 2) * 2;
    return {
      key: `card:${id}`,
      x: cell.x + at.column * cell.width + shift,
      y: cell.y + at.row * cell.height - shift,
      // The count overlaps the neighbouring card.
      layer: count > 1 ? 2 : 1,
      ...drawnBy(tile, lookOf(context, kind), width, height, { count: isTop ? count : 1, isNew }),
      ...(isTop && { mark: pileKey(kind), label: pileLabel(context, kind, count) }),
      ...(isTop && isOpen && { pick: pileKey(kind) }),
    };
  });
}

/**
 * Return the text of the current situation.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item}
 */
function statusItem(context, { status: room, isNarrow }) {
  const { effect, text } = statusOf(context);
  // The text of an effect needs all of the available width.
  const round = isNarrow && effect ? "" : roundText(context);
  const size = effect ? 30 : 0;
  const bold = effect !== undefined && !isNarrow;
  const weight = bold ? 700 : 500;
  const free = room.width - size - (size ? 10 : 0);
  const [most, step] = isNarrow ? (effect ? [4, 13] : [2, 15]) : [4, 15];
  const lines = wrap(text, free, 12, { weight, most }).filter(Boolean);
  return {
    key: "status",
    x: room.x,
    y: room.y,
    ...drawnBy(status, room, { round, effect, lines, weight, step, size }),
    label: `${roundText(context)}. ${text}`,
  };
}

/**
 * @param {Box} room
 * @param {{round: string, effect: Effect | undefined, lines: string[], weight: number, step: number, size: number}} content
 */
function status({ width, height }, { round, effect, lines, weight, step, size }) {
  const top = round
    ? (height - step * (lines.length + 1)) / 2 + 7
    : height / 2 - (step / 2) * (lines.length - 1) - 16;
  const left = width - Math.max(...lines.map((each) => widthOf(each, 12, weight))) - size / 2 - 6;
  return group(
    write(round, width, top, 12, { anchor: "end", fill: "var(--ink-soft)", weight: 500 }),
    writeLines(lines, width, top + 16, 12, step, { anchor: "end", weight }),
    effect &&
      at(
        left,
        top + 16 + (step / 2) * (lines.length - 1),
        at(0, effect.mayReverse ? -9 : 0, effectBadge(effect, size)),
        effect.mayReverse && at(0, 17, reversal(18)),
      ),
  );
}

/**
 * Return the result of the last round. It is shown over the new round's empty mat.
 * @type {Part}
 */
function roundEndItems(context, layout) {
  const { t, seatName } = context;
  const { mat, ring } = layout;
  const events = eventsOf(context);
  const end = events.find(endsRound);
  const begun = events.find((event) => kindOf(event) === "ROUND_BEGUN");
  if (!end || !begun) {
    return [];
  }
  const round = (begun.round ?? 1) - 1;
  const title = t("round-ended", { round });
  const reason = t(kindOf(end));
  const rows = rowsOf(context);
  const [width, height] = [mat.width - 2 * ring, mat.height - 2 * ring];
  return [
    {
      key: "round-end",
      x: mat.x + ring,
      y: mat.y + ring,
      layer: 3,
      stamp: JSON.stringify([round, rows, width, height]),
      label: [
        t("round-ended-by", { title, reason }),
        ...rows.map(({ seat, points }) => t("says-penalty", { name: seatName(seat), points })),
      ].join(". "),
      draw: () =>
        group(
          panel(width, height, false, { radius: 14 }),
          write(title, width / 2, 17, 16),
          write(reason, width / 2, 36, 13, { fill: "var(--ink-soft)", weight: 500 }),
          rows.map((row, index) => rowOf(context, layout, row, index)),
        ),
    },
  ];
}

/**
 * Return each seat's result of the round that has ended.
 * @param {Context} context
 * @returns {Row[]}
 */
function rowsOf(context) {
  const events = eventsOf(context);
  return Array.from({ length: context.players }, (_, seat) => {
    const own = events.filter((event) => (event.seat ?? 0) === seat);
    const taken = own.filter((event) => kindOf(event) === "PENALTY_TAKEN");
    const shown = own.filter((event) => kindOf(event) === "HAND_SHOWN");
    return {
      seat,
      points: sumOf(taken.map(({ points = 0 }) => points)),
      cards: shown.flatMap(({ cards = [] }) => cards),
    };
  });
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Row} row
 * @param {number} index
 */
function rowOf(context, { mat, ring, isNarrow }, { seat, points, cards }, index) {
  const { t, players, seatName } = context;
  const [width, height] = [mat.width - 2 * ring, mat.height - 2 * ring];
  const [cardWidth, cardHeight] = isNarrow ? [24, 32] : [30, 40];
  const line = Math.min(56, (height - 50) / players);
  const y = 48 + line * (index + 0.5);
  const x = isNarrow ? 124 : 146;
  const gap = stepOf(cards.length, cardWidth + 2, width - x - 70 - cardWidth);
  const size = Math.min(cardHeight, line - 3);
  return [
    plate(seat, seatName(seat), { mark: [22, y, 30], text: [42, y, isNarrow ? 12 : 15], room: x - 46 }),
    cards.map((kind, index) =>
      at(x + cardWidth / 2 + gap * index, y, tile(lookOf(context, kind), cardWidth, size, { isLeft: true })),
    ),
    write(t("points", { count: points }), width - 10, y, isNarrow ? 13 : 15, { anchor: "end" }),
  ];
}
