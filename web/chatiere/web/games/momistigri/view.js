// The facts that a view of Momistigri tells: looks of cards, who drew from whom, what is going on; and which card is
// which.

/** @typedef {import("../../game.js").Context} Context */
/**
 * @typedef {import("./parts.js").Effect} Effect @typedef {import("./parts.js").Look}
 * Look
 */
/**
 * A card wherever it lies; `kind` is undefined if it can't be seen. @typedef {{id: number, place: string,
 * kind?: number | undefined}} Card
 */
/**
 * @typedef {{handSize?: number, handCards?: number[], mostOnes?: number, inRound?: boolean, passMark?:
 * boolean, roundPoints?: number[]}} SeatView
 */

export const PHASE = "MOMISTIGRI_PHASE_";
export const KIND = "MOMISTIGRI_EVENT_KIND_";
/** Where the discarded cards are. */
export const PILE = "pile";
/** What reveals cards on the pile, and what brings a card to a hand. */
const TO_PILE = ["PAIR_DISCARDED", "ONES_DISCARDED", "CARD_SWAPPED_OUT"].map((name) => KIND + name);
const TO_SEAT = ["CARD_DRAWN", "CARD_SWAPPED_IN", "CARD_HANDED_OUT"].map((name) => KIND + name);

/** @param {Context} context @param {number} kind @returns {any} */
export function infoOf({ details }, kind) {
  return (details.cards ?? []).find((/** @type {any} */ info) => (info.card ?? 0) === kind) ?? {};
}

/** @param {Context} context @param {number} kind @returns {Look} */
export function lookOf(context, kind) {
  const { colour, value = 0 } = infoOf(context, kind);
  return { name: context.nameOf("card", kind), value, colour };
}

/**
 * @param {Context} context @param {(effect: any) => boolean} test @returns {(Effect & Record<string, any>)
 * | undefined}
 */
export function effectWhere({ details }, test) {
  return (details.effects ?? []).find(test);
}

/** @param {Context} context @param {number} value */
export function effectOf(context, value) {
  return effectWhere(context, (effect) => effect.value === value);
}

/** What an effect does, in words. @param {Context} context @param {any} effect */
export function effectText({ t }, effect) {
  const text = effect?.description ?? "";
  return effect?.mayReverse ? t("or-reverse", { effect: text }) : text;
}

/** @param {Context} context @returns {SeatView[]} */
export function seatsOf({ view }) {
  return view.seats ?? [];
}

/** The seats, clockwise from the one that is drawn below. @param {Context} context */
export function order({ me, players }) {
  return Array.from({ length: players }, (_, index) => ((me ?? 0) + index) % players);
}

/** The game's own part of the events. @param {Context} context @returns {any[]} */
export function eventsOf({ update }) {
  return (update.events ?? []).map((event) => /** @type {any} */ (event).momistigri ?? {});
}

/** @param {Context} context @param {number} a @param {number} b */
export function byValue(context, a, b) {
  const [left, right] = [infoOf(context, a), infoOf(context, b)];
  return left.value - right.value || a - b;
}

/**
 * Where the cards are. A card keeps its id from one view to the next wherever it can be followed.
 * @param {Context} context @returns {Card[]}
 */
export function cardsOf(context) {
  const { view, ui } = context;
  /** @type {{place: string, kind?: number}[]} */
  const wanted = (view.discards ?? []).map((/** @type {number} */ kind) => ({ place: PILE, kind }));
  for (const [seat, { handSize = 0, handCards = [] }] of seatsOf(context).entries()) {
    const place = `hand:${seat}`;
    const known = [...handCards].sort((a, b) => byValue(context, a, b));
    wanted.push(...Array.from({ length: handSize - known.length }, () => ({ place })));
    wanted.push(...known.map((kind) => ({ place, kind })));
  }
  /** @type {Card[]} */
  const free = [...(ui["cards"] ?? [])];
  /** @type {(Card | undefined)[]} */
  const cards = wanted.map(() => undefined);
  /** @type {((card: Card, kind: number | undefined, place: string) => boolean)[]} */
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
  let next = ui["nextCard"] ?? 0;
  const all = cards.map(
    (card, index) => card ?? { id: next++, ...wanted[index], place: wanted[index]?.place ?? PILE },
  );
  ui["nextCard"] = next;
  ui["cards"] = all;
  return all;
}

/**
 * How many cards of each kind have just come to a place. @param {Context} context @param {number |
 * undefined} seat
 */
