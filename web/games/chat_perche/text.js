// Describes Chat perché's tree in words.

import { seatOf } from "../../views.js";
import { badgeOf, loadOf } from "./view.js";

/** @typedef {import("./view.js").Context} Context */

/** @param {Context} context */
export function prompt({ view, picked: [first], t }) {
  if (first === undefined) {
    return undefined;
  }
  switch (view.phase) {
    case "CHAT_PERCHE_PHASE_PLACE_TOKEN":
      return t(first.startsWith("value") ? "prompt-branch" : "prompt-which");
    case "CHAT_PERCHE_PHASE_MOVE":
    case "CHAT_PERCHE_PHASE_SECOND_MOVE":
      return t("prompt-target", { count: view.stepsLeft ?? 0 });
    default:
      return undefined;
  }
}

/** @param {Context} context */
export function summary(context) {
  const { view, me, nameOf, seatName, t } = context;
  const named = (/** @type {readonly number[] | undefined} */ all) =>
    (all ?? [])
      .map((space) => {
        const badge = badgeOf(view, space);
        return badge ? `${nameOf("space", space)} (${t(badge)})` : nameOf("space", space);
      })
      .join(" · ") || t("none");
  const { card, activeSeat } = view;
  const lines = [t("dogs", { dogs: view.dogSteps ?? 0, track: view.dogTrack ?? 0 })];
  if (card !== undefined && activeSeat !== undefined) {
    lines.unshift(cardSaid(card, activeSeat, context));
  }
  (view.seats ?? []).forEach(({ cats, catsAtStart = 0, unplacedTokens = 0, unplacedSolidity = [] }, seat) => {
    const values = {
      name: seatName(seat),
      colour: nameOf("colour", seat),
      spaces: named(cats),
      start: catsAtStart,
    };
    lines.push(t("seat-cats", values));
    if (seat === me && unplacedSolidity.length > 0) {
      lines.push(t("hand", { values: unplacedSolidity.join(", ") }));
    } else if (unplacedTokens > 0) {
      lines.push(t("hand-of", { name: seatName(seat), count: unplacedTokens }));
    }
  });
  lines.push(...(view.branches ?? []).map((_, number) => branchLabel(number, context)));
  lines.push(t("birds", { count: view.birdsBeside ?? 0, spaces: named(view.birds) }));
  lines.push(...(view.seats ?? []).map((_, seat) => deckSaid(seat, context)));
  return lines;
}

/** @type {import("../../game.js").Game<"chatPerche">["breakdown"]} */
export function breakdown(_, { trunkPoints = 0, branchPoints = 0 }, { t }) {
  return [
    [t("trunk"), trunkPoints],
    [t("branches"), branchPoints],
  ];
}

/** @type {import("../../game.js").Game<"chatPerche">["isMoment"]} */
export function isMoment({ chatPerche }) {
  const kind = chatPerche?.kind;
  return kind === "CHAT_PERCHE_EVENT_KIND_BRANCH_BROKE" || kind === "CHAT_PERCHE_EVENT_KIND_GAME_ENDED";
}

/**
 * Return the text of the actions that the card turned up allows its seat.
 * @param {number} card
 * @param {number} seat
 * @param {Context} context
 */
export function cardSaid(card, seat, { view, nameOf, seatName, t }) {
  const { stepsLeft: steps = 0 } = view;
  const values = { name: seatName(seat), card: nameOf("card", card), steps };
  return t(steps > 0 ? "card-steps" : "card", values);
}

/**
 * Return the text of a branch: its token and its load.
 * @param {number} branch
 * @param {Context} context
 */
export function branchLabel(branch, { view, details, nameOf, seatName, t }) {
  const { tokenOwner, solidity, broken, greatestLoad } = view.branches?.[branch] ?? {};
  const name = tokenOwner === undefined ? "" : seatName(tokenOwner);
  const now = loadOf(view, details.branches?.[branch]?.spaces ?? []);
  const values = {
    branch: nameOf("branch", branch),
    name,
    now,
    solidity: solidity ?? "",
    load: greatestLoad ?? 0,
  };
  const kind =
    tokenOwner === undefined ? "free" : broken ? "broken" : solidity === undefined ? "hidden" : "known";
  return t(`branch-${kind}`, values);
}

/**
 * Return the text of the cards in a seat's deck and in its discards.
 * @param {number} seat
 * @param {Context} context
 */
export function deckSaid(seat, context) {
  const { nameOf, seatName, t } = context;
  const said = (/** @type {readonly number[]} */ cards) =>
    [...new Set(cards)]
      .map((card) => `${nameOf("card", card)} × ${cards.filter((each) => each === card).length}`)
      .join(", ") || t("none");
  const { drawPileCards = [], discards = [] } = seatOf(context, seat);
  return t("deck-of", { name: seatName(seat), cards: said(drawPileCards), discards: said(discards) });
}
