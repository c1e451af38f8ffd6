// Describes Momistigri's table in words.

import { seatsFrom } from "../../art/table_pieces.js";
import { seatOf, sumOf } from "../../views.js";
import { numbersOf } from "./picks.js";
import {
  byValue,
  drawOf,
  effectOf,
  effectWhere,
  endsRound,
  infoOf,
  kindOf,
  lookOf,
  phaseOf,
} from "./view.js";

/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("./view.js").Effect} Effect */

/** @param {Context} context */
export function prompt(context) {
  const { view, picked, t } = context;
  const [card] = numbersOf(picked, "hand");
  const [seat] = numbersOf(picked, "seat");
  const phase = phaseOf(view);
  if (phase === "GIVE") {
    return card !== undefined
      ? t("choose-gift-seat", { card: context.nameOf("card", card) })
      : seat !== undefined
        ? t("choose-gift-card", { name: context.seatName(seat) })
        : undefined;
  }
  if (card === undefined || (phase !== "DISCARD" && phase !== "AGAIN")) {
    return undefined;
  }
  const { value } = lookOf(context, card);
  return effectOf(context, value) ? t("choose-second-effect", { value }) : t("choose-second");
}

/** @param {Context} context */
export function summary(context) {
  const { view, t, me } = context;
  const pile = view.discards ?? [];
  const { text } = statusOf(context);
  return [
    roundText(context),
    t(view.reversed ? "says-reversed" : "says-direction"),
    text,
    ...seatsFrom(context.players, context.me ?? 0).map((seat) => {
      const { handSize = 0, handCards = [] } = seatOf(context, seat);
      const known =
        seat !== me && handCards.length > 0 && t("says-known", { cards: listed(context, handCards) });
      const lines = [t("hand-size", { count: handSize }), ...stateOf(context, seat), known].filter(Boolean);
      return t("plate", { name: context.seatName(seat), lines: lines.join(", ") });
    }),
    me === undefined ? "" : t("says-hand", { cards: listed(context, seatOf(context, me).handCards ?? []) }),
    pile.length > 0 ? t("says-pile", { count: pile.length, cards: listed(context, pile) }) : t("says-empty"),
  ].filter(Boolean);
}

/** @type {import("../../game.js").Game<"momistigri">["breakdown"]} */
export function breakdown(_, { roundPoints = [], handPoints }, { view, t }) {
  const parts = roundPoints.map(
    (points, index) => /** @type {[string, number]} */ ([t("round-number", { round: index + 1 }), points]),
  );
  return handPoints === undefined || phaseOf(view) === "OVER"
    ? parts
    : [...parts, [t("hand-now"), handPoints]];
}

/** @type {import("../../game.js").Game<"momistigri">["isMoment"]} */
export function isMoment({ momistigri = {} }) {
  return endsRound(momistigri) || kindOf(momistigri) === "GAME_ENDED";
}

/**
 * Return the text of an effect; "" if there is no effect.
 * @param {Context} context
 * @param {Effect | undefined} effect
 */
export function effectText({ t }, effect) {
  const text = effect?.description ?? "";
  return effect?.mayReverse ? t("or-reverse", { effect: text }) : text;
}

/**
 * Return a card's name and colour. The Momistigri has no colour, so its printed value is used instead.
 * @param {Context} context
 * @param {number} kind
 */
export function nameOf(context, kind) {
  return context.t("card", { card: context.nameOf("card", kind), colour: colourOf(context, kind) });
}

/**
 * Return the label of the cards of a kind on the pile. It has the name and the number in the order in which they are
 * drawn.
 * @param {Context} context
 * @param {number} kind
 * @param {number} count
 */
export function pileLabel(context, kind, count) {
  const card = context.nameOf("card", kind);
  return context.t("on-pile", { card, count, colour: colourOf(context, kind) });
}

/**
 * Return the name of a card's colour; for the Momistigri, which has no colour, its printed value.
 * @param {Context} context
 * @param {number} kind
 */
function colourOf(context, kind) {
  const { colour, value = 0 } = infoOf(context, kind);
  return colour === undefined ? String(value) : context.nameOf("colour", colour);
}

/**
 * Return the label of a card in the viewer's hand.
 * @param {Context} context
 * @param {number} kind
 * @param {Effect | undefined} effect the effect of a pair of its value
 * @param {boolean} isNew true if the card has just arrived
 */
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

/**
 * Return the texts of a seat's state, without its cards.
 * @param {Context} context
 * @param {number} seat
 */
export function stateOf(context, seat) {
  const { view, t } = context;
  const { inRound, passMark, roundPoints = [], mostOnes } = seatOf(context, seat);
  const ones = effectWhere(context, ({ effect }) => effect === "MOMISTIGRI_EFFECT_DISCARD_ONES");
  const isOver = phaseOf(view) === "OVER";
  return [
    !inRound && !isOver && t("out"),
    passMark && t("passed"),
    roundPoints.length > 0 && t("points", { count: sumOf(roundPoints) }),
    mostOnes !== undefined &&
      inRound &&
      seat !== context.me &&
      t(mostOnes === 0 ? "no-ones" : "most-ones", { count: mostOnes, value: ones?.value ?? 0 }),
  ].filter((part) => typeof part === "string");
}

/**
 * Return the current situation: the effect that is being carried out, or the seats of the last draw.
 * @param {Context} context
 * @returns {{effect: Effect | undefined, text: string}}
 */
export function statusOf(context) {
  const { view, t, seatName } = context;
  const phase = phaseOf(view);
  const named = (/** @type {string} */ name) =>
    effectWhere(context, ({ effect }) => effect === `MOMISTIGRI_EFFECT_${name}`);
  const [chosen] = numbersOf(context.picked, "hand");
  const pair = (/** @type {Effect | undefined} */ effect) => ({ effect, text: effect?.description ?? "" });
  const wanted = chosen === undefined ? undefined : effectOf(context, lookOf(context, chosen).value);
  if (wanted && (phase === "DISCARD" || phase === "AGAIN")) {
    return pair(wanted);
  }
  switch (phase) {
    case "CHOICE":
      return pair(effectWhere(context, ({ value }) => value === view.pairValue));
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
            name: seatName(drawn.seat),
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

/**
 * Return the text of the round and the turn.
 * @param {Context} context
 */
export function roundText({ view, details, t }) {
  const { round = 0 } = view;
  const rounds = details.rounds ?? 0;
  const text = t(round > rounds ? "extra-round" : "round", { round, rounds });
  return `${text} · ${t("turn", { turn: view.turn ?? 0 })}`;
}

/**
 * Return the names of cards, sorted by value.
 * @param {Context} context
 * @param {readonly number[]} kinds
 */
export function listed(context, kinds) {
  return [...kinds]
    .sort((a, b) => byValue(context, a, b))
    .map((kind) => context.nameOf("card", kind))
    .join(", ");
}
