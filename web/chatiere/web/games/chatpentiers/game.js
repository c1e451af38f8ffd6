// Chatpentiers: castles built of the cards that are taken in tricks.

import { around, contentOf, isTaking, layoutOf, ledSuit, tableOf, zonesOf } from "./layout.js";
import { drawDiscards, drawHand, drawSeat, drawTrick } from "./table.js";
import { words } from "./words.js";

/** @typedef {import("../../game.js").Context} Context @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./layout.js").Table} Table */

/** @type {import("../../game.js").Game} */
export const game = {
  words,
  draw,
  picks(action) {
    const { playCard, takeCard } = /** @type {any} */ (action).chatpentiers;
    return playCard
      ? { keys: [`card:${playCard.card ?? 0}`] }
      : { keys: [`card:${takeCard.card ?? 0}`, `zone:${takeCard.zone ?? 0}`], ordered: true };
  },
  attempt(keys) {
    const numbers = keys.map((key) => Number(key.replace(/\D+/, "")));
    const [card, last] = [numbers.at(-2), numbers.at(-1)];
    if (keys.at(-1)?.startsWith("card:")) {
      return { playCard: { card: last } };
    }
    return card === undefined ? undefined : { takeCard: { card, zone: last } };
  },
  prompt({ view, picked: [first], nameOf, t }) {
    return isTaking(view) && first !== undefined
      ? t("place", { card: nameOf("card", Number(first.slice("card:".length))) })
      : undefined;
  },
  summary,
  breakdown: (_, detail, { t }) => [
    ...(detail.roundPoints ?? []).map((/** @type {number} */ points, /** @type {number} */ index) => [
      t("round-name", { round: index + 1 }),
      points,
    ]),
    ...(detail.bonusPoints ? [[t("bonus"), detail.bonusPoints]] : []),
  ],
  isMoment: (event) =>
    ["CHATPENTIERS_EVENT_KIND_ROUND_SCORED", "CHATPENTIERS_EVENT_KIND_GAME_ENDED"].includes(
      /** @type {any} */ (event).chatpentiers?.kind,
    ),
};

/** @param {Context} context */
function draw(context) {
  const { width, players, me } = context;
  const bottom = me ?? 0;
  const roomy = layoutOf(context, bottom, 1);
  const layout = layoutOf(context, bottom, Math.min(1.4, Math.max(1, context.height / roomy.height)));
  /** @type {Table} */
  const table = { ...context, layout, bottom, items: [] };
  for (const [index, seat] of around(players, bottom).entries()) {
    drawSeat(table, seat, index === 0 ? layout.mine : /** @type {Box} */ (layout.others[index - 1]));
  }
  drawTrick(table);
  drawDiscards(table);
  drawHand(table);
  return { width, height: layout.height, items: table.items };
}

/** @param {Context} context */
function summary(context) {
  const { view, details, players, me, seatName, nameOf, t, update } = context;
  const { cardsDealt = 0, cardsTaken = [] } = tableOf(context);
  const cardNames = (/** @type {number[]} */ cards) =>
    cards.map((number) => nameOf("card", number)).join(", ");
  const isOver = view.phase === "CHATPENTIERS_PHASE_OVER";
  const led = ledSuit(view, details);
  /** @type {number[]} */
  const ranking = view.ranking ?? [];
  const lines = [t("round", { round: view.round ?? 0, rounds: details.rounds ?? 0 })];
  if (!isOver) {
    lines.push(t("trick", { trick: view.trick ?? 0, tricks: cardsDealt }));
    if (view.leader !== undefined) {
      lines.push(`${seatName(view.leader)}: ${t("leads")}`);
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
  for (const [index, seat] of ranking.entries()) {
    lines.push(t("rank", { name: seatName(seat), rank: index + 1, count: cardsTaken[index] ?? 0 }));
  }
  if (isTaking(view)) {
    lines.push(t("table", { cards: cardNames(view.tableCards ?? []) }));
  }
  if (me !== undefined) {
    lines.push(t("your-hand", { cards: cardNames(view.seats[me].handCards ?? []) }));
  }
  for (const seat of around(players, me ?? 0)) {
    const { handSize = 0, shownVoids = [] } = view.seats[seat];
    const points = update.score?.totals?.[seat]?.total ?? 0;
    const voids = shownVoids.map((/** @type {number} */ colour) =>
      t("no-colour", { colour: nameOf("colour", colour) }),
    );
    lines.push([t("hand-of", { name: seatName(seat), count: handSize, points }), ...voids].join(", "));
    for (const which of zonesOf(context)) {
      const { zone, cards, limit } = contentOf(context, seat, which);
      const what = cards.length > 0 ? cardNames(cards) : t("empty");
      lines.push(
        t("zone", { zone: nameOf("zone", zone), name: seatName(seat), count: cards.length, limit, what }),
      );
    }
  }
  lines.push(`${t("discards")}: ${cardNames(view.discards ?? []) || t("empty")}`);
  return lines;
}
