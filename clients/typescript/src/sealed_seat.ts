import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";

import type { SuggestResponse } from "./generated/chatiere/v1/bot_service_pb.js";
import type { ViewerUpdate } from "./generated/chatiere/v1/game_pb.js";
import {
  type AmendRequestSchema,
  type MoveResponse,
  type NewTableRequestSchema,
  type NewTableResponse,
  type TableRecord,
  type TableSeat,
  TableSeatSchema,
  type TableService,
} from "./generated/chatiere/v1/table_service_pb.js";
import { given } from "./given.js";
import type { Move } from "./host_table.js";
import type { SeatStore } from "./seat_store.js";
import { fromHex, sha256, toHex } from "./shared/bytes.js";
import { promise } from "./shared/promises.js";
import { readTable } from "./shared/sealed_table.js";

const SECRET_SIZE = 16;
const SECRET = /^[0-9a-f]{32}$/;

/**
 * A seat at one sealed table, or at several in succession.
 *
 * The seat's store contains the secret. It also contains the ply and the hash of each table that the seat made or
 * acknowledged under Acknowledgement.NEXT. Therefore the seat never acknowledges two different tables of the same ply,
 * even after a restart. This rule covers two children of one parent as well as two branches that other players made
 * together.
 *
 * Tables are bytes, as returned by the service. Send the newest table to the other players. textOf converts a table to
 * text for links. The same move at the same table gives the same bytes. "Table errors" are the reasons INVALID_TABLE,
 * TABLE_EXPIRED, WRONG_SECRET, NOT_ACKNOWLEDGED and UNSUPPORTED_RULES_VERSION.
 */
export class SealedSeat {
  private constructor(
    private readonly tables: Client<typeof TableService>,
    private readonly store: SeatStore,
    /** The secret of the seat, 16 bytes. Send it only to the service. */
    readonly secret: Uint8Array,
    /** The seat as needed for a new table. It contains only the SHA-256 of the secret, so it may be public. */
    readonly seat: TableSeat,
  ) {}

  /** Take a seat; see Chatiere.takeSeat. */
  static async take(tables: Client<typeof TableService>, store: SeatStore, secret?: Uint8Array): Promise<SealedSeat> {
    if (secret !== undefined && secret.length !== SECRET_SIZE) {
      throw new RangeError(`a secret has ${SECRET_SIZE} bytes, not ${secret.length}`);
    }
    const text = await store.keep("secret", toHex(secret ?? crypto.getRandomValues(new Uint8Array(SECRET_SIZE))));
    if (!SECRET.test(text)) {
      throw new Error("the store does not belong to a seat");
    }
    if (secret !== undefined && text !== toHex(secret)) {
      throw new Error("the store belongs to another seat");
    }
    const kept = fromHex(text);
    const seat = create(TableSeatSchema, { holder: { case: "secretSha256", value: await sha256(kept) } });
    return new SealedSeat(tables, store, kept, seat);
  }

  /**
   * Start a game at a new table. Returns the table and the secrets that the service generated for empty seats. Give
   * each secret only to its player. The player passes the secret to takeSeat.
   *
   * @param request - The game, the acknowledgement and the seats. A seat is held by a bot or by a player. For a player,
   * pass `seat` of the SealedSeat that the player's own client created. The number of players is the number of seats.
   *
   * @throws ChatiereError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_OPTION, INVALID_BOT, BATCH_TOO_LARGE, INVALID_TERMS,
   * MISSING_FIELD.
   */
  newTable(request: MessageInitShape<typeof NewTableRequestSchema>): Promise<NewTableResponse> {
    return this.tables.newTable({ ...request, players: request.seats?.length ?? 0 });
  }

  /**
   * Return the view of an open table and the events of its last decision.
   *
   * @throws ChatiereError: table errors.
   */
  async look(table: Uint8Array): Promise<ViewerUpdate> {
    const { update } = await this.tables.look({ table, secret: this.secret });
    return given(update, "update");
  }

