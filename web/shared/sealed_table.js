// Reads sealed tables without the service: the facts that are public, and their consequences. Only the service can
// check whether a table is authentic.

import { fromText, sha256, toHex, toText } from "./bytes.js";
import {
  Acknowledgement,
  SealedTable,
  TableAcknowledgement,
  TableAmendment,
  TableHeader,
  TableReplacement,
  TableSeat,
  TableTakeBack,
  Timestamp,
} from "./fields.js";
import { ForkError } from "./fork_error.js";
import { bytesIn, fieldOf, fieldsOf, numberIn, textIn } from "./wire.js";

/** The sizes of a table's id, of an acknowledgement's code, and of hashes, in bytes. */
const ID_SIZE = 16;
const MAC_SIZE = 16;
const HASH_SIZE = 32;
/** The mover of a table at ply 0, and of an amended table. */
const NOBODY = -1;

/**
 * The holder of a seat: a bot or a person, so that either `bot` or `secretSha256` is present.
 * @typedef {object} Seat
 * @property {string} [bot] the bot's name and budget
 * @property {string} [secretSha256] the hash of the person's secret, in base64url
 * @property {boolean} isMadeByService true if the service created the secret
 */
/**
 * A change to a table that is not a decision. Either `replacement` or `takeBack` is present.
 * @typedef {object} Amendment
 * @property {number} asker the seat that asked for it
 * @property {{seat: number, holder: Seat, before: Seat}} [replacement] the seat with a new holder, the new and the
 *   previous holder
 * @property {{ply: number}} [takeBack] the ply of the table to whose position the game returns
 */
/**
 * The public facts of a table.
 * @typedef {object} Table
 * @property {Uint8Array} bytes the whole table
 * @property {Uint8Array} content the table without its acknowledgements
 * @property {Uint8Array} header its TableHeader
 * @property {string} id the game's id in hexadecimal, the same at all plies
 * @property {string} game
 * @property {number} players
 * @property {number} ply the number of decisions so far
 * @property {number} mover the seat that made the last decision; -1 at ply 0 and at an amended table
 * @property {Amendment | undefined} amendment the amendment that created it, which all human seats have to acknowledge;
 *   undefined if a decision created it
 * @property {boolean} allowsReplacement true if the other human seats may together replace the holder of a seat
 * @property {boolean} asksNext true if it has to be acknowledged (ACKNOWLEDGEMENT_NEXT)
 * @property {number} expires the time from which the service refuses it, in milliseconds since 1970
 * @property {Seat[]} seats
 * @property {ReadonlyMap<number, Uint8Array>} acknowledgements the encoded fields, including their tags, by seat in
 *   ascending order
 */

/**
 * Read a table. Throws RangeError if the bytes are not a table.
 * @param {Uint8Array} bytes
 * @returns {Table}
 */
export function readTable(bytes) {
  try {
    return read(bytes);
  } catch (error) {
    throw new RangeError("the bytes are not a sealed table", { cause: error });
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
  const amended = fieldOf(fields, TableHeader.amendment);
  const amendment = amended && readAmendment(bytesIn(amended));
  check(
    mover < players && mover >= NOBODY && (mover === NOBODY) === (ply === 0 || amendment !== undefined),
    "its mover",
  );
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
    amendment,
    allowsReplacement: number(TableHeader.allowsReplacement) !== 0,
    asksNext: acknowledgement === Acknowledgement.next,
    expires: numberIn(fieldOf(fieldsOf(data(TableHeader.expires)), Timestamp.seconds)) * 1000,
    seats,
  };
}

/**
 * @param {Uint8Array} bytes
 * @returns {Amendment}
 */
function readAmendment(bytes) {
  const fields = fieldsOf(bytes);
  const replaced = fieldOf(fields, TableAmendment.replacement);
  const takenBack = fieldOf(fields, TableAmendment.takeBack);
  check((replaced === undefined) !== (takenBack === undefined), "an amendment is of one kind");
  return {
    asker: numberIn(fieldOf(fields, TableAmendment.asker)),
    ...(replaced && { replacement: readReplacement(bytesIn(replaced)) }),
    ...(takenBack && {
      takeBack: { ply: numberIn(fieldOf(fieldsOf(bytesIn(takenBack)), TableTakeBack.ply)) },
    }),
  };
}

