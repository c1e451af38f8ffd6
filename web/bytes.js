// Random bytes for secrets and ids.
/**
 * Return n random bytes.
 * @param {number} n
 */
export function random(n) {
  return crypto.getRandomValues(new Uint8Array(n));
}
