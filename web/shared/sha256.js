// SHA-256 (FIPS 180-4). Browsers do not provide it for pages loaded by plain http from another machine.

const BLOCK = 64;
const WORDS = 16;
const ROUNDS = 64;
const PRIMES = primes(ROUNDS);
const START = PRIMES.slice(0, 8).map((prime) => fraction(prime ** (1 / 2)));
const CONSTANTS = PRIMES.map((prime) => fraction(prime ** (1 / 3)));

/**
 * Return the SHA-256 of bytes.
 * @param {Uint8Array} bytes
 */
export function digest(bytes) {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  const state = Uint32Array.from(START);
  for (let at = 0; at < padded.length; at += BLOCK) {
    compress(state, view, at);
  }
  const found = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => found.setUint32(4 * index, word));
  return new Uint8Array(found.buffer);
}

/**
 * Add a block to the hash.
 * @param {Uint32Array} state
 * @param {DataView} view
 * @param {number} at the block's position
 */
function compress(state, view, at) {
  const words = new Uint32Array(ROUNDS);
  const word = (/** @type {number} */ index) => words[index] ?? 0;
  for (let round = 0; round < ROUNDS; round++) {
    const [two, fifteen] = [word(round - 2), word(round - 15)];
    words[round] =
      round < WORDS
        ? view.getUint32(at + 4 * round)
        : word(round - 16) +
          (turned(fifteen, 7) ^ turned(fifteen, 18) ^ (fifteen >>> 3)) +
          word(round - 7) +
          (turned(two, 17) ^ turned(two, 19) ^ (two >>> 10));
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let round = 0; round < ROUNDS; round++) {
    const chosen = (e & f) ^ (~e & g);
    const first =
      h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + (CONSTANTS[round] ?? 0) + word(round);
    const most = (a & b) ^ (a & c) ^ (b & c);
    const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((each, index) => (state[index] = (state[index] ?? 0) + each));
}

/**
 * Rotate a word to the right.
 * @param {number} word
 * @param {number} bits
 */
function turned(word, bits) {
  return (word >>> bits) | (word << (32 - bits));
}

/**
 * Return the first 32 bits of a number's fractional part.
 * @param {number} number
 */
function fraction(number) {
  return Math.floor((number % 1) * 2 ** 32);
}

/** @param {number} count */
function primes(count) {
  /** @type {number[]} */
  const found = [];
  for (let number = 2; found.length < count; number++) {
    if (found.every((prime) => number % prime !== 0)) {
      found.push(number);
    }
  }
  return found;
}