/** @param {Uint8Array} bytes */
function readReplacement(bytes) {
  const fields = fieldsOf(bytes);
  return {
    seat: numberIn(fieldOf(fields, TableReplacement.seat)),
    holder: readSeat(bytesIn(fieldOf(fields, TableReplacement.holder))),
    before: readSeat(bytesIn(fieldOf(fields, TableReplacement.before))),
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
 * Decode the ZigZag encoding of a sint32 in protobuf.
 * @param {number} value
 */
function zigzag(value) {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/**
 * Return a table's hash: the SHA-256 of the table without its acknowledgements, 32 bytes. The headers of the tables
 * made from this table contain it as `parent`. Rejects with RangeError if the bytes are not a table.
 * @param {Uint8Array} table
 */
export async function hashOf(table) {
  return sha256(readTable(table).content);
}

/**
 * Return a table as text for links and chats, in base64url without padding.
 * @param {Uint8Array} table
 */
export function textOf(table) {
  return toText(table);
}

/**
 * Decode a table from text. White space around the text is ignored. Throws RangeError if the text is not base64url.
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
 * Return the seats that still have to acknowledge a table, in ascending order. Return an empty list if the table is
 * open. At ply 0 and at an amended table all human seats have to acknowledge it, otherwise the next human seat to the
 * left of the mover. A table that a bot made from an open table is open. Throws RangeError if the bytes are not a
 * table.
 * @param {Uint8Array} table
 * @returns {number[]}
 */
export function missingSeats(table) {
  const { asksNext, amendment, mover, players, seats, acknowledgements } = readTable(table);
  const isHuman = (/** @type {number} */ seat) => seats[seat]?.bot === undefined;
  if (!(asksNext || amendment) || (mover !== NOBODY && !isHuman(mover))) {
    return [];
  }
  const fromLeft = Array.from({ length: players }, (_, index) => (mover + 1 + index) % players).filter(
    isHuman,
  );
  const needed = mover === NOBODY ? fromLeft : fromLeft.slice(0, 1);
  return needed.filter((seat) => !acknowledgements.has(seat));
}

/**
 * Return the seats for which the game is waiting: the seats that have to acknowledge the table or, at an open table,
 * the human seat whose turn it is. The list is empty if the game is over, or if it is a bot's turn, because any client
 * may request a bot's decision. Throws RangeError if the bytes are not a table.
 * @param {Uint8Array} table
 * @param {number} [turn] the deciding seat, as returned by looking at the table; absent if the game is over
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
 * Merge the acknowledgements of two copies of a table. Throws RangeError if the bytes are not tables or have different
 * plies, and ForkError if they are two tables of one ply.
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 * @returns {Uint8Array}
 */
export function merged(one, other) {
  const [first, second] = [readTable(one), readTable(other)];
  if (first.id !== second.id || first.ply !== second.ply) {
    throw new RangeError("the tables have different plies");
  }
  if (toText(first.content) !== toText(second.content)) {
    throw new ForkError(first.id, first.ply);
  }
  const acknowledgements = new Map([...second.acknowledgements, ...first.acknowledgements]);
  const ascending = [...acknowledgements].sort(([a], [b]) => a - b).map(([, bytes]) => bytes);
  return joined([first.content, ...ascending]);
}

/**
 * Return the tables that a client has to send after its player has acted, and the seats that need them. The player's
 * own seats are left out. The seats are the seats for which the game waits. If no seat has to decide, they are all
 * human seats. The tables are the tables that the other players may lack: all tables from the player's second to last
 * decision on. If an amendment since then gave a seat to a person, they are all known tables. Sending a table twice
 * does no harm. Throws RangeError if the bytes are not tables, or if `tables` is empty.
 * @param {readonly Uint8Array[]} tables all known tables of a game, in any order
 * @param {readonly number[]} mine the player's own seats
 * @param {number} [turn] as for `awaited`
 * @returns {{seats: number[], tables: Uint8Array[]}}
 */
export function toSend(tables, mine, turn) {
  const known = tables.map(readTable).sort((a, b) => a.ply - b.ply);
  const newest = known.at(-1);
  if (newest === undefined) {
    throw new RangeError("no tables were given");
  }
  const secondToLast = known.filter(({ mover }) => mine.includes(mover)).at(-2)?.ply ?? 0;
  const holders = known.flatMap(({ ply, amendment }) =>
    ply >= secondToLast ? (amendment?.replacement?.holder ?? []) : [],
  );
  const first = holders.some(({ bot }) => bot === undefined) ? 0 : secondToLast;
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
