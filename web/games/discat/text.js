// Describes Discat's table in words.

import { numberOf } from "../../picks.js";
import { passedSeats, pointsUp, topOf } from "./view.js";

/** @typedef {import("./view.js").Context} Context */

/** @param {Context} context */
export function prompt(context) {
  const { view, picked, candidates, t, nameOf } = context;
  const [first] = picked;
  if (first === undefined) {
    return undefined;
  }
  if (view.phase === "DISCAT_PHASE_PASS") {
    return t("prompt-swap", { card: nameOf("card", numberOf(first)) });
  }
  const top = topOf(context);
  if (top === undefined) {
    return t("prompt-top");
  }
  return t(candidates.size > 0 ? "prompt-more" : "prompt-ready", { card: nameOf("card", top) });
}

/** @param {Context} context */
export function summary({ view, players, me, t, seatName, nameOf }) {
  const { constraint: now, queue = [], seats = [], lastTurnsLeft = 0, drawPileSize = 0 } = view;
  const arrowOf = (/** @type {number} */ card) => t(pointsUp(view, card) ? "up" : "down");
  const listed = (/** @type {readonly number[]} */ cards) =>
    cards.map((card) => `${nameOf("card", card)} (${arrowOf(card)})`).join(", ");
  /** @type {string[]} */
  const lines = [];
  if (now) {
    const { card = 0, higher = false, creator = 0, bonusDrawn = false } = now;
    const name = seatName(creator);
    lines.push(t("sign-by", { than: t(higher ? "higher" : "lower"), card: nameOf("card", card), name }));
    if (bonusDrawn) {
      lines.push(t("sum-bonus-drawn", { name }));
    }
  } else {
    lines.push(t("sign-free"));
  }
  const passed = [...passedSeats(view)];
  if (passed.length > 0) {
    lines.push(t("sum-passed", { names: passed.map(seatName).join(", ") }));
  }
  if (lastTurnsLeft > 0) {
    lines.push(t("sum-last", { count: lastTurnsLeft }));
  }
  if (me !== undefined) {
    lines.push(t("sum-hand", { cards: listed(seats[me]?.handCards ?? []) }));
  }
  lines.push(t("draw-pile", { count: drawPileSize }));
  if (queue.length > 0) {
    const cards = queue.map(({ seat = 0, card }) =>
      card === undefined
        ? t("queued", { name: seatName(seat) })
        : t("queued-card", { card: nameOf("card", card), name: seatName(seat) }),
    );
    lines.push(t("queue", { cards: cards.join(", ") }));
  }
  for (let seat = 0; seat < players; seat++) {
    const { handSize = 0, handCards = [], pile = [], bonusPile = [] } = seats[seat] ?? {};
    const name = seatName(seat);
    const cards = pile.map(({ card = 0, faceDown }) =>
      faceDown ? t("turned", { card: nameOf("card", card) }) : `${nameOf("card", card)} (${arrowOf(card)})`,
    );
    const said = t("sum-pile", { count: pile.length, cards: cards.join(", ") });
    lines.push(t("sum-seat", { name, count: handSize, pile: said }));
    if (bonusPile.length > 0) {
      lines.push(t("sum-bonus", { name, count: bonusPile.length, cards: listed(bonusPile) }));
    }
    if (seat !== me && handCards.length > 0) {
      lines.push(t("sum-known", { name, cards: listed(handCards) }));
    }
  }
  return lines;
}

/** @type {import("../../game.js").Game<"discat">["breakdown"]} */
export function breakdown(_, { pilePoints = 0, bonusPoints = 0, handPoints = 0 }, { t }) {
  return [
    [t("pile-points"), pilePoints],
    [t("bonus-points"), bonusPoints],
    [t("hand-points"), handPoints],
  ];
}

/** @type {import("../../game.js").Game<"discat">["isMoment"]} */
export function isMoment({ discat }) {
  return (
    discat?.kind === "DISCAT_EVENT_KIND_LAST_TURNS_BEGUN" || discat?.kind === "DISCAT_EVENT_KIND_GAME_ENDED"
  );
}
