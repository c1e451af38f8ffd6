import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";

import { type ChatiereError, TransportError } from "./errors.js";
import {
  type FollowResponse,
  type PostRequest,
  type RoomEntry,
  RoomEntrySchema,
} from "./generated/chatiere/v1/room_service_pb.js";
import { fromHex, fromText, toHex, toText } from "./shared/bytes.js";
import { postingOrder } from "./shared/posting.js";
import { merged, readTable } from "./shared/sealed_table.js";

/** Something that a room holds. */
export type Entry = MessageInitShape<typeof RoomEntrySchema>;
/** Something to post. */
export type Post = Exclude<PostRequest["post"], { case: undefined }>;

const FIRST_PAUSE = 100;
const MAX_PAUSE = 5000;
/** The codes with which a call ends when its connection does. */
const BROKEN = [Code.Unavailable, Code.Canceled, Code.Unknown, Code.Internal];

/**
 * The contents of a room, as far as one person knows them. A person is the SHA-256 of a secret in base64url, as in `hashText` and in
 * the hashes of an invitation.
 */
export class RoomContents {
  /** The names of persons: show them as text only. */
  readonly names = new Map<string, string>();
  /** By the id of an invitation, the persons who accept it, in the order in which they came. */
  readonly replies = new Map<string, string[]>();
  /** By table id, in hexadecimal, and ply. */
  readonly tables = new Map<string, Map<number, Uint8Array>>();
  /** The persons who are here. */
  people: readonly string[] = [];
  /** How many there are beside them. */
  onlookers = 0;

  /** Begin with nothing. `person`: the person whose knowledge it is. */
  constructor(readonly person: string) {}

  /** Return the table of the newest ply; undefined if there is none. `id`: absent: of the game that came last. */
  newest(id: string | undefined = [...this.tables.keys()].at(-1)): Uint8Array | undefined {
    const plies = id === undefined ? undefined : this.tables.get(id);
    return plies?.get(Math.max(...plies.keys()));
  }

  /** Return the known tables between two of one game, in the order of play: those that a room lacks if it holds only the first. */
  between(held: Uint8Array, table: Uint8Array): Uint8Array[] {
    const [first, last] = [readTable(held), readTable(table)];
    const known = this.tables.get(last.id);
    const plies = Array.from({ length: Math.max(0, last.ply - first.ply - 1) }, (_, index) => first.ply + 1 + index);
    return plies.flatMap((ply) => known?.get(ply) ?? []);
  }

  /** Take an entry into account. Throws ForkError for another table of a known ply. */
  keep(kept: Entry): void {
    const { entry } = create(RoomEntrySchema, kept);
    if (entry.case === "name") {
      this.names.set(toText(entry.value.person), entry.value.name);
    } else if (entry.case === "reply") {
      const [id, person] = [toHex(entry.value.invitation), toText(entry.value.person)];
      this.replies.set(id, [...new Set([...(this.replies.get(id) ?? []), person])]);
    } else if (entry.case === "table") {
      const { id, ply } = readTable(entry.value);
      const known = this.tables.get(id) ?? new Map<number, Uint8Array>();
      known.set(ply, merged(known.get(ply) ?? entry.value, entry.value));
      this.tables.set(id, known);
    }
  }

  /** Take a response into account; return what the person has to post again. Throws ForkError. */
  take({ entries, presence, isWhole }: FollowResponse): Post[] {
    entries.forEach((entry) => this.keep(entry));
    if (presence !== undefined) {
      this.people = presence.people.map(toText);
      this.onlookers = presence.onlookers;
    }
    return isWhole ? this.#missingIn(entries) : [];
  }

  #missingIn(entries: readonly RoomEntry[]): Post[] {
    const person = fromText(this.person);
    const there = new Set(entries.map(keyOf));
    const mine: { post: Post; entry: Entry }[] = [];
    const name = this.names.get(this.person);
    if (name !== undefined) {
      const entry: Entry = { entry: { case: "name", value: { person, name } } };
      mine.push({ post: { case: "name", value: name }, entry });
    }
    for (const [id, persons] of this.replies) {
      if (persons.includes(this.person)) {
        const invitation = fromHex(id);
        const entry: Entry = { entry: { case: "reply", value: { invitation, person } } };
        mine.push({ post: { case: "invitation", value: invitation }, entry });
      }
    }
    for (const table of this.#chains(entries)) {
      const post = { case: "table", value: table } as const;
      mine.push({ post, entry: { entry: post } });
    }
    return mine.flatMap(({ post, entry }) => (there.has(keyOf(entry)) ? [] : [post]));
  }

  /** The tables that the person may post, in the order in which a room takes them: it has chains, which grow at both ends. */
  #chains(entries: readonly RoomEntry[]): Uint8Array[] {
    const there = entries.flatMap(({ entry }) => (entry.case === "table" ? [readTable(entry.value)] : []));
    return [...this.tables].flatMap(([id, known]) => {
      const [first] = known.values();
      if (first === undefined || !readTable(first).seats.some((seat) => seat.secretSha256 === this.person)) {
        return [];
      }
      const plies = there.filter((table) => table.id === id).map(({ ply }) => ply);
      return postingOrder([...known.keys()], plies).flatMap((ply) => known.get(ply) ?? []);
    });
  }
}

/** Return the milliseconds until a room can be followed again; undefined: the error is final. `attempt`: from 0. */
export function pauseBefore(attempt: number, error: ChatiereError): number | undefined {
  const isBroken = error instanceof TransportError && BROKEN.includes(error.code);
  if (error.retryAfterMs === undefined && !isBroken) {
    return undefined;
  }
  return Math.max(error.retryAfterMs ?? 0, Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** attempt));
}

function keyOf(entry: Entry): string {
  return toText(toBinary(RoomEntrySchema, create(RoomEntrySchema, entry)));
}
