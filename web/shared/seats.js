/**
 * The maximum number of seats that is accepted in records and invitations from other programs. No game has as many.
 */
export const MAX_SEATS = 20;
