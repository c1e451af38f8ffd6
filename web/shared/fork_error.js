/**
 * Reports a second table of the same ply: a player has made two decisions at one ply, or shows different tables to
 * different seats.
 */
export class ForkError extends Error {
  /** @override */
  name = "ForkError";

  /**
   * @param {string} id the table's id, in hexadecimal
   * @param {number} ply the ply of both tables
   */
  constructor(id, ply) {
    super(`table ${id} has two tables of ply ${ply}`);
    /** The ply of both tables. */
    this.ply = ply;
  }
}
