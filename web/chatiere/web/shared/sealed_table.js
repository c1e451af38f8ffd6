// Sealed tables without the service: what everybody can read of them, and what follows from that. Only the service can say
// whether a table is authentic.

import { fromText, sha256, toHex, toText } from "./bytes.js";
import {
  Acknowledgement,
  SealedTable,
  TableAcknowledgement,
  TableHeader,
  TableSeat,
  Timestamp,
} from "./fields.js";
import { ForkError } from "./fork_error.js";
import { bytesIn, fieldOf, fieldsOf, numberIn, textIn } from "./wire.js";

/** The length of a table's id and of an acknowledgement's code, and that of hashes. */
const ID_SIZE = 16;
const MAC_SIZE = 16;
const HASH_SIZE = 32;
/** The mover of a table at ply 0. */
const NOBODY = -1;

/**
 * Who has a seat. `bot`: its name and budget; `secretSha256`: of a human's secret, in base64url; one of them is there.
 * `isMadeByService`: whether the service made the secret.
 * @typedef {{bot?: string, secretSha256?: string, isMadeByService: boolean}} Seat
 */
/**
 * The facts that a table tells everybody.
 * @typedef {object} Table
 * @property {Uint8Array} bytes  All of it.
 * @property {Uint8Array} content  All of it but the acknowledgements.
 * @property {Uint8Array} header  Its TableHeader.
 * @property {string} id  Which table it is, in hexadecimal; the same for all plies.
 * @property {string} game
 * @property {number} players
 * @property {number} ply  The number of decisions so far.
 * @property {number} mover  The seat that made the last decision; -1 at ply 0.
 * @property {boolean} asksNext  Whether it has to be acknowledged (ACKNOWLEDGEMENT_NEXT).
 * @property {number} expires  When the service will refuse it, in milliseconds since 1970.
 * @property {Seat[]} seats
 * @property {ReadonlyMap<number, Uint8Array>} acknowledgements  By seat, ascending: the field, with its tag.
 */

/**
 * Read a table. Throws RangeError for bytes that are none.
 * @param {Uint8Array} bytes
 * @returns {Table}
 */
export function readTable(bytes) {
  try {
    return read(bytes);
  } catch (error) {
    throw new RangeError("the bytes are no sealed table", { cause: error });
  }
}

/**
 * @param {Uint8Array} bytes
 * @returns {Table}
 */
function read(bytes) {
  const fields = fieldsOf(bytes);
  const [header, seal, ...others] = fields;
  check(
    header?.number === SealedTable.header && seal?.number === SealedTable.seal,
    "header and seal come first",
  );
  const acknowledgements = others.map(({ number, begin, end, value }) => {
    check(number === SealedTable.acknowledgements && typeof value !== "number", "acknowledgements come last");
    const parts = fieldsOf(/** @type {Uint8Array} */ (value));
    check(bytesIn(fieldOf(parts, TableAcknowledgement.mac)).length === MAC_SIZE, "an acknowledgement's code");
    const seat = numberIn(fieldOf(parts, TableAcknowledgement.seat));
    return /** @type {[number, Uint8Array]} */ ([seat, bytes.subarray(begin, end)]);
  });
  const seats = acknowledgements.map(([seat]) => seat);
  check(
    seats.every((seat, index) => index === 0 || seat > (seats[index - 1] ?? seat)),
    "acknowledgements ascend",
  );
  const facts = readHeader(bytesIn(header));
  check((seats.at(-1) ?? 0) < facts.players, "a seat acknowledges");
  check(bytesIn(seal).length > 0, "a seal");
  return {
    bytes,
    content: bytes.subarray(0, seal?.end),
    header: bytesIn(header),
    ...facts,
    acknowledgements: new Map(acknowledgements),
  };
}

/** @param {Uint8Array} bytes */
function readHeader(bytes) {
  const fields = fieldsOf(bytes);
  const number = (/** @type {number} */ wanted) => numberIn(fieldOf(fields, wanted));
  const data = (/** @type {number} */ wanted) => bytesIn(fieldOf(fields, wanted));
  const id = data(TableHeader.tableId);
  const players = number(TableHeader.players);
  const ply = number(TableHeader.ply);
  const mover = zigzag(number(TableHeader.mover));
  const acknowledgement = number(TableHeader.acknowledgement);
  const seats = fields
    .filter((field) => field.number === TableHeader.seats)
    .map((field) => readSeat(bytesIn(field)));
  check(id.length === ID_SIZE, "its id");
  check(data(TableHeader.parent).length === HASH_SIZE, "its parent");
  check(players > 0 && seats.length === players, "its seats");
  check(mover < players && (ply === 0 ? mover === NOBODY : mover >= 0), "its mover");
  check(
    Object.values(Acknowledgement).includes(acknowledgement) && acknowledgement > 0,
    "its acknowledgement",
  );
  return {
    id: toHex(id),
    game: textIn(fieldOf(fields, TableHeader.game)),
    players,
    ply,
    mover,
    asksNext: acknowledgement === Acknowledgement.next,
    expires: numberIn(fieldOf(fieldsOf(data(TableHeader.expires)), Timestamp.seconds)) * 1000,
    seats,
  };
}

/**
 * @param {Uint8Array} bytes
 * @returns {Seat}
 */
