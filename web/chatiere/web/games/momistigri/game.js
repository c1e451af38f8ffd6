// Momistigri on the table: hands, the mat of discarded cards with the ring that shows who draws from whom.

import { seatMark } from "../../art/cards.js";
import { catCurled } from "../../art/cats.js";
import { placed } from "../../art/shapes.js";
import { s } from "../../dom.js";
import { FROM_PILE, LEAST_STEP, gridOf, layoutOf, spread, sum } from "./layout.js";
import {
  back,
  badge,
  box,
  handCard,
  matWithRing,
  pictogram,
  plate,
  reversal,
  slot,
  stepsAround,
  tile,
  widthOf,
  wrapped,
  write,
} from "./parts.js";
import {
  KIND,
  PHASE,
  PILE,
  arrivals,
  cardsOf,
  drawOf,
  effectOf,
  effectText,
  eventsOf,
  handLabel,
  listed,
  lookOf,
  nameOf,
  newsOf,
  order,
  roundText,
  seatsOf,
  stateOf,
} from "./view.js";
import { words } from "./words.js";

/** @typedef {import("../../game.js").Action} Action @typedef {import("../../game.js").Box} Box */
/** @typedef {import("../../game.js").Context} Context @typedef {import("../../game.js").Drawing} Drawing */
/** @typedef {import("../../game.js").Event} Event @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./parts.js").Effect} Effect */
/**
 * @typedef {import("./layout.js").Layout} Layout @typedef {import("./view.js").Card}
 * Card
 */

const ROUND_ENDS = ["ONE_SEAT_LEFT", "ALL_PASSED", "TURN_LIMIT_REACHED"].map((name) => KIND + name);

/** @param {Context} context @returns {Drawing} */
function draw(context) {
  const grid = gridOf(context);
  const layout = layoutOf(context, grid.columns, grid.rows);
  const cards = cardsOf(context);
  const [below = 0] = order(context);
  const items = [
    ...matItems(context, layout, grid),
    ...pileItems(
      context,
      layout,
      grid,
      cards.filter(({ place }) => place === PILE),
    ),
    plateItem(context, below, layout.plate),
    ...handItems(
      context,
      layout.hand,
      below,
      cards.filter(({ place }) => place === `hand:${below}`),
      layout.isNarrow,
    ),
    newsItem(context, layout.news, layout.isNarrow),
  ];
  for (const { seat, plate: room, hand } of layout.others) {
    items.push(plateItem(context, seat, room));
    items.push(
      ...otherHandItems(
        context,
        hand,
        seat,
        cards.filter(({ place }) => place === `hand:${seat}`),
        layout.isNarrow,
      ),
    );
  }
  items.push(...roundEndItems(context, layout));
  return { width: context.width, height: layout.height, items };
}

/**
 * @param {Context} context @param {Layout} layout @param {ReturnType<typeof gridOf>} grid @returns {Item[]}
 */
function matItems(context, layout, grid) {
  const { view, t } = context;
  const { mat, ring, cell } = layout;
  const isReversed = view.reversed ?? false;
  const steps = stepsAround(mat, ring / 2, 22 - ring / 2, layout.isNarrow ? 20 : 26);
  const drawn = drawOf(context);
  /** @type {Set<number>} */
  const marked = new Set();
  if (drawn) {
    const place = (/** @type {number} */ seat) => nearestStep(context, layout, steps, seat);
    const [first, last] = isReversed
      ? [place(drawn.seat), place(drawn.other)]
      : [place(drawn.other), place(drawn.seat)];
    for (let at = first; at !== last; at = (at + 1) % steps.length) {
      marked.add(at);
    }
  }
  /** @type {Item[]} */
  const items = [
    {
      key: "mat",
      x: 0,
      y: 0,
      stamp: JSON.stringify([mat, ring, isReversed, [...marked]]),
      draw: () => matWithRing(mat, ring, steps, marked, isReversed),
      label: t(isReversed ? "says-reversed" : "says-direction"),
    },
  ];
  const size = layout.isNarrow ? 20 : 24;
  for (const [column, value] of grid.values.entries()) {
    const effect = effectOf(context, value);
    if (effect) {
      const text = t("pair-of", { value, effect: effectText(context, effect) });
      items.push({
        key: `head:${value}`,
        x: cell.x + column * cell.width,
        y: cell.y - cell.height / 2 - size / 2 - 2,
        stamp: `${size} ${cell.width} ${text}`,
        label: text,
        draw: () => headOf(effect, size, cell.width, text),
      });
    }
  }
  for (const [kind, { row, column }] of grid.cells) {
    const look = lookOf(context, kind);
    items.push({
      key: `slot:${kind}`,
      x: cell.x + column * cell.width,
      y: cell.y + row * cell.height,
      stamp: `${cell.width} ${cell.height}`,
      draw: () => slot(look, cell.width - 4, cell.height - 4),
    });
  }
  return items;
}

