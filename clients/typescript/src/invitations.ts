import { create } from "@bufbuild/protobuf";

import { type TableSeat, TableSeatSchema } from "./generated/chatiere/v1/table_service_pb.js";
import { fromText, toText } from "./shared/bytes.js";
import type { InvitedSeat } from "./shared/invitations.js";

/**
 * Return the hash of a seat's secret as text, for invitations and replies. Throws RangeError for a seat without a hash,
 * for example a bot's seat.
 *
 * @param seat - The `seat` of a SealedSeat.
 */
export function hashText({ holder }: TableSeat): string {
  if (holder.case !== "secretSha256") {
    throw new RangeError("the seat has no hash of a secret");
  }
  return toText(holder.value);
}

/** Return a seat of an invitation in the form needed for a new table. Throws RangeError if its reply is awaited. */
export function seatOf(invited: InvitedSeat): TableSeat {
  if ("bot" in invited) {
    return create(TableSeatSchema, { holder: { case: "bot", value: invited.bot } });
  }
  if ("hash" in invited) {
    return create(TableSeatSchema, { holder: { case: "secretSha256", value: fromText(invited.hash) } });
  }
  // Do not pass an empty seat to the service, because the service would generate a secret for the seat.
  throw new RangeError("a reply is awaited");
}
