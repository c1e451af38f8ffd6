// Sealed tables as the page reads them: the header and the acknowledgements, which are for all to see.

import { fromText, toHex, toText } from "./bytes.js";

/** @typedef {{bot?: string, hash?: string, isMadeByService: boolean}} Seat */
/**
 * The facts of a table that are known without opening it. `text`: the table in base64url; `base`: the same without acknowledgements;
 * `mover`: -1 at ply 0; `expires`: milliseconds since 1970; `acknowledged`: the seats that have acknowledged it.
 * @typedef {{text: string, base: string, id: string, game: string, players: number, ply: number, mover: number,
 *   asksNext: boolean, expires: number, seats: Seat[], acknowledged: number[]}} SealedTable
 */

const ACKNOWLEDGEMENT_NEXT = 2;
// The numbers of the fields of SealedTable, TableAcknowledgement, TableHeader, its Timestamp and TableSeat.
const TABLE = { header: 1, seal: 2, acknowledgements: 3 };
const HEADER = { id: 3, game: 4, players: 5, ply: 8, mover: 10, acknowledgement: 11, expires: 12, seats: 14 };
const TIMESTAMP = { seconds: 1 };
const SEAT = { bot: 1, hash: 2, madeByService: 3 };

/**
 * Read a table. Throws for what is none.
 * @param {string} text @returns {SealedTable}
 */
export function readTable(text) {
  const bytes = fromText(text);
  const fields = fieldsOf(bytes);
  const header = fieldsOf(bytesOf(one(fields, TABLE.header)));
  const acknowledgements = fields.filter(({ number }) => number === TABLE.acknowledgements);
  const base = bytes.subarray(0, acknowledgements[0]?.begin ?? bytes.length);
  const mover = numberOf(one(header, HEADER.mover));
  return {
    text: toText(bytes),
    base: toText(base),
    id: toHex(bytesOf(one(header, HEADER.id))),
    game: textOf(one(header, HEADER.game)),
    players: numberOf(one(header, HEADER.players)),
    ply: numberOf(one(header, HEADER.ply)),
    // Zigzag.
    mover: mover % 2 ? -(mover + 1) / 2 : mover / 2,
    asksNext: numberOf(one(header, HEADER.acknowledgement)) === ACKNOWLEDGEMENT_NEXT,
    expires: numberOf(one(fieldsOf(bytesOf(one(header, HEADER.expires))), TIMESTAMP.seconds)) * 1000,
    seats: header
      .filter(({ number }) => number === HEADER.seats)
      .map((each) => seatOf(fieldsOf(bytesOf(each)))),
    acknowledged: acknowledgements.map((each) => {
      const seat = fieldsOf(bytesOf(each)).find(({ number }) => number === 1);
      return seat ? numberOf(seat) : 0;
    }),
  };
}

/**
 * Return a table with the acknowledgements of two copies of it.
 * @param {SealedTable} a @param {SealedTable} b
 */
export function joined(a, b) {
  if (b.acknowledged.every((seat) => a.acknowledged.includes(seat))) {
    return a;
  }
  if (a.acknowledged.every((seat) => b.acknowledged.includes(seat))) {
    return b;
  }
  /** @type {Map<number, Uint8Array>} */
  const parts = new Map();
  for (const table of [a, b]) {
    const bytes = fromText(table.text);
    const found = fieldsOf(bytes).filter(({ number }) => number === TABLE.acknowledgements);
    found.forEach(({ begin, end }, index) => {
      parts.set(/** @type {number} */ (table.acknowledged[index]), bytes.subarray(begin, end));
    });
  }
  const ascending = [...parts].sort(([one], [other]) => one - other).map(([, bytes]) => [...bytes]);
  return readTable(toText(Uint8Array.from([...fromText(a.base), ...ascending.flat()])));
}

/**
 * Return the seats whose acknowledgement a table still needs before it is open, by the rules of TableService.
 * @param {SealedTable} table
 */
export function awaited({ asksNext, ply, mover, players, seats, acknowledged }) {
  const isHuman = (/** @type {number} */ seat) => seats[seat]?.bot === undefined;
  if (!asksNext || (ply > 0 && !isHuman(mover))) {
    return [];
  }
  const all = Array.from({ length: players }, (_, index) => (mover + 1 + index) % players).filter(isHuman);
  const needed = ply === 0 ? all.sort((a, b) => a - b) : all.slice(0, 1);
  return needed.filter((seat) => !acknowledged.includes(seat));
}

/** @typedef {{number: number, begin: number, end: number, value: number | Uint8Array}} Field */

/** @param {readonly Field[]} fields @returns {Seat} */
function seatOf(fields) {
  const find = (/** @type {number} */ wanted) => fields.find(({ number }) => number === wanted);
  const [bot, hash, made] = [find(SEAT.bot), find(SEAT.hash), find(SEAT.madeByService)];
  return {
    ...(bot && { bot: textOf(bot) }),
    ...(hash && { hash: toText(bytesOf(hash)) }),
    isMadeByService: made !== undefined,
  };
}

/**
 * Split a message of protobuf into its fields.
 * @param {Uint8Array} bytes
 */
function fieldsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = view.getUint8(at++);
      value += (byte & 127) * factor;
      if (byte < 128) {
        return value;
      }
    }
  };
  /** @type {Field[]} */
  const fields = [];
  while (at < bytes.length) {
    const begin = at;
    const tag = varint();
    /** @type {number | Uint8Array} */
    let value;
    switch (tag & 7) {
      case 0:
        value = varint();
        break;
      case 1:
        value = Number(view.getBigUint64(at, true));
        at += 8;
        break;
      case 2: {
        const length = varint();
        value = bytes.subarray(at, at + length);
        at += length;
        break;
      }
      case 5:
        value = view.getUint32(at, true);
        at += 4;
        break;
      default:
        throw new RangeError("not a sealed table");
    }
    if (at > bytes.length) {
      throw new RangeError("not a sealed table");
    }
    fields.push({ number: tag >>> 3, begin, end: at, value });
  }
  return fields;
}

/** @param {readonly Field[]} fields @param {number} wanted */
function one(fields, wanted) {
  const found = fields.find(({ number }) => number === wanted);
  if (!found) {
    throw new RangeError("not a sealed table");
  }
  return found;
}

/** @param {Field} field */
function bytesOf({ value }) {
  if (typeof value === "number") {
    throw new RangeError("not a sealed table");
  }
  return value;
}

/** @param {Field} field */
function numberOf({ value }) {
  if (typeof value !== "number") {
    throw new RangeError("not a sealed table");
  }
  return value;
}

/** @param {Field} field */
function textOf(field) {
  return new TextDecoder().decode(bytesOf(field));
}
