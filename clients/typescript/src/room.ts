import { type Client, ConnectError } from "@connectrpc/connect";

import { ChatiereError, errorOf, TransportError } from "./errors.js";
import {
  type FollowResponse,
  type PostResponse,
  type RoomService,
} from "./generated/chatiere/v1/room_service_pb.js";
import { pauseBefore, type Post, RoomContents } from "./room_contents.js";
import { fromHex, fromText, sha256, toText } from "./shared/bytes.js";
import { ForkError } from "./shared/fork_error.js";

const SIZE = 16;
/** The milliseconds without a response after which the connection counts as broken: the service sends one every 15 s. */
const SILENCE = 45_000;

/** Return the id of a new room, as text for links: 16 random bytes in base64url. In a URL it stands behind the #. */
export function newRoomId(): string {
  return toText(crypto.getRandomValues(new Uint8Array(SIZE)));
}

/**
 * A room of people who play at sealed tables, and a person there. Everybody who has the room's id is in it.
 *
 * Everybody there gets each post; the service forgets posts when nobody has used the room for a day, or when it stops.
 * Then each Room that follows posts again what it knows, and the room continues. Reasons of all methods: MISSING_FIELD,
 * INVALID_ROOM, LIMIT_EXCEEDED; a service without rooms is a TransportError with Code.Unimplemented.
 */
export class Room {
  readonly #closing = new AbortController();

  private constructor(
    private readonly rooms: Client<typeof RoomService>,
    private readonly room: Uint8Array,
    private readonly secret: Uint8Array,
    /** The contents of the room, as far as `follow` received or this room posted them. */
    readonly contents: RoomContents,
  ) {}

  /** Enter a room; see Chatiere.enter. */
  static async enter(rooms: Client<typeof RoomService>, room: string, secret?: Uint8Array): Promise<Room> {
    const own = secret ?? crypto.getRandomValues(new Uint8Array(SIZE));
    return new Room(rooms, fromText(room), own, new RoomContents(toText(await sha256(own))));
  }

  /** Post the name of the person: 1 to 24 characters. */
  async postName(name: string): Promise<void> {
    await this.#post({ case: "name", value: name });
    this.contents.keep({ entry: { case: "name", value: { person: fromText(this.contents.person), name } } });
  }

  /** Accept an invitation, by its id: 16 hexadecimal digits. Throws RangeError for another text. */
  async postReply(id: string): Promise<void> {
    const invitation = fromHex(id);
    await this.#post({ case: "invitation", value: invitation });
    this.contents.keep({ entry: { case: "reply", value: { person: fromText(this.contents.person), invitation } } });
  }

  /**
   * Show a table to all in the room; return whether it was taken, and the one that the room holds.
   *
   * Reasons: INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET. Rejects with ForkError if another table of its ply was followed.
   */
  async postTable(table: Uint8Array): Promise<PostResponse> {
    const post = { case: "table", value: table } as const;
    let response = await this.#post(post);
    // A room that has begun anew lacks tables until those who follow it have posted them again.
    const lacking = response.taken || response.table === undefined ? [] : this.contents.between(response.table, table);
    for (const value of lacking) {
      await this.#postAgain({ case: "table", value });
    }
    if (lacking.length > 0) {
      response = await this.#post(post);
    }
    if (response.table !== undefined) {
      this.contents.keep({ entry: { case: "table", value: response.table } });
    }
    return response;
  }

  /**
   * Yield everything new in the room, after `contents` has it, until the Room is closed.
   *
   * It follows again when the connection breaks or the service stops, for as long as it takes. Rejects with ChatiereError for
   * other refusals, and with ForkError for a second table of a ply.
   */
  async *follow(): AsyncGenerator<FollowResponse, void> {
    let cursor: Uint8Array = new Uint8Array();
    for (let attempt = 0; !this.#closing.signal.aborted; attempt++) {
      const ending = new AbortController();
      const silent = () => ending.abort();
      let timer = setTimeout(silent, SILENCE);
      this.#closing.signal.addEventListener("abort", silent);
      try {
        const request = { room: this.room, secret: this.secret, cursor };
        for await (const response of this.rooms.follow(request, { signal: ending.signal })) {
          clearTimeout(timer);
          for (const post of this.contents.take(response)) {
            await this.#postAgain(post);
          }
          cursor = response.cursor;
          attempt = 0;
          if (response.entries.length > 0 || response.presence !== undefined) {
            yield response;
          }
          timer = setTimeout(silent, SILENCE);
        }
      } catch (reason) {
        await this.#pauseAfter(attempt, reason);
      } finally {
        clearTimeout(timer);
        this.#closing.signal.removeEventListener("abort", silent);
        ending.abort();
      }
    }
  }

  /** Leave the room, which ends `follow`. */
  close(): void {
    this.#closing.abort();
  }

  async #pauseAfter(attempt: number, reason: unknown): Promise<void> {
    if (this.#closing.signal.aborted) {
      return;
    }
    if (reason instanceof ForkError) {
      throw reason;
    }
    const error = reason instanceof ChatiereError ? reason : errorOf(ConnectError.from(reason));
    const pause = pauseBefore(attempt, error);
    if (pause === undefined) {
      throw error;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pause);
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#closing.signal.addEventListener("abort", end, { once: true });
    });
  }

  #post(post: Post): Promise<PostResponse> {
    return this.rooms.post({ room: this.room, secret: this.secret, post });
  }

  async #postAgain(post: Post): Promise<void> {
    try {
      await this.#post(post);
    } catch (error) {
      // Without a table that has expired, and the like, the room goes on.
      if (error instanceof TransportError || !(error instanceof ChatiereError)) {
        throw error;
      }
    }
  }
}