function readSeat(bytes) {
  const fields = fieldsOf(bytes);
  const bot = fieldOf(fields, TableSeat.bot);
  const secret = fieldOf(fields, TableSeat.secretSha256);
  check((bot === undefined) !== (secret === undefined), "a seat has one holder");
  check(secret === undefined || bytesIn(secret).length === HASH_SIZE, "a seat's secret");
  return {
    ...(bot && { bot: textIn(bot) }),
    ...(secret && { secretSha256: toText(bytesIn(secret)) }),
    isMadeByService: numberIn(fieldOf(fields, TableSeat.madeByService)) !== 0,
  };
}

/**
 * @param {boolean} isSound
 * @param {string} what
 */
function check(isSound, what) {
  if (!isSound) {
    throw new RangeError(what);
  }
}

/**
 * Return the number that protobuf writes so as a sint32.
 * @param {number} value
 */
function zigzag(value) {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/**
 * Return a table's hash, 32 bytes: the SHA-256 of it without acknowledgements.
 *
 * It is `parent` in the headers of the tables that are made of it. Rejects with RangeError for bytes that are no table.
 * @param {Uint8Array} table
 */
export async function hashOf(table) {
  return sha256(readTable(table).content);
}

/**
 * Return a table as text, for links and chats: base64url without padding.
 * @param {Uint8Array} table
 */
export function textOf(table) {
  return toText(table);
}

/**
 * Return the table that a text is, white space around it aside. Throws RangeError for another text.
 * @param {string} text
 */
export function tableOf(text) {
  const stripped = text.trim();
  if (!/^[A-Za-z0-9_-]*$/.test(stripped) || stripped.length % 4 === 1) {
    throw new RangeError("a table as text is base64url");
  }
  return fromText(stripped);
}

/**
 * Return the seats that have still to acknowledge a table before it is open, ascending; none once it is.
 *
 * At ply 0 that is every human seat, later the next human seat to the left of the one that moved. What a bot made of an open
 * table is open. Throws RangeError for bytes that are no table.
 * @param {Uint8Array} table
 * @returns {number[]}
 */
export function missingSeats(table) {
  const { asksNext, mover, players, seats, acknowledgements } = readTable(table);
  const isHuman = (/** @type {number} */ seat) => seats[seat]?.bot === undefined;
  if (!asksNext || (mover !== NOBODY && !isHuman(mover))) {
    return [];
  }
  const fromLeft = Array.from({ length: players }, (_, index) => (mover + 1 + index) % players).filter(
    isHuman,
  );
  const needed = mover === NOBODY ? fromLeft : fromLeft.slice(0, 1);
  return needed.filter((seat) => !acknowledgements.has(seat));
}

/**
 * Return the seats that the game waits for: those whose acknowledgement is missing or, at an open table, the human seat to
 * decide. None: the game is over, or it is a bot's turn, whose decision anybody may ask for.
 *
 * `turn`: the seat to decide, as looking at the table tells; absent if none has to. Throws RangeError for bytes that are no
 * table.
 * @param {Uint8Array} table
 * @param {number} [turn]
 * @returns {number[]}
 */
export function awaited(table, turn) {
  const missing = missingSeats(table);
  if (missing.length > 0 || turn === undefined) {
    return missing;
  }
  return readTable(table).seats[turn]?.bot === undefined ? [turn] : [];
}

/**
 * Return a table with the acknowledgements of two copies of it.
 *
 * Throws RangeError for bytes that are no tables, or tables of different plies, and ForkError for two tables of one ply.
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 * @returns {Uint8Array}
 */
export function merged(one, other) {
  const [first, second] = [readTable(one), readTable(other)];
  if (first.id !== second.id || first.ply !== second.ply) {
    throw new RangeError("the tables are of different plies");
  }
  if (toText(first.content) !== toText(second.content)) {
    throw new ForkError(first.id, first.ply);
  }
  const acknowledgements = new Map([...second.acknowledgements, ...first.acknowledgements]);
  const ascending = [...acknowledgements].sort(([a], [b]) => a - b).map(([, bytes]) => bytes);
  return joined([first.content, ...ascending]);
}

/**
 * Return what a client has to send when its player has acted, and to whom: the seats that are awaited or, where no seat has
 * to decide, every human seat; without one's own. The tables are those that the others may lack: all since the last but one of
 * one's own decisions. To send one again does no harm.
 *
 * `tables`: all that one has of a game, in any order; `mine`: one's own seats; `turn`: as for `awaited`. Throws RangeError for
 * bytes that are no tables, or none.
 * @param {readonly Uint8Array[]} tables
 * @param {readonly number[]} mine
 * @param {number} [turn]
 * @returns {{seats: number[], tables: Uint8Array[]}}
 */
export function toSend(tables, mine, turn) {
  const known = tables.map(readTable).sort((a, b) => a.ply - b.ply);
  const newest = known.at(-1);
  if (newest === undefined) {
    throw new RangeError("there are no tables");
  }
  const first = known.filter(({ mover }) => mine.includes(mover)).at(-2)?.ply ?? 0;
  const humans = newest.seats.flatMap(({ bot }, seat) => (bot === undefined ? [seat] : []));
  const isOpen = missingSeats(newest.bytes).length === 0;
  const wanted = isOpen && turn === undefined ? humans : awaited(newest.bytes, turn);
  return {
    seats: wanted.filter((seat) => !mine.includes(seat)),
    tables: known.filter(({ ply }) => ply >= first).map(({ bytes }) => bytes),
  };
}

/** @param {readonly Uint8Array[]} parts */
function joined(parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
