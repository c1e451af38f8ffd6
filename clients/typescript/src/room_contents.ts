import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";

import { type ChatiereError, TransportError } from "./errors.js";
import {
  type FollowResponse,
  type PostRequest,
  type RoomEntry,
  RoomEntrySchema,
  type RoomSettings,
} from "./generated/chatiere/v1/room_service_pb.js";
import { fromHex, fromText, toHex, toText } from "./shared/bytes.js";
import { postingOrder } from "./shared/posting.js";
import { merged, missingSeats, readTable } from "./shared/sealed_table.js";

/** An entry of a room. */
export type Entry = MessageInitShape<typeof RoomEntrySchema>;
/** The content of a post. */
export type Post = Exclude<PostRequest["post"], { case: undefined }>;

const FIRST_PAUSE = 100;
const MAX_PAUSE = 5000;
/** Each pause is multiplied by a random factor between 1 and this number. */
const LONGER = 1.5;
/** The maximum number of strangers' names, and of strangers' replies. */
const MAX_STRANGERS = 1000;
/** The maximum number of games that are not the room's own. */
const MAX_FOREIGN_GAMES = 64;
/** The codes of calls whose connection broke or is silent. connect-node reports a reset as Aborted. */
const BROKEN = [Code.Unavailable, Code.Canceled, Code.Aborted, Code.DeadlineExceeded, Code.Unknown, Code.Internal];

/**
 * The contents of a room as known to one person. A person is identified by the SHA-256 of a secret in base64url, as in
 * `hashText` and in the hashes of an invitation. Some contents are limited to the newest ones. These are 64 games that
 * are not the room's own, and 1,000 names and 1,000 replies of persons without a seat in the room's own games.
 */
export class RoomContents {
  /** The name of each person. Show names only as text, never as HTML. */
  readonly names = new Map<string, string>();
  /** The persons who accepted each invitation, in chronological order, for the id of each invitation. */
  readonly replies = new Map<string, string[]>();
  /** The table of each ply, for each table id in hexadecimal. */
  readonly tables = new Map<string, Map<number, Uint8Array>>();
  /** The amended table of the next ply that still needs acknowledgements, if any, for each table id in hexadecimal. */
  readonly proposals = new Map<string, Uint8Array>();
  /**
   * The time when the room first accepted each table, in milliseconds since 1970, for each table id in hexadecimal and
   * each ply.
   */
  readonly times = new Map<string, Map<number, number>>();
  /** The settings of the next games. Undefined if no settings have been posted. */
  settings: RoomSettings | undefined;
  /** The persons who follow the room. */
  people: readonly string[] = [];
  /** The number of followers without a secret. */
  onlookers = 0;
  /** The ids of the room's own games. */
  readonly #ownGames = new Set<string>();
  /** All replies, in chronological order. */
  readonly #replies: { id: string; person: string }[] = [];

  /** Create empty contents for a person. */
  constructor(readonly person: string) {}

  /**
   * Return the table of the newest ply of a game, or undefined if the game has no table.
   *
   * @param id - The table id. Default: the newest of the room's own games, or the newest of all games if the room has
   * no own games.
   */
  newest(id: string | undefined = this.#last()): Uint8Array | undefined {
    const plies = id === undefined ? undefined : this.tables.get(id);
    return plies?.get(Math.max(...plies.keys()));
  }

  /** Return the known tables of the plies between two tables of a game, in order. */
  between(held: Uint8Array, table: Uint8Array): Uint8Array[] {
    const [first, last] = [readTable(held), readTable(table)];
    const known = this.tables.get(last.id);
    const plies = Array.from({ length: Math.max(0, last.ply - first.ply - 1) }, (_, index) => first.ply + 1 + index);
    return plies.flatMap((ply) => known?.get(ply) ?? []);
  }

  /** Add an entry. Throws ForkError if another table of the same ply is known. */
  keep(kept: Entry): void {
    const { entry, isForeign, time } = create(RoomEntrySchema, kept);
    if (entry.case === "name") {
      const person = toText(entry.value.person);
      this.names.delete(person);
      this.names.set(person, entry.value.name);
      this.#excess([...this.names.keys()], (each) => each).forEach((each) => this.names.delete(each));
    } else if (entry.case === "reply") {
      this.#keepReply(toHex(entry.value.invitation), toText(entry.value.person));
    } else if (entry.case === "table" || entry.case === "proposal") {
      this.#keepTable(entry.value, isForeign, time);
    } else if (entry.case === "settings") {
      this.settings = entry.value;
    }
  }

