// A seat's record of its tables. It ensures that the seat acknowledges or makes only one table for each ply.

import { sha256, toHex } from "./bytes.js";
import { ForkError } from "./fork_error.js";
import { readTable } from "./sealed_table.js";

/**
 * Record the table of a ply that a seat acknowledges or has made, before anyone receives it. Tables that need no
 * acknowledgement are not recorded. Throws ForkError if another table of the ply is recorded.
 * @param {Uint8Array} table
 * @param {(key: string, text: string) => string | Promise<string>} keep stores a string under a key, unless the key
 *   exists, and returns the stored string. It must not return (or resolve) before the string would survive a crash. The
 *   key is the table's id, a space and the ply. The string is the table's hash in hexadecimal.
 */
export async function promise(table, keep) {
  const { id, ply, asksNext, content } = readTable(table);
  if (asksNext) {
    const hash = toHex(await sha256(content));
    if ((await keep(`${id} ${ply}`, hash)) !== hash) {
      throw new ForkError(id, ply);
    }
  }
}
