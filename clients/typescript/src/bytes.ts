/** Return bytes in hexadecimal. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the bytes of a text in hexadecimal; undefined for another text. */
export function unhex(text: string): Uint8Array | undefined {
  if (!/^([0-9a-f]{2})*$/.test(text)) {
    return undefined;
  }
  return Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

/** Return the SHA-256 of bytes. Browsers have it for pages from https and from this machine alone. */
export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
}
