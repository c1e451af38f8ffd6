// Describes Chatpentiers' table in words.

import { seatsFrom } from "../../art/table_pieces.js";
import { numberOf } from "../../picks.js";
import { playersInfo, seatOf, usedBy } from "../../views.js";
import { contentOf, isOver, isTaking, ledSuit } from "./view.js";

/** @typedef {import("./view.js").Context} Context */

/** @param {Context} context */
export function prompt({ view, picked: [first], nameOf, t }) {
  return isTaking(view) && first !== undefined
    ? t("place", { card: nameOf("card", numberOf(first)) })
    : undefined;
}

/** @param {Context} context */
export function summary(context) {
  const { view, details, players, me, seatName, nameOf, t, update } = context;
  const { cardsDealt = 0, cardsTaken = [] } = playersInfo(context);
  const cardNames = (/** @type {readonly number[]} */ cards) =>
    cards.map((number) => nameOf("card", number)).join(", ");
  const led = ledSuit(context);
  const lines = [t("round", { round: view.round ?? 0, rounds: details.rounds ?? 0 })];
  if (!isOver(view)) {
    lines.push(t("trick", { trick: view.trick ?? 0, tricks: cardsDealt }));
    if (view.leader !== undefined) {
      lines.push(t("leader", { name: seatName(view.leader) }));
    }
  }
  if (led !== undefined) {
    lines.push(t("led", { colour: nameOf("colour", led) }));
  }
  for (const { seat = 0, card: number = 0 } of view.plays ?? []) {
    lines.push(t("played-by", { card: nameOf("card", number), name: seatName(seat) }));
  }
  if (view.extraCard !== undefined) {
    lines.push(t("extra-card", { card: nameOf("card", view.extraCard) }));
  }
  for (const [index, seat] of (view.ranking ?? []).entries()) {
    lines.push(t("rank", { name: seatName(seat), rank: index + 1, count: cardsTaken[index] ?? 0 }));
  }
  if (isTaking(view)) {
    lines.push(t("table", { cards: cardNames(view.tableCards ?? []) }));
  }
  if (me !== undefined) {
    lines.push(t("your-hand", { cards: cardNames(seatOf(context, me).handCards ?? []) }));
  }
  for (const seat of seatsFrom(players, me ?? 0)) {
    const { handSize = 0, shownVoids = [] } = seatOf(context, seat);
    const points = update.score?.totals?.[seat]?.total ?? 0;
    const voids = shownVoids.map((colour) => t("no-colour", { colour: nameOf("colour", colour) }));
    lines.push([t("hand-of", { name: seatName(seat), count: handSize, points }), ...voids].join(", "));
    for (const which of usedBy(context.details.zones, context.players)) {
      const { zone, cards, limit } = contentOf(context, seat, which);
      const what = cards.length > 0 ? cardNames(cards) : t("empty");
      lines.push(
        t("zone", { zone: nameOf("zone", zone), name: seatName(seat), count: cards.length, limit, what }),
      );
    }
  }
  lines.push(t("discards-are", { cards: cardNames(view.discards ?? []) || t("empty") }));
  return lines;
}

/** @type {import("../../game.js").Game<"chatpentiers">["breakdown"]} */
export function breakdown(_, { roundPoints = [], bonusPoints = 0 }, { t }) {
  return [
    ...roundPoints.map(
      (points, index) => /** @type {[string, number]} */ ([t("round-name", { round: index + 1 }), points]),
    ),
    ...(bonusPoints === 0 ? [] : [/** @type {[string, number]} */ ([t("bonus"), bonusPoints])]),
  ];
}

/** @type {import("../../game.js").Game<"chatpentiers">["isMoment"]} */
export function isMoment({ chatpentiers }) {
  const kind = chatpentiers?.kind;
  return kind === "CHATPENTIERS_EVENT_KIND_ROUND_SCORED" || kind === "CHATPENTIERS_EVENT_KIND_GAME_ENDED";
}
