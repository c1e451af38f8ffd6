// A sealed table whose seats are being filled by people elsewhere. Whoever invites sends the invitation; each player's own
// client makes the secret of a seat and sends its hash in a reply. The table is made once no reply is awaited.

import { packed, unpacked } from "./bytes.js";
import { MAX_SEATS } from "./seats.js";

const HASH = /^[\w-]{43}$/;
const ID = /^[0-9a-f]{16}$/;

/**
 * The player of a seat: a bot, the holder of the secret of a hash (its SHA-256 in base64url), or nobody yet.
 * @typedef {{bot: string} | {hash: string} | Record<string, never>} InvitedSeat
 */

/**
 * An invitation. `id`: eight random bytes as 16 hexadecimal digits; `asksNext`: whether the table has to be acknowledged; `options`: as
 * an Options message has them in JSON, absent for the defaults.
 * @typedef {{id: string, game: string, asksNext: boolean, seats: InvitedSeat[], options?: object}} Invitation
 */

/** @typedef {Partial<Record<string, unknown>>} Unknown */

/**
 * Return an invitation as text, for links, without those who have accepted. Throws RangeError for an invalid invitation.
 * @param {Invitation} invitation
 */
export function invitationText({ seats, ...terms }) {
  const sent = { ...terms, seats: seats.map((seat) => ("bot" in seat ? seat : {})) };
  return packed(checkedInvitation(sent));
}

/**
 * Return the invitation that a text is. Throws RangeError for another text.
 * @param {string} text
 */
export function invitationIn(text) {
  return checkedInvitation(objectIn(text));
}

/**
 * Return a reply as text, for links. `hash`: of the secret that its player's client has made. Throws RangeError for an invalid
 * reply.
 * @param {{id: string, hash: string}} reply
 */
export function replyText(reply) {
  return packed(checkedReply(reply));
}

/**
 * Return the reply that a text is: the invitation's id, and the hash of a secret. Throws RangeError for another text.
 * @param {string} text
 */
export function replyIn(text) {
  return checkedReply(objectIn(text));
}

/**
 * Return the seats of an invitation whose replies are awaited, ascending.
 * @param {readonly InvitedSeat[]} seats
 */
export function awaitedReplies(seats) {
  return seats.flatMap((seat, index) => ("bot" in seat || "hash" in seat ? [] : [index]));
}

/**
 * Return the seats of an invitation with a reply: it takes the first seat that awaits one, unless it has one already. Throws
 * RangeError where none does, and for an invalid hash.
 * @param {readonly InvitedSeat[]} seats
 * @param {string} hash
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
 * Return an invitation without any further properties. Throws RangeError for an invalid one.
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
 * Return whether a seat is one as invitations have it: a bot's, or one that awaits a reply.
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
 * Return a reply without any further properties. Throws RangeError for an invalid one.
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
