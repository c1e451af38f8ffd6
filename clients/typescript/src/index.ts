// A client of Chatière: helpers, and all messages and services of chatiere.v1.

export { type Analysis } from "./analysis.js";
export { Chatiere, type Settings } from "./chatiere.js";
export { ChatiereError, type FieldViolation, type Reason, TransportError } from "./errors.js";
export * from "./generated/index.js";
export { HostTable, type Inclusion, type Move, type NewGame } from "./host_table.js";
export { hashText, seatOf } from "./invitations.js";
export { beginRecord, readRecord, type RecordFacts } from "./records.js";
export { newRoomId, Room } from "./room.js";
export { type Entry, type Post, RoomContents } from "./room_contents.js";
export { headerOf } from "./sealed_table.js";
export { SealedSeat } from "./sealed_seat.js";
export { LocalStorageStore, MapStore, type SeatStore } from "./seat_store.js";
export { ForkError } from "./shared/fork_error.js";
export {
  awaitedReplies,
  type Invitation,
  invitationIn,
  invitationText,
  type InvitedSeat,
  replied,
  replyIn,
  replyText,
} from "./shared/invitations.js";
export { type Template, type Wording, Words } from "./shared/phrases.js";
export { awaited, hashOf, merged, missingSeats, tableOf, textOf, toSend } from "./shared/sealed_table.js";
