// The names of the players: a cat for each seat, the same for everybody, as a sealed table holds no names.

/** By seat. */
export const NAMES = /** @type {const} */ (["Moustache", "Griffe", "Velours", "Mistral", "Ronron", "Pelote"]);

/**
 * Return the name of the player of a seat.
 * @param {number} seat
 */
export function nameOfSeat(seat) {
  return NAMES[seat] ?? String(seat);
}