  #keepReply(id: string, person: string): void {
    const persons = this.replies.get(id) ?? [];
    if (!persons.includes(person)) {
      this.replies.set(id, [...persons, person]);
      this.#replies.push({ id, person });
    }
    for (const gone of this.#excess(this.#replies, (each) => each.person)) {
      this.#replies.splice(this.#replies.indexOf(gone), 1);
      const rest = (this.replies.get(gone.id) ?? []).filter((each) => each !== gone.person);
      if (rest.length > 0) {
        this.replies.set(gone.id, rest);
      } else {
        this.replies.delete(gone.id);
      }
    }
  }

  #keepTable(table: Uint8Array, isForeign: boolean, time?: Timestamp): void {
    const { id, ply, amendment } = readTable(table);
    const known = this.tables.get(id) ?? new Map<number, Uint8Array>();
    const proposal = this.proposals.get(id);
    if (amendment && missingSeats(table).length > 0) {
      if (ply === Math.max(-1, ...known.keys()) + 1) {
        const isSame = proposal !== undefined && sameTable(proposal, table);
        this.proposals.set(id, isSame ? merged(proposal, table) : table);
      }
      return;
    }
    if (proposal !== undefined && readTable(proposal).ply <= ply) {
      this.proposals.delete(id);
    }
    known.set(ply, merged(known.get(ply) ?? table, table));
    this.tables.set(id, known);
    const times = this.times.get(id) ?? new Map<number, number>();
    // Keep the first time. The service sends a later time if it forgot the room and created the room again.
    if (time !== undefined && !times.has(ply)) {
      this.times.set(id, times.set(ply, timestampMs(time)));
    }
    if (!isForeign) {
      this.#ownGames.add(id);
    }
    const foreign = [...this.tables.keys()].filter((each) => !this.#ownGames.has(each));
    for (const gone of foreign.slice(0, -MAX_FOREIGN_GAMES)) {
      this.tables.delete(gone);
      this.times.delete(gone);
      this.proposals.delete(gone);
    }
  }

  /** Return the strangers' entries, except the newest MAX_STRANGERS of them. */
  #excess<T>(entries: readonly T[], personOf: (entry: T) => string): T[] {
    if (entries.length <= MAX_STRANGERS) {
      return [];
    }
    const games = [...this.#ownGames].flatMap((id) => [...(this.tables.get(id)?.values() ?? [])].slice(0, 1));
    const seats = games.flatMap((table) => readTable(table).seats.map(({ secretSha256 }) => secretSha256));
    const seated = new Set([this.person, ...seats]);
    return entries.filter((entry) => !seated.has(personOf(entry))).slice(0, -MAX_STRANGERS);
  }

  #last(): string | undefined {
    const ids = [...this.tables.keys()];
    return ids.filter((id) => this.#ownGames.has(id)).at(-1) ?? ids.at(-1);
  }

  /**
   * Add the contents of a response. Return the posts that the person has to repeat. Throws ForkError, as `keep` does.
   */
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
    const there = new Set(entries.map(({ entry }) => keyOf({ entry })));
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
    for (const value of this.#chains(entries)) {
      const post = { case: "table", value } as const;
      mine.push({ post, entry: { entry: post } });
    }
    for (const [id, value] of this.proposals) {
      if (this.#ownGames.has(id) && this.#canPost(value)) {
        mine.push({ post: { case: "table", value }, entry: { entry: { case: "proposal", value } } });
      }
    }
    const areSettingsThere = entries.some(({ entry }) => entry.case === "settings");
    if (this.settings !== undefined && toText(this.settings.person) === this.person && !areSettingsThere) {
      // Post the settings last. If a table is the first post, all its players become the room's people. If the settings
      // are the first post, only the host does.
      const post = { case: "settings", value: this.settings } as const;
      mine.push({ post, entry: { entry: post } });
    }
    return mine.flatMap(({ post, entry }) => (there.has(keyOf(entry)) ? [] : [post]));
  }

  /** Return true if this person holds a seat at the table, or is the person whom the table's amendment replaces. */
  #canPost(table: Uint8Array): boolean {
    const { seats, amendment } = readTable(table);
    return [...seats, amendment?.replacement?.before].some((seat) => seat?.secretSha256 === this.person);
  }

  /** Return the tables of the room's own games to post, in an order in which the room shows each table immediately. */
  #chains(entries: readonly RoomEntry[]): Uint8Array[] {
    const there = entries.flatMap(({ entry }) => (entry.case === "table" ? [readTable(entry.value)] : []));
    return [...this.tables].flatMap(([id, known]) => {
      if (!this.#ownGames.has(id)) {
        return [];
      }
      // Check each table, because amendments can give the person a seat or take it away.
      const own = [...known].flatMap(([ply, table]) => (this.#canPost(table) ? [ply] : []));
      const plies = there.filter((table) => table.id === id).map(({ ply }) => ply);
      return postingOrder(own, plies).flatMap((ply) => known.get(ply) ?? []);
    });
  }
}

/**
 * Return the milliseconds to wait before following a room again, or undefined if the error is final. `attempt` is the
 * number of earlier attempts. The time is partly random, so that the clients of a service do not all return at the same
 * time.
 */
export function pauseBefore(attempt: number, error: ChatiereError): number | undefined {
  const isBroken = error instanceof TransportError && BROKEN.includes(error.code);
  if (error.retryAfterMs === undefined && !isBroken) {
    return undefined;
  }
  const pause = Math.max(error.retryAfterMs ?? 0, Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** attempt));
  return pause * (1 + (LONGER - 1) * Math.random());
}

function sameTable(one: Uint8Array, other: Uint8Array): boolean {
  return toText(readTable(one).content) === toText(readTable(other).content);
}

function keyOf(entry: Entry): string {
  return toText(toBinary(RoomEntrySchema, create(RoomEntrySchema, entry)));
}