export function arrivals(context, seat) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const event of eventsOf(context)) {
    const to = TO_PILE.includes(event.kind)
      ? undefined
      : TO_SEAT.includes(event.kind)
        ? (event.seat ?? 0)
        : event.kind === `${KIND}CARD_GIVEN`
          ? event.otherSeat
          : -1;
    if (to === seat) {
      for (const kind of event.cards ?? []) {
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/**
 * The seat that was drawn from and how often, in the present turn.
 * @param {Context} context @returns {{seat: number, other: number, count: number} | undefined}
 */
export function drawOf(context) {
  const { view, ui } = context;
  const active = view.activeSeat;
  const at = `${view.round ?? 0} ${view.turn ?? 0}`;
  const begun = eventsOf(context).findLast(({ kind }) => kind === `${KIND}TURN_BEGUN`);
  if (begun && (begun.seat ?? 0) === active) {
    ui["draw"] = { at, seat: active, other: begun.otherSeat ?? 0, count: begun.draws ?? 1 };
  }
  if (view.drawnFrom !== undefined) {
    return { count: 1, ...(ui["draw"]?.at === at ? ui["draw"] : {}), seat: active, other: view.drawnFrom };
  }
  return ui["draw"]?.at === at && view.phase !== `${PHASE}OVER` ? ui["draw"] : undefined;
}

/** A card's name and its colour. @param {Context} context @param {number} kind */
export function nameOf(context, kind) {
  const { colour } = infoOf(context, kind);
  const card = context.nameOf("card", kind);
  return colour === undefined ? card : context.t("card", { card, colour: context.nameOf("colour", colour) });
}

/** @param {Context} context @param {number} kind @param {any} effect @param {boolean} isNew */
export function handLabel(context, kind, effect, isNew) {
  const { t } = context;
  return [
    t("in-hand", { card: nameOf(context, kind) }),
    effect && t("effect", { effect: effectText(context, effect) }),
    isNew && t("new"),
  ]
    .filter(Boolean)
    .join(", ");
}

/** What there is to say of a seat besides its cards. @param {Context} context @param {number} seat */
export function stateOf(context, seat) {
  const { view, t } = context;
  const { inRound, passMark, roundPoints = [], mostOnes } = seatsOf(context)[seat] ?? {};
  const ones = effectWhere(context, ({ effect }) => effect === "MOMISTIGRI_EFFECT_DISCARD_ONES");
  const isOver = view.phase === `${PHASE}OVER`;
  return [
    !inRound && !isOver && t("out"),
    passMark && t("passed"),
    roundPoints.length > 0 &&
      t("points", { points: roundPoints.reduce((total, points) => total + points, 0) }),
    mostOnes !== undefined &&
      inRound &&
      seat !== context.me &&
      t(mostOnes === 0 ? "no-ones" : "most-ones", { count: mostOnes, value: ones?.value ?? 0 }),
  ].filter((part) => typeof part === "string");
}

/** What is going on: an effect that waits, or who has drawn from whom. @param {Context} context */
export function newsOf(context) {
  const { view, t, seatName } = context;
  const phase = (view.phase ?? "").slice(PHASE.length);
  const named = (/** @type {string} */ name) =>
    effectWhere(context, ({ effect }) => effect === `MOMISTIGRI_EFFECT_${name}`);
  const active = seatName(view.activeSeat);
  const [chosen] = context.picked
    .filter((key) => key.startsWith("hand:"))
    .map((key) => Number(key.slice("hand:".length)));
  /** @param {any} effect */
  const pair = (effect) => ({ effect, text: effect?.description ?? "" });
  const wanted = chosen === undefined ? undefined : effectOf(context, lookOf(context, chosen).value);
  if (wanted && (phase === "DISCARD" || phase === "AGAIN")) {
    return pair(wanted);
  }
  switch (phase) {
    case "CHOICE":
      return pair(effectOf(context, view.pairValue));
    case "NAME":
      return pair({ ...named("NAME_CARD"), mayReverse: false });
    case "GIVE":
      return pair(named("GIVE"));
    case "AGAIN":
      return pair(named("AGAIN"));
    case "HAND_OUT":
      return { effect: named("HAND_OUT"), text: t("cards-out", { name: seatName(view.receiver ?? 0) }) };
    case "SWAP_OUT":
    case "SWAP_IN":
      return { effect: named("SWAP"), text: t("swaps", { name: seatName(view.drawnFrom ?? 0) }) };
    case "DISCARD": {
      const drawn = drawOf(context);
      const effect =
        drawn && drawn.count > 1 ? effectWhere(context, ({ draws }) => draws === drawn.count) : undefined;
      const text = drawn
        ? t(drawn.count > 1 ? "drew-more" : "drew", {
            name: active,
            other: seatName(drawn.other),
            count: drawn.count,
          })
        : "";
      return { effect, text };
    }
    default:
      return { effect: undefined, text: "" };
  }
}

/** @param {Context} context */
export function roundText({ view, details, t }) {
  const { round = 0 } = view;
  const rounds = details.rounds ?? 0;
  const text = t(round > rounds ? "extra-round" : "round", { round, rounds });
  return `${text} · ${t("turn", { turn: view.turn ?? 0 })}`;
}

/** The names of cards, by value. @param {Context} context @param {readonly number[]} kinds */
export function listed(context, kinds) {
  return [...kinds]
    .sort((a, b) => byValue(context, a, b))
    .map((kind) => context.nameOf("card", kind))
    .join(", ");
}
