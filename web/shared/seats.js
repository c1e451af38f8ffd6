/**
 * The largest number of seats in a record or an invitation, which come from elsewhere. It is larger than in any game.
 */
export const MAX_SEATS = 20;
