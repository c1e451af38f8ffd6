// Functions that read a view of Chatpentiers.

import { seatOf } from "../../views.js";

/** @import * as api from "#api/chatiere/v1/chatpentiers_pb.js" */

/** @typedef {api.ChatpentiersViewJson} View */
/** @typedef {import("../../game.js").Context<"chatpentiers">} Context */
/** @typedef {Context["details"]} Details */

/**
 * Return true while cards of the trick are being taken.
 * @param {View} view
 */
export function isTaking(view) {
  return view.phase === "CHATPENTIERS_PHASE_TAKE";
}

/**
 * Return true if the game is over.
 * @param {View} view
 */
export function isOver(view) {
  return view.phase === "CHATPENTIERS_PHASE_OVER";
}

/**
 * Return a card's colour.
 * @param {Details} details
 * @param {number} card
 */
export function suitOf({ cards = [] }, card) {
  return cards[card]?.colour ?? 0;
}

/**
 * Return a card's value.
 * @param {Details} details
 * @param {number} card
 */
export function valueOf({ cards = [] }, card) {
  return cards[card]?.value ?? 0;
}

/**
 * Return the colour that was led; undefined before the first card of the trick.
 * @param {Context} context
 */
export function ledSuit({ view, details }) {
  const [play] = view.plays ?? [];
  return play && suitOf(details, play.card ?? 0);
}

/**
 * Return the contents of a zone.
 * @param {Context} context
 * @param {number} seat
 * @param {api.ChatpentiersZoneInfoJson} which
 */
export function contentOf(context, seat, { zone = 0, section = false }) {
  const { view, details, update } = context;
  const cards = seatOf(context, seat).zones?.find((each) => (each.zone ?? 0) === zone)?.cards ?? [];
  const limit = section ? (view.sectionLimits?.[zone] ?? 0) : 0;
  const score = update.score?.detail?.chatpentiers?.seats?.[seat] ?? {};
  const points = section ? (score.sectionPoints?.[zone] ?? 0) : (score.zeroZonePoints ?? 0);
  const suit = cards[0] === undefined ? undefined : suitOf(details, cards[0]);
  return { zone, isSection: section, cards, limit, points, suit };
}
