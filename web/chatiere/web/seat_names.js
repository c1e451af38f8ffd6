// The names of the players: what they call themselves in a room, and else a cat for each seat, the same for everybody, as a
// sealed table holds no names.

const CATS = /** @type {const} */ (["Moustache", "Griffe", "Velours", "Mistral", "Ronron", "Pelote"]);

/** By seat, of the table that is shown. */
export const NAMES = /** @type {string[]} */ ([...CATS]);

/**
 * Call the players by their names, by seat; by cats' where there is none.
 * @param {readonly (string | undefined)[]} names
 */
export function callSeats(names) {
  CATS.forEach((cat, seat) => (NAMES[seat] = names[seat] ?? cat));
}

/**
 * Return the name of the player of a seat.
 * @param {number} seat
 */
export function nameOfSeat(seat) {
  return NAMES[seat] ?? String(seat);
}
