// The order in which a room takes the tables of a game: it has a chain of plies, which grows at both ends.

/**
 * Return plies in the order in which to post their tables.
 * @param {readonly number[]} plies those that are known here
 * @param {readonly number[]} there those that the room holds
 */
export function postingOrder(plies, there) {
  const ascending = [...plies].sort((a, b) => a - b);
  const start = there.length > 0 ? Math.min(...there) : 0;
  const above = ascending.filter((ply) => ply >= start);
  const below = ascending.filter((ply) => ply < start).reverse();
  return [...above, ...below];
}
