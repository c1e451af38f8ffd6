// A client of Chatière: helpers, and all messages and services of chatiere.v1.

export { Chatiere, type Settings } from "./chatiere.js";
export { ChatiereError, type FieldViolation, ForkError, type Reason, TransportError } from "./errors.js";
export * from "./generated/index.js";
export { HostTable, type Move } from "./host_table.js";
export { beginRecord, type RecordFacts } from "./records.js";
export { hashOf, headerOf, tableOf, textOf } from "./sealed_table.js";
export { SealedSeat } from "./sealed_seat.js";
export { LocalStorageStore, MapStore, type SeatStore } from "./seat_store.js";
export { type Template, type Wording, Words } from "./words.js";
