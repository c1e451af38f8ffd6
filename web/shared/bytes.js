// Conversions of bytes to text (base64url for links and storage, hexadecimal for names), and of values to text for
// links.

/**
 * Return bytes in base64url without padding.
 * @param {Uint8Array} bytes
 */
export function toText(bytes) {
  let binary = "";
  for (const byte of bytes) {
    binary += String.fromCharCode(byte);
  }
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Decode base64 or base64url. Throws RangeError if the text is neither.
 * @param {string} text
 */
export function fromText(text) {
  const digits = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  // Every four digits encode three bytes. A single remaining digit encodes no byte.
  if (!/^[A-Za-z0-9+/]*$/.test(digits) || digits.length % 4 === 1) {
    throw new RangeError("the text is not base64");
  }
  return Uint8Array.from(atob(digits), (letter) => letter.charCodeAt(0));
}

/**
 * Encode a value as text for a link.
 * @param {unknown} value anything that JSON can represent
 */
export function packed(value) {
  return toText(new TextEncoder().encode(JSON.stringify(value)));
}

/**
 * Decode a string written by `packed`.
 * @param {string} text
 * @returns {unknown}
 */
export function unpacked(text) {
  return JSON.parse(new TextDecoder().decode(fromText(text)));
}

/**
 * Return bytes in hexadecimal.
 * @param {Uint8Array} bytes
 */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Decode hexadecimal. Throws RangeError if the text is not hexadecimal in lower case.
 * @param {string} text
 */
export function fromHex(text) {
  if (!/^([0-9a-f]{2})*$/.test(text)) {
    throw new RangeError("the text is not hexadecimal");
  }
  return Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

/**
 * Return the SHA-256 of bytes. Browsers provide it only for pages loaded over HTTPS or from the same machine.
 * @param {Uint8Array} bytes
 */
export async function sha256(bytes) {
  if (crypto.subtle === undefined) {
    const { digest } = await import("./sha256.js");
    return digest(bytes);
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
}
