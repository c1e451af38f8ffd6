/**
 * A table of a ply of which there is another one: somebody has made two decisions at one ply, or shows different tables to
 * different seats.
 */
export class ForkError extends Error {
  /** @override */
  name = "ForkError";

  /**
   * @param {string} id  Which table it is, in hexadecimal.
   * @param {number} ply
   */
  constructor(id, ply) {
    super(`table ${id} has two tables of ply ${ply}`);
    /** The ply of both. */
    this.ply = ply;
  }
}
