/** The most seats that a record or an invitation may have: more than any game has. Both come from elsewhere. */
export const MAX_SEATS = 20;