/** @param {Effect} effect @param {number} size @param {number} width @param {string} text */
function headOf(effect, size, width, text) {
  const hasBoth = effect.mayReverse && width >= 34;
  return s(
    "g",
    {},
    s("title", {}, text),
    // What shows the title is the whole of it.
    box(-width / 2, -size / 2, width, size, 4, { fill: "transparent" }),
    placed(hasBoth ? -width * 0.2 : 0, 0, 1, 0, pictogram(effect, size * 0.8)),
    hasBoth && placed(width * 0.24, 0, 1, 0, reversal(size * 0.6, "var(--ink-soft)")),
  );
}

/**
 * @param {Context} context @param {Layout} layout @param {readonly import("./parts.js").Step[]}
 * steps
 * @param {number} seat
 */
function nearestStep(context, layout, steps, seat) {
  const other = layout.others.find((place) => place.seat === seat);
  if (!other) {
    return 0;
  }
  const { plate: room } = other;
  const [x, y] = [room.x + room.width / 2, room.y + room.height / 2];
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
 * @param {Context} context @param {Layout} layout @param {ReturnType<typeof gridOf>} grid @param {readonly
 * Card[]} cards
 * @returns {Item[]}
 */
function pileItems(context, { cell }, grid, cards) {
  const { view, t } = context;
  const isOpen = FROM_PILE.includes(view.phase);
  const fresh = arrivals(context, undefined);
  /** @type {Map<number, number>} */
  const lying = new Map();
  const total = (/** @type {number} */ kind) => cards.filter((card) => card.kind === kind).length;
  return cards.map(({ id, kind = 0 }) => {
    const at = grid.cells.get(kind) ?? { row: 0, column: 0 };
    const below = lying.get(kind) ?? 0;
    lying.set(kind, below + 1);
    const count = total(kind);
    const isTop = below === count - 1;
    const isNew = below >= count - (fresh.get(kind) ?? 0);
    const look = lookOf(context, kind);
    const gap = cell.height < 30 ? 4 : 6;
    const [width, height] = [cell.width - gap, cell.height - gap];
    const shift = Math.min(below, 2) * 2;
    return {
      key: `card:${id}`,
      x: cell.x + at.column * cell.width + shift,
      y: cell.y + at.row * cell.height - shift,
      // The count reaches over the neighbour.
      layer: count > 1 ? 2 : 1,
      stamp: `tile ${kind} ${width} ${height} ${isTop ? count : 1} ${isNew}`,
      draw: () => tile(look, width, height, { count: isTop ? count : 1, isNew }),
      label: isTop ? t("on-pile", { card: nameOf(context, kind), count }) : undefined,
      pick: isTop && isOpen ? `pile:${kind}` : undefined,
    };
  });
}

/**
 * The hand below, large.
 * @param {Context} context @param {Box} room @param {number} seat @param {readonly Card[]} cards @param
 * {boolean} isNarrow
 * @returns {Item[]}
 */
function handItems(context, room, seat, cards, isNarrow) {
  const { me, picked, candidates } = context;
  if (cards.length === 0) {
    return restItems(context, room, seat, isNarrow ? 64 : 96);
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
  const fresh = arrivals(context, seat);
  const left = [...picked];
  return cards.map(({ id, kind }, at) => {
    const { x, row, index, count } = spots[at] ?? { x: 0, row: 0, index: 0, count: 1 };
    const pick = kind === undefined || me === undefined ? undefined : `hand:${kind}`;
    const isPicked = pick !== undefined && left.includes(pick);
    if (isPicked) {
      left.splice(left.indexOf(pick), 1);
    }
    const isNew = kind !== undefined && (fresh.get(kind) ?? 0) > 0;
    if (isNew) {
      fresh.set(kind, (fresh.get(kind) ?? 0) - 1);
    }
    const isDim = picked.length > 0 && !isPicked && pick !== undefined && !candidates.has(pick);
    const offset = index - (count - 1) / 2;
    const bend = rows > 1 ? 0 : Math.min(2.2, 16 / count);
    const look = kind === undefined ? undefined : lookOf(context, kind);
    const effect = look && effectOf(context, look.value);
    return {
      key: `card:${id}`,
      x,
      y: first + row * lift + offset * offset * bend * 0.42 - (isPicked ? 18 : 0),
      turn: offset * bend,
      layer: 2,
      stamp: `hand ${kind} ${width} ${isNew} ${isDim}`,
      draw: () => (look ? handCard(look, width, height, effect, { isNew, isDim }) : back(width, height)),
      label: kind === undefined ? undefined : handLabel(context, kind, effect, isNew),
      pick,
    };
  });
}

/**
 * Who has no cards rests.
 * @param {Context} context @param {Box} room @param {number} seat @param {number} size @returns {Item[]}
 */
function restItems({ view }, room, seat, size) {
  if (view.seats?.[seat]?.inRound) {
    return [];
  }
  return [
    {
      key: `rest:${seat}`,
      x: room.x + room.width / 2,
      y: room.y + Math.min(room.height, size) / 2,
      stamp: `${size}`,
      draw: () => catCurled(seat, size),
    },
  ];
}

/**
 * The hand of another player.
 * @param {Context} context @param {Box} room @param {number} seat @param {readonly Card[]} cards @param
 * {boolean} isNarrow
 * @returns {Item[]}
 */
function otherHandItems(context, room, seat, cards, isNarrow) {
  const { t } = context;
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
  return cards.map(({ id, kind }, at) => {
    const { x, row, index, count } = spots[at] ?? { x: 0, row: 0, index: 0, count: 1 };
    const offset = index - (count - 1) / 2;
    const bend = rows > 1 ? 0 : Math.min(2, 14 / count);
    return {
      key: `card:${id}`,
      x,
      y: room.y + height / 2 + row * lift + offset * offset * bend * 0.18 + 1,
      turn: offset * bend,
      layer: 2,
      stamp: `other ${kind} ${width}`,
      draw: () =>
        kind === undefined
          ? back(width, height)
          : tile(lookOf(context, kind), width, height, { isLeft: true }),
      label:
        kind === undefined
          ? undefined
          : t("in-seat", { card: nameOf(context, kind), name: context.seatName(seat) }),
    };
  });
}

/**
 * What there is to say in lines, at most so many. @param {readonly string[]} parts @param {number} width
 * @param {number} most
 */
function linesOf(parts, width, most) {
  /** @type {string[]} */
  const lines = [];
  for (const part of parts) {
    const both = `${lines.at(-1)} · ${part}`;
    if (lines.length > 0 && widthOf(both, 12) <= width) {
      lines[lines.length - 1] = both;
    } else {
      lines.push(part);
    }
  }
  return lines.slice(-most);
}

/** @param {Context} context @param {number} seat @param {Box} room @returns {Item} */
function plateItem(context, seat, room) {
  const { view, t, update } = context;
  const { handSize = 0, inRound = false, passMark = false } = seatsOf(context)[seat] ?? {};
  const isOver = view.phase === `${PHASE}OVER`;
  const isActive = context.turn === seat;
  const state = stateOf(context, seat);
  const name = context.seatName(seat);
  const texts = room.width >= 140 ? room.width * 0.74 - (handSize > 0 ? 46 : 20) : room.width - 6;
  const lines = linesOf(state, texts, room.width >= 140 && room.height > 50 ? 2 : 1);
  const winners = /** @type {any} */ (update.score)?.winners ?? [];
  const look = {
    seat,
    name,
    // One's own cards are there to be counted.
    count: handSize > 0 && seat !== context.me ? String(handSize) : "",
    lines,
    isActive,
    isReceiver: view.receiver === seat,
    isOut: !inRound && !isOver,
    hasPassed: passMark,
    isWinner: isOver && winners.includes(seat),
  };
  return {
    key: `plate:${seat}`,
    x: room.x + room.width / 2,
    y: room.y + room.height / 2,
    layer: 1,
    stamp: JSON.stringify([look, room.width, room.height]),
    draw: () => plate(look, room.width, room.height),
    label: t("plate", { name, lines: [t("hand-size", { count: handSize }), ...state].join(", ") }),
    pick: view.phase === `${PHASE}GIVE` && seat !== context.me ? `seat:${seat}` : undefined,
  };
}

/** @param {Context} context @param {Box} room @param {boolean} isNarrow @returns {Item} */
function newsItem(context, room, isNarrow) {
  const { effect, text } = newsOf(context);
  // An effect needs all the room there is.
  const round = isNarrow && effect ? "" : roundText(context);
  const size = effect ? 30 : 0;
  const bold = effect !== undefined && !isNarrow;
  const free = (room.width - size - (size ? 10 : 0)) * (bold ? 0.88 : 1);
  const [most, step] = isNarrow ? (effect ? [4, 13] : [2, 15]) : [4, 15];
  const lines = wrapped(text, 12, free, most).filter(Boolean);
  return {
    key: "news",
    x: room.x,
    y: room.y,
    stamp: JSON.stringify([round, effect?.value, lines, room.width, room.height]),
    label: `${roundText(context)}. ${text}`,
    draw: () => {
      const top = round
        ? (room.height - step * (lines.length + 1)) / 2 + 7
        : room.height / 2 - (step / 2) * (lines.length - 1) - 16;
      return s(
        "g",
        {},
        write(round, room.width, top, 12, { anchor: "end", ink: "var(--ink-soft)" }),
        lines.map((each, index) =>
          write(each, room.width, top + 16 + step * index, 12, { anchor: "end", bold }),
        ),
        effect &&
          placed(
            room.width - Math.max(...lines.map((each) => widthOf(each, 12, bold))) - size / 2 - 6,
            top + 16 + (step / 2) * (lines.length - 1),
            1,
            0,
            placed(0, effect.mayReverse ? -9 : 0, 1, 0, badge(effect, size)),
            effect.mayReverse && placed(0, 17, 1, 0, reversal(18)),
          ),
      );
    },
  };
}

/**
 * How the last round ended, over the mat of the new one, on which nothing lies yet.
 * @param {Context} context @param {Layout} layout @returns {Item[]}
 */
function roundEndItems(context, { mat, ring, isNarrow }) {
  const events = eventsOf(context);
  const end = events.find(({ kind }) => ROUND_ENDS.includes(kind));
  const begun = events.find(({ kind }) => kind === `${KIND}ROUND_BEGUN`);
  if (!end || !begun) {
    return [];
  }
  const { t, players, seatName } = context;
  const round = (begun.round ?? 1) - 1;
  const reason = t(end.kind.slice(KIND.length));
  const rows = Array.from({ length: players }, (_, seat) => {
    const of = (/** @type {string} */ kind) =>
      events.filter((event) => event.kind === KIND + kind && (event.seat ?? 0) === seat);
    return {
      seat,
      points: sum(of("PENALTY_TAKEN").map(({ points = 0 }) => points)),
      cards: of("HAND_SHOWN").flatMap(({ cards = [] }) => cards),
    };
  });
  const [width, height] = [mat.width - 2 * ring, mat.height - 2 * ring];
  const [cardWidth, cardHeight] = isNarrow ? [24, 32] : [30, 40];
  const line = Math.min(56, (height - 50) / players);
  return [
    {
      key: "round-end",
      x: mat.x + ring,
      y: mat.y + ring,
      layer: 3,
      stamp: JSON.stringify([round, rows, width, height]),
      label: [
        `${t("round-ended", { round })}: ${reason}`,
        ...rows.map(({ seat, points }) => t("says-penalty", { name: seatName(seat), points })),
      ].join(". "),
      draw: () =>
        s(
          "g",
          {},
          box(0, 0, width, height, 14, { fill: "var(--surface)", stroke: "var(--line)" }),
          write(t("round-ended", { round }), width / 2, 17, 16, { bold: true }),
          write(reason, width / 2, 36, 13, { ink: "var(--ink-soft)" }),
          rows.map(({ seat, points, cards }, index) => {
            const y = 48 + line * (index + 0.5);
            const x = isNarrow ? 124 : 146;
            const gap = Math.min(cardWidth + 2, (width - x - 70 - cardWidth) / Math.max(1, cards.length - 1));
            return [
              placed(22, y, 1, 0, seatMark(seat, 30)),
              write(seatName(seat), 42, y, isNarrow ? 12 : 15, { anchor: "start", bold: true }),
              cards.map((/** @type {number} */ kind, /** @type {number} */ at) =>
                placed(
                  x + cardWidth / 2 + gap * at,
                  y,
                  1,
                  0,
                  tile(lookOf(context, kind), cardWidth, Math.min(cardHeight, line - 3), { isLeft: true }),
                ),
              ),
              write(t("points", { points }), width - 10, y, isNarrow ? 13 : 15, {
                anchor: "end",
                bold: true,
              }),
            ];
          }),
        ),
    },
  ];
}

/**
 * @param {Action} action @returns {import("../../game.js").Picks | undefined}
 */
function picks(action) {
  const part = /** @type {any} */ (action).momistigri ?? {};
  if (part.discardPair) {
    return { keys: (part.discardPair.cards ?? []).map((/** @type {number} */ kind) => `hand:${kind}`) };
  }
  if (part.give) {
    return { keys: [`hand:${part.give.card ?? 0}`, `seat:${part.give.seat ?? 0}`] };
  }
  const own = part.nameCard ?? part.swapOut;
  const piled = part.handOut ?? part.swapIn;
  return { keys: own ? [`hand:${own.card ?? 0}`] : piled ? [`pile:${piled.card ?? 0}`] : [] };
}

/** @param {readonly string[]} keys @param {string} place */
function numbersOf(keys, place) {
  return keys.filter((key) => key.startsWith(`${place}:`)).map((key) => Number(key.slice(place.length + 1)));
}

/** @param {readonly string[]} keys @param {Context} context */
function attempt(keys, context) {
  const { view, me } = context;
  const cards = numbersOf(keys, "hand");
  const [card] = cards;
  const [seat] = numbersOf(keys, "seat");
  const [piled] = numbersOf(keys, "pile");
  const hand = seatsOf(context)[me ?? 0]?.handCards ?? [];
  switch ((view.phase ?? "").slice(PHASE.length)) {
    case "DISCARD":
    case "AGAIN": {
      // A card that goes with none: say so with any other.
      const other = hand.find((kind) => kind !== card);
      const pair = cards.length > 1 ? cards.slice(-2) : [card, other];
      return pair.includes(undefined) ? undefined : { discardPair: { cards: pair } };
    }
    case "NAME":
      return card === undefined ? undefined : { nameCard: { card } };
    case "GIVE":
      return seat === undefined ? undefined : { give: { card: card ?? hand[0] ?? 0, seat } };
    case "SWAP_OUT":
      return card === undefined ? undefined : { swapOut: { card } };
    case "SWAP_IN":
      return piled === undefined ? undefined : { swapIn: { card: piled } };
    case "HAND_OUT":
      return piled === undefined ? undefined : { handOut: { card: piled } };
    default:
      return undefined;
  }
}

/** @param {Context} context */
function prompt(context) {
  const { view, picked, t } = context;
  const [card] = numbersOf(picked, "hand");
  const [seat] = numbersOf(picked, "seat");
  if (view.phase === `${PHASE}GIVE`) {
    return card !== undefined
      ? t("choose-gift-seat", { card: context.nameOf("card", card) })
      : seat !== undefined
        ? t("choose-gift-card", { name: context.seatName(seat) })
        : undefined;
  }
  if (card === undefined || (view.phase !== `${PHASE}DISCARD` && view.phase !== `${PHASE}AGAIN`)) {
    return undefined;
  }
  const { value } = lookOf(context, card);
  return effectOf(context, value) ? t("choose-second-effect", { value }) : t("choose-second");
}

/** @param {Context} context */
function summary(context) {
  const { view, t, me } = context;
  const pile = view.discards ?? [];
  const { text } = newsOf(context);
  return [
    roundText(context),
    t(view.reversed ? "says-reversed" : "says-direction"),
    text,
    ...order(context).map((seat) => {
      const { handSize = 0, handCards = [] } = seatsOf(context)[seat] ?? {};
      const known =
        seat !== me && handCards.length > 0 && t("says-known", { cards: listed(context, handCards) });
      const lines = [t("hand-size", { count: handSize }), ...stateOf(context, seat), known].filter(Boolean);
      return t("plate", { name: context.seatName(seat), lines: lines.join(", ") });
    }),
    me === undefined ? "" : t("says-hand", { cards: listed(context, seatsOf(context)[me]?.handCards ?? []) }),
    pile.length > 0 ? t("says-pile", { count: pile.length, cards: listed(context, pile) }) : t("says-empty"),
  ].filter(Boolean);
}

/** @param {number} _ @param {any} detail @param {Context} context @returns {[string, number][]} */
function breakdown(_, detail, { view, t }) {
  const penalties = /** @type {number[]} */ (detail.roundPoints ?? []);
  /** @type {[string, number][]} */
  const parts = penalties.map((points, index) => [t("round-number", { round: index + 1 }), points]);
  if (detail.handPoints !== undefined && view.phase !== `${PHASE}OVER`) {
    parts.push([t("hand-now"), detail.handPoints]);
  }
  return parts;
}

/** @param {Event} event */
function isMoment(event) {
  const { kind } = /** @type {any} */ (event).momistigri ?? {};
  return ROUND_ENDS.includes(kind) || kind === `${KIND}GAME_ENDED`;
}

/** @type {import("../../game.js").Game} */
export const game = { words, draw, picks, attempt, prompt, summary, breakdown, isMoment };
