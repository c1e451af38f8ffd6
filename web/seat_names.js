// The names of the players: their names in a room, or else the name of a cat for each seat. The cats' names are the
// same in all browsers, as a sealed table contains no names.

const CATS = /** @type {const} */ (["Moustache", "Griffe", "Velours", "Mistral", "Ronron", "Pelote"]);

/** The names of the players of the current table, by seat. */
export const NAMES = /** @type {string[]} */ ([...CATS]);

/**
 * Set the names of the players, by seat. Seats without a name get the cats' names.
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
