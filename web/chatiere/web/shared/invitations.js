// A sealed table whose seats are being filled by people elsewhere. Whoever invites sends the invitation; each player's own
// client makes the secret of a seat and sends its hash in a reply. The table is made once no reply is awaited.

import { packed, unpacked } from "./bytes.js";

const HASH = /^[\w-]{43}$/;
const ID = /^[0-9a-f]{16}$/;
const MAX_SEATS = 20;

/**
 * The player of a seat: a bot, whoever has the secret of a hash (its SHA-256 in base64url), or nobody yet.
 * @typedef {{bot: string} | {hash: string} | Record<string, never>} InvitedSeat
 */

/**
 * An invitation. `id`: eight random bytes in hexadecimal; `asksNext`: whether the table has to be acknowledged.
 * @typedef {{id: string, game: string, asksNext: boolean, seats: InvitedSeat[]}} Invitation
 */

/**
 * Return an invitation as text, for links. Who has accepted already is left out.
 * @param {Invitation} invitation
 */
export function invitationText({ id, game, asksNext, seats }) {
  return packed({ id, game, asksNext, seats: seats.map((seat) => ("bot" in seat ? seat : {})) });
}

/**
 * Return the invitation that a text is. Throws RangeError for another text.
 * @param {string} text
 * @returns {Invitation}
 */
export function invitationIn(text) {
  const { id, game, asksNext, seats } = objectIn(text);
  const isSeat = (/** @type {unknown} */ seat) => typeof seat === "object" && seat !== null;
  const isSound = Array.isArray(seats) && seats.length <= MAX_SEATS && seats.every(isSeat);
  if (typeof id !== "string" || !ID.test(id) || typeof game !== "string" || !isSound) {
    throw new RangeError("the text is no invitation");
  }
  return { id, game, asksNext: asksNext === true, seats: /** @type {InvitedSeat[]} */ (seats) };
}

/**
 * Return a reply as text, for links. `hash`: of the secret that its player's client has made.
 * @param {{id: string, hash: string}} reply
 */
export function replyText({ id, hash }) {
  return packed({ id, hash });
}

/**
 * Return the reply that a text is: to which invitation, and the hash of a secret. Throws RangeError for another text.
 * @param {string} text
 */
export function replyIn(text) {
  const { id, hash } = objectIn(text);
  if (typeof id !== "string" || !ID.test(id) || typeof hash !== "string" || !HASH.test(hash)) {
    throw new RangeError("the text is no reply");
  }
  return { id, hash };
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
 * RangeError where none does.
 * @param {readonly InvitedSeat[]} seats
 * @param {string} hash
 * @returns {InvitedSeat[]}
 */
export function replied(seats, hash) {
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
 * @param {string} text
 * @returns {Partial<Record<string, unknown>>}
 */
function objectIn(text) {
  try {
    return Object(unpacked(text));
  } catch {
    return {};
  }
}
