// What a seat at a sealed table remembers, so that it makes and acknowledges one table of each ply.

import { sha256, toHex } from "./bytes.js";
import { ForkError } from "./fork_error.js";
import { readTable } from "./sealed_table.js";

/**
 * Keep which table of a ply a seat acknowledges or has made, before anybody gets it; tables that need no acknowledgement are not
 * kept. Throws ForkError if another table of the ply is kept.
 *
 * `keep` keeps a text under a key, unless there is one already, and returns what is kept there now. It returns (or resolves)
 * only when the text would survive a crash. The key is the table's id, a space and the ply, the text the table's hash, in
 * hexadecimal.
 * @param {Uint8Array} table
 * @param {(key: string, text: string) => string | Promise<string>} keep
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
