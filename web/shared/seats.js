/**
 * The maximum number of seats in a record or an invitation, which other programs may have written. No game has as many.
 */
export const MAX_SEATS = 20;