  /**
   * Make a decision for this seat. If `move` is absent, let the bot whose turn it is make a decision.
   *
   * Returns the new table. If the table is open, also returns the seat's update.
   *
   * @throws ChatiereError: table errors, WRONG_TURN, GAME_OVER, MISSING_FIELD, INVALID_ACTION, ACTION_MISMATCH,
   * ILLEGAL_ACTION, INVALID_BOT, BATCH_TOO_LARGE. Rejects with ForkError if the seat already made or acknowledged
   * another table of the new table's ply.
   */
  async move(table: Uint8Array, move?: Move): Promise<MoveResponse> {
    const action = typeof move === "number" ? { id: move } : move;
    const response = await this.tables.move({ table, secret: this.secret, ...(action && { action }) });
    await this.#keep(response.table);
    return response;
  }

  /**
   * Acknowledge a table, unless the seat acknowledged another table of the same ply. Returns the table with the
   * acknowledgement.
   *
   * @throws ChatiereError: INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET. Rejects with ForkError.
   */
  async acknowledge(table: Uint8Array): Promise<Uint8Array> {
    const response = await this.tables.acknowledge({ table, secret: this.secret });
    // Only a table that the service accepted as authentic is stored, and it is stored before the acknowledgement is
    // returned.
    await this.#keep(response.table);
    return response.table;
  }

  /**
   * Give a seat to another person or to a bot. Returns the amended table. The other seats have to acknowledge it.
   *
   * @param seat - This seat's own number, to resign. At a table that allows replacement, it may also be another seat.
   * @param holder - `seat` of the person's client, or a bot.
   *
   * @throws ChatiereError: INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET, NOT_ACKNOWLEDGED, INVALID_TERMS, INVALID_BOT,
   * BATCH_TOO_LARGE, MISSING_FIELD. Rejects with ForkError as `move` does.
   */
  replace(table: Uint8Array, seat: number, holder: MessageInitShape<typeof TableSeatSchema>): Promise<Uint8Array> {
    return this.#amend({ table, amendment: { case: "replacement", value: { seat, holder } } });
  }

  /**
   * Take decisions back, so that the game continues from the position of an earlier table. Returns the amended table.
   * The other seats have to acknowledge it.
   *
   * @param tables - The earlier table and all tables after it, from the oldest to the newest; at most 129 tables. The
   *   game must have Acknowledgement.NONE.
   *
   * @throws ChatiereError: table errors, INVALID_TERMS, GAME_OVER, INVALID_HISTORY, MISSING_FIELD. Rejects with
   * RangeError if `tables` is empty or some bytes are not a table.
   */
  async takeBack(tables: readonly Uint8Array[]): Promise<Uint8Array> {
    const [first, newest] = [tables[0], tables.at(-1)];
    if (first === undefined || newest === undefined) {
      throw new RangeError("no tables were given");
    }
    const amendment = { case: "takeBack", value: { ply: readTable(first).ply } } as const;
    return this.#amend({ table: newest, amendment, earlier: tables.slice(0, -1) });
  }

  async #amend(request: MessageInitShape<typeof AmendRequestSchema>): Promise<Uint8Array> {
    const { table } = await this.tables.amend({ ...request, secret: this.secret });
    await this.#keep(table);
    return table;
  }

  /**
   * Return a bot's suggestion for this seat, based only on information that the seat may know.
   *
   * @param bot - The bot, for example "ismcts:simulations=500".
   *
   * @throws ChatiereError: table errors, WRONG_TURN, GAME_OVER, INVALID_BOT, BATCH_TOO_LARGE.
   */
  async suggest(table: Uint8Array, bot: string): Promise<SuggestResponse> {
    const { suggestion } = await this.tables.suggestMove({ table, secret: this.secret, bot });
    return given(suggestion, "suggestion");
  }

  /**
   * Return the record of a game that is over.
   *
   * @param tables - The tables of all plies, in order.
   *
   * @throws ChatiereError: INVALID_TABLE, TABLE_EXPIRED, NOT_ACKNOWLEDGED, UNSUPPORTED_RULES_VERSION, INVALID_HISTORY,
   * GAME_NOT_OVER, MISSING_FIELD.
   */
  async getRecord(tables: Uint8Array[]): Promise<TableRecord> {
    const { record } = await this.tables.getRecord({ tables });
    return given(record, "record");
  }

  #keep(table: Uint8Array): Promise<void> {
    return promise(table, (key, text) => this.store.keep(key, text));
  }
}
