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
// A pause is at most this many times as long.
const LONGER = 1.5;
/** The maximum numbers of names and of replies of strangers, and of games that are not the room's own. */
const MAX_STRANGERS = 1000;
const MAX_FOREIGN_GAMES = 64;
/** The codes with which a call may end when its connection breaks. */
const BROKEN = [Code.Unavailable, Code.Canceled, Code.Unknown, Code.Internal];

/**
 * The contents of a room as known to one person. A person is identified by the SHA-256 of a secret in base64url, as in `hashText` and in
 * the hashes of an invitation. For games that are not the room's own, and for persons without a seat in the room's own
 * games, only the newest contents are kept: 64 games, 1,000 names and 1,000 replies.
 */
export class RoomContents {
  /** The names of persons. Show them only as text. */
  readonly names = new Map<string, string>();
  /** By invitation id, the persons who accepted it, in chronological order. */
  readonly replies = new Map<string, string[]>();
  /** The tables, by table id, in hexadecimal, and ply. */
  readonly tables = new Map<string, Map<number, Uint8Array>>();
  /** By table id, in hexadecimal, the amended table of the next ply that still needs acknowledgements. */
  readonly proposals = new Map<string, Uint8Array>();
  /**
   * By table id, in hexadecimal, and ply, the time at which the room first accepted the table, in milliseconds since 1970.
   */
  readonly times = new Map<string, Map<number, number>>();
  /** The settings of the next games; undefined if no settings have been posted. */
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
   * Return the table of the newest ply of a game; undefined if the game has no table.
   *
   * @param id - The table id. Default: the newest of the room's own games or, if it has no own games, the newest of all games.
   */
  newest(id: string | undefined = this.#last()): Uint8Array | undefined {
    const plies = id === undefined ? undefined : this.tables.get(id);
    return plies?.get(Math.max(...plies.keys()));
  }

  /** Return the known tables between two tables of a game, in order, for a room that holds only the first one. */
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
    // A room that was forgotten and created again has a later time for the table.
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

  /** Return all entries of strangers except the newest ones. */
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

  /** Add the contents of a response. Returns the posts that the person has to repeat. Throws ForkError, as `keep` does. */
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
      // Post the settings last: the tables make all players people of the room, but the settings only the host.
      const post = { case: "settings", value: this.settings } as const;
      mine.push({ post, entry: { entry: post } });
    }
    return mine.flatMap(({ post, entry }) => (there.has(keyOf(entry)) ? [] : [post]));
  }

  /** Return whether a room takes a table from this person: the holder of a seat, or the person whom an amendment replaces. */
  #canPost(table: Uint8Array): boolean {
    const { seats, amendment } = readTable(table);
    return [...seats, amendment?.replacement?.before].some((seat) => seat?.secretSha256 === this.person);
  }

  /** Return the tables of the room's own games to post, in an order in which the room shows each one immediately. */
  #chains(entries: readonly RoomEntry[]): Uint8Array[] {
    const there = entries.flatMap(({ entry }) => (entry.case === "table" ? [readTable(entry.value)] : []));
    return [...this.tables].flatMap(([id, known]) => {
      if (!this.#ownGames.has(id)) {
        return [];
      }
      // An amendment may have given the person a seat, or taken the seat away.
      const own = [...known].flatMap(([ply, table]) => (this.#canPost(table) ? [ply] : []));
      const plies = there.filter((table) => table.id === id).map(({ ply }) => ply);
      return postingOrder(own, plies).flatMap((ply) => known.get(ply) ?? []);
    });
  }
}

/**
 * Return the milliseconds to wait before following a room again; undefined if the error is final. `attempt` counts from
 * 0. The time is partly random, so that the clients of a service do not all return at the same time.
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
