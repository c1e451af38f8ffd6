// The part of protobuf's wire format that sealed tables use.

/**
 * A field of a message.
 * @typedef {object} Field
 * @property {number} number
 * @property {number} begin the position of its tag
 * @property {number} end the position after its value
 * @property {number | Uint8Array} value
 */

/** The maximum number of bytes in a varint. */
const MAX_VARINT = 10;

/**
 * Split a message into its fields. Throws RangeError if the bytes are not a message.
 * @param {Uint8Array} bytes
 */
export function fieldsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let length = 0; length < MAX_VARINT; length++) {
      const byte = view.getUint8(at++);
      value += (byte & 127) * 128 ** length;
      // Each number has a single valid encoding.
      if (byte === 0 && length > 0) {
        break;
      }
      if (byte < 128) {
        return value;
      }
    }
    throw new RangeError("a varint is padded, or too long");
  };
  const take = (/** @type {number} */ length) => {
    at += length;
    if (at > bytes.length) {
      throw new RangeError("a field is cut off");
    }
    return bytes.subarray(at - length, at);
  };
  /** @type {Field[]} */
  const fields = [];
  while (at < bytes.length) {
    const begin = at;
    const tag = varint();
    const number = Math.floor(tag / 8);
    const value = valueOf(tag % 8, varint, take);
    if (number === 0) {
      throw new RangeError("no field has the number 0");
    }
    fields.push({ number, begin, end: at, value });
  }
  return fields;
}

/**
 * Read the value of a field.
 * @param {number} type the wire type
 * @param {() => number} varint reads a varint
 * @param {(length: number) => Uint8Array} take reads a number of bytes
 */
function valueOf(type, varint, take) {
  switch (type) {
    case 0:
      return varint();
    case 1:
      return little(take(8));
    case 2:
      return take(varint());
    case 5:
      return little(take(4));
    default:
      throw new RangeError(`no field has the wire type ${type}`);
  }
}

/** @param {Uint8Array} bytes */
function little(bytes) {
  return bytes.reduceRight((value, byte) => value * 256 + byte, 0);
}

/**
 * Return the field of a message with a number, or undefined if it is absent. Throws RangeError if there are several.
 * @param {readonly Field[]} fields
 * @param {number} wanted the field's number
 */
export function fieldOf(fields, wanted) {
  const [field, second] = fields.filter(({ number }) => number === wanted);
  if (second) {
    throw new RangeError(`there are several fields ${wanted}`);
  }
  return field;
}

/**
 * Return the number in a field, or 0 if the field is absent. Throws RangeError if its value is not a number.
 * @param {Field | undefined} field
 */
export function numberIn(field) {
  const value = field?.value ?? 0;
  if (typeof value !== "number" || !Number.isSafeInteger(value)) {
    throw new RangeError("a field holds no number");
  }
  return value;
}

/**
 * Return the bytes in a field, or no bytes if the field is absent. Throws RangeError if its value is a number.
 * @param {Field | undefined} field
 */
export function bytesIn(field) {
  const value = field?.value ?? new Uint8Array();
  if (typeof value === "number") {
    throw new RangeError("a field holds no bytes");
  }
  return value;
}

/**
 * Return the text in a field, or "" if the field is absent. Throws RangeError or TypeError if its value is not text.
 * @param {Field | undefined} field
 */
export function textIn(field) {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytesIn(field));
}
