import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError } from "@connectrpc/connect";

import { ChatiereError, TransportError } from "./errors.js";
import {
  type FollowResponse,
  type PostResponse,
  type RoomService,
  RoomSettingsSchema,
} from "./generated/chatiere/v1/room_service_pb.js";
import { pauseBefore, type Post, RoomContents } from "./room_contents.js";
import { fromHex, fromText, sha256, toText } from "./shared/bytes.js";

const SIZE = 16;
/**
 * The time without a response after which the connection is considered broken, in milliseconds. The service sends a
 * response every 15 s.
 */
const SILENCE = 45_000;

/** Return the id of a new room as text for links: 16 random bytes in base64url. In a URL, put the id after the #. */
export function newRoomId(): string {
  return toText(crypto.getRandomValues(new Uint8Array(SIZE)));
}

/**
 * A client for one person in a room. People in a room play at sealed tables. Anyone who has the room's id can enter.
 *
 * The service sends every post to everyone who follows the room. It forgets a room that has not been used for a day,
 * and all rooms when it stops. Every Room that follows the room then posts its contents again. All methods may reject
 * with the reasons MISSING_FIELD, INVALID_ROOM and LIMIT_EXCEEDED. If the service has no rooms, they reject with a
 * TransportError with Code.Unimplemented.
 */
export class Room {
  readonly #closing = new AbortController();

  private constructor(
    private readonly rooms: Client<typeof RoomService>,
    private readonly room: Uint8Array,
    private readonly secret: Uint8Array,
    /** The contents of the room, as received by `follow` or posted by this Room. */
    readonly contents: RoomContents,
  ) {}

  /** Enter a room; see Chatiere.enter. */
  static async enter(rooms: Client<typeof RoomService>, room: string, secret?: Uint8Array): Promise<Room> {
    const own = secret ?? crypto.getRandomValues(new Uint8Array(SIZE));
    return new Room(rooms, fromText(room), own, new RoomContents(toText(await sha256(own))));
  }

  /** Post the person's name, 1 to 24 characters. */
  async postName(name: string): Promise<void> {
    await this.#post({ case: "name", value: name });
    this.contents.keep({ entry: { case: "name", value: { person: fromText(this.contents.person), name } } });
  }

  /** Accept an invitation, given by its id of 16 hexadecimal digits. Throws RangeError for any other text. */
  async postReply(id: string): Promise<void> {
    const invitation = fromHex(id);
    await this.#post({ case: "invitation", value: invitation });
    this.contents.keep({ entry: { case: "reply", value: { person: fromText(this.contents.person), invitation } } });
  }

  /**
   * Post the settings of the next games (game, players, options, acknowledgement), so that people see the settings
   * before they take seats. In a new room, anyone may post settings. After the first settings or table, only the person
   * who posted them and the people who play in the room's games may post settings. Returns false if the room did not
   * accept the settings.
   *
   * @throws ChatiereError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_OPTION.
   */
  async postSettings(settings: MessageInitShape<typeof RoomSettingsSchema>): Promise<boolean> {
    const value = create(RoomSettingsSchema, settings);
    value.person = fromText(this.contents.person);
    const { taken } = await this.#post({ case: "settings", value });
    if (taken) {
      this.contents.keep({ entry: { case: "settings", value } });
    }
    return taken;
  }

  /**
   * Post a table. Returns whether the room accepted it, and the table that the room holds.
   *
   * @throws ChatiereError: INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET. Rejects with ForkError if this client already
   * received another table of the same ply.
   */
  async postTable(table: Uint8Array): Promise<PostResponse> {
    const post = { case: "table", value: table } as const;
    let response = await this.#post(post);
    // If the service forgot the room and created it again, tables are missing until the followers have posted their
    // tables.
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
   * Yield the changes in the room, after adding them to `contents`, until the Room is closed.
   *
   * If the connection breaks or the service stops, the method reconnects, without a time limit. It rejects with
   * ChatiereError if the service refuses the call for any other reason, and with ForkError if two different tables of
   * the same ply are received.
   */
  async *follow(): AsyncGenerator<FollowResponse, void> {
    let cursor: Uint8Array = new Uint8Array();
    for (let attempt = 0; !this.#closing.signal.aborted; attempt++) {
      const ending = new AbortController();
      const end = () => ending.abort();
      const silent = () => ending.abort(new ConnectError("the service is silent", Code.DeadlineExceeded));
      let timer = setTimeout(silent, SILENCE);
      this.#closing.signal.addEventListener("abort", end);
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
        this.#closing.signal.removeEventListener("abort", end);
        end();
      }
    }
  }

  /** Leave the room. This ends `follow` and all other calls in flight. */
  close(): void {
    this.#closing.abort();
  }

  async #pauseAfter(attempt: number, reason: unknown): Promise<void> {
    if (this.#closing.signal.aborted) {
      return;
    }
    const pause = reason instanceof ChatiereError ? pauseBefore(attempt, reason) : undefined;
    if (pause === undefined) {
      throw reason;
    }
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#closing.signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, pause);
      this.#closing.signal.addEventListener("abort", end);
    });
  }

  #post(post: Post): Promise<PostResponse> {
    return this.rooms.post({ room: this.room, secret: this.secret, post }, { signal: this.#closing.signal });
  }

  async #postAgain(post: Post): Promise<void> {
    try {
      await this.#post(post);
    } catch (error) {
      // Ignore a refused post, for example of an expired table.
      if (error instanceof TransportError || !(error instanceof ChatiereError)) {
        throw error;
      }
    }
  }
}
