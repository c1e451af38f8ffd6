// The order in which a room accepts the tables of a game. A room holds an unbroken sequence of plies and extends it at
// both ends.

/**
 * Return plies in the order in which their tables must be posted.
 * @param {readonly number[]} plies the plies whose tables are known here
 * @param {readonly number[]} there the plies that the room holds
 */
export function postingOrder(plies, there) {
  const ascending = [...plies].sort((a, b) => a - b);
  const start = there.length > 0 ? Math.min(...there) : 0;
  const above = ascending.filter((ply) => ply >= start);
  const below = ascending.filter((ply) => ply < start).reverse();
  return [...above, ...below];
}
