// Bytes as text: base64url for links and storage, hexadecimal for names.

/** @param {Uint8Array} bytes */
export function toText(bytes) {
  let binary = "";
  for (const byte of bytes) {
    binary += String.fromCharCode(byte);
  }
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Read base64, of links or of JSON. @param {string} text */
export function fromText(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}

/** @param {Uint8Array} bytes */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Write a value as text for a link. @param {unknown} value */
export function packed(value) {
  return toText(new TextEncoder().encode(JSON.stringify(value)));
}

/** Read what packed wrote. @param {string} text @returns {any} */
export function unpacked(text) {
  return JSON.parse(new TextDecoder().decode(fromText(text)));
}

/** Return n random bytes. @param {number} n */
export function random(n) {
  return crypto.getRandomValues(new Uint8Array(n));
}

/**
 * Return the SHA-256 of bytes as text. Browsers have it for pages from https and from this machine alone.
 * @param {Uint8Array} bytes
 */
export async function sha256(bytes) {
  return toText(new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes))));
}
