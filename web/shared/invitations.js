// Invitations to a sealed table whose seats are being filled by people elsewhere. The host sends the invitation. Each
// player's client creates the secret of a seat and replies with its hash. The host creates the table when all players
// have replied.

import { packed, unpacked } from "./bytes.js";
import { MAX_SEATS } from "./seats.js";

const HASH = /^[\w-]{43}$/;
const ID = /^[0-9a-f]{16}$/;

/**
 * The holder of a seat: a bot, the owner of the secret with a hash (SHA-256 in base64url), or an empty object while the
 * seat is free.
 * @typedef {{bot: string} | {hash: string} | Record<string, never>} InvitedSeat
 */

/**
 * An invitation.
 * @typedef {object} Invitation
 * @property {string} id eight random bytes as 16 hexadecimal digits
 * @property {string} game
 * @property {boolean} asksNext true if the next player has to acknowledge each table
 * @property {InvitedSeat[]} seats
 * @property {object} [options] the game's options as an Options message in JSON; absent for the defaults
 */

/** @typedef {Partial<Record<string, unknown>>} Unknown */

/**
 * Encode an invitation as text for links, without the players who have accepted it. Throws RangeError if the invitation
 * is invalid.
 * @param {Invitation} invitation
 */
export function invitationText({ seats, ...terms }) {
  const sent = { ...terms, seats: seats.map((seat) => ("bot" in seat ? seat : {})) };
  return packed(checkedInvitation(sent));
}

/**
 * Decode an invitation. Throws RangeError if the text is not an invitation.
 * @param {string} text
 */
export function invitationIn(text) {
  return checkedInvitation(objectIn(text));
}

/**
 * Encode a reply as text for links. Throws RangeError if the reply is invalid.
 * @param {{id: string, hash: string}} reply the invitation's id, and the hash of the secret that the player's client
 *   has created
 */
export function replyText(reply) {
  return packed(checkedReply(reply));
}

/**
 * Decode a reply: the invitation's id, and the hash of a secret. Throws RangeError if the text is not a reply.
 * @param {string} text
 */
export function replyIn(text) {
  return checkedReply(objectIn(text));
}

/**
 * Return the seats of an invitation that are waiting for a reply, in ascending order.
 * @param {readonly InvitedSeat[]} seats
 */
export function awaitedReplies(seats) {
  return seats.flatMap((seat, index) => ("bot" in seat || "hash" in seat ? [] : [index]));
}

/**
 * Add a reply to the seats of an invitation. The person gets the first free seat, unless the person has a seat already.
 * Throws RangeError if no seat is free, or if the hash is invalid.
 * @param {readonly InvitedSeat[]} seats
 * @param {string} hash the reply's hash
 * @returns {InvitedSeat[]}
 */
export function replied(seats, hash) {
  checkedHash(hash);
  if (seats.some((seat) => "hash" in seat && seat.hash === hash)) {
    return [...seats];
  }
  const [free] = awaitedReplies(seats);
  if (free === undefined) {
    throw new RangeError("no reply is awaited");
  }
  return seats.map((seat, index) => (index === free ? { hash } : seat));
}

/**
 * Check an invitation, and return it without unknown properties. Throws RangeError if it is invalid.
 * @param {Unknown} found
 * @returns {Invitation}
 */
function checkedInvitation({ id, game, asksNext, seats, options }) {
  if (typeof game !== "string" || game === "") {
    throw new RangeError("no invitation: its game must be the name of one");
  }
  if (typeof asksNext !== "boolean") {
    throw new RangeError("no invitation: asksNext must be true or false");
  }
  if (!Array.isArray(seats) || seats.length < 1 || seats.length > MAX_SEATS || !seats.every(isSent)) {
    throw new RangeError(`no invitation: its seats must be 1 to ${MAX_SEATS}, each {} or {"bot": "…"}`);
  }
  if (options !== undefined && (typeof options !== "object" || options === null || Array.isArray(options))) {
    throw new RangeError("no invitation: its options must be an object");
  }
  return { id: checkedId(id), game, asksNext, seats, ...(options && { options }) };
}

/**
 * Return true for a seat as sent in invitations: a bot's seat or a free one.
 * @param {unknown} seat
 */
function isSent(seat) {
  if (typeof seat !== "object" || seat === null || Array.isArray(seat)) {
    return false;
  }
  return Object.entries(seat).every(
    ([key, value]) => key === "bot" && typeof value === "string" && value !== "",
  );
}

/**
 * Check a reply, and return it without unknown properties. Throws RangeError if it is invalid.
 * @param {Unknown} found
 */
function checkedReply({ id, hash }) {
  return { id: checkedId(id), hash: checkedHash(hash) };
}

/** @param {unknown} id */
function checkedId(id) {
  if (typeof id !== "string" || !ID.test(id)) {
    throw new RangeError("no invitation and no reply: the id must be 16 hexadecimal digits, in lower case");
  }
  return id;
}

/** @param {unknown} hash */
function checkedHash(hash) {
  if (typeof hash !== "string" || !HASH.test(hash)) {
    throw new RangeError("no reply: the hash must be the 43 digits of 32 bytes in base64url");
  }
  return hash;
}

/**
 * @param {string} text
 * @returns {Unknown}
 */
function objectIn(text) {
  try {
    return Object(unpacked(text));
  } catch {
    return {};
  }
}
