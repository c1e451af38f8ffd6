import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";

import type { SuggestResponse } from "./generated/chatiere/v1/bot_service_pb.js";
import type { ViewerUpdate } from "./generated/chatiere/v1/game_pb.js";
import {
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

const SECRET_SIZE = 16;
const SECRET = /^[0-9a-f]{32}$/;

/**
 * A seat at one sealed table, or at several one after another.
 *
 * Its store has the secret of the seat, made or taken with it, and of every table that the seat has acknowledged or made under
 * Acknowledgement.NEXT which it was at which ply, so that it never acknowledges two of one ply, whatever happens
 * between: neither two children of one parent nor two branches that others made together.
 *
 * The tables are bytes, as the service returns them (textOf makes links of them): give the newest to the other players.
 * The same move on the same table gives the same bytes. "Those of a table" are the reasons INVALID_TABLE,
 * TABLE_EXPIRED, WRONG_SECRET, NOT_ACKNOWLEDGED and UNSUPPORTED_RULES_VERSION.
 */
export class SealedSeat {
  private constructor(
    private readonly tables: Client<typeof TableService>,
    private readonly store: SeatStore,
    /** The secret of the seat, 16 bytes: for nobody but the service. */
    readonly secret: Uint8Array,
    /** The seat as a new table needs it: the SHA-256 of its secret, which may be shown to everybody. */
    readonly seat: TableSeat,
  ) {}

  /** Take a seat; see Chatiere.takeSeat. */
  static async take(tables: Client<typeof TableService>, store: SeatStore, secret?: Uint8Array): Promise<SealedSeat> {
    if (secret !== undefined && secret.length !== SECRET_SIZE) {
      throw new RangeError(`a secret has ${SECRET_SIZE} bytes, not ${secret.length}`);
    }
    const text = await store.keep("secret", toHex(secret ?? crypto.getRandomValues(new Uint8Array(SECRET_SIZE))));
    if (!SECRET.test(text)) {
      throw new Error("the store is not that of a seat");
    }
    if (secret !== undefined && text !== toHex(secret)) {
      throw new Error("the store is that of another seat");
    }
    const kept = fromHex(text);
    const seat = create(TableSeatSchema, { holder: { case: "secretSha256", value: await sha256(kept) } });
    return new SealedSeat(tables, store, kept, seat);
  }

  /**
   * Begin a game at a new table. `request`: game, acknowledgement, and `seats`: their holders, `seat` of each player's
   * own client, or a bot; `players` is their number.
   *
   * Returns the table and the secrets that the service made, for empty seats: give each to its player alone, who takes
   * the seat with it. Reasons: UNKNOWN_GAME, INVALID_PLAYERS,
   * INVALID_OPTION, INVALID_BOT, BATCH_TOO_LARGE, INVALID_TERMS, MISSING_FIELD.
   */
  newTable(request: MessageInitShape<typeof NewTableRequestSchema>): Promise<NewTableResponse> {
    return this.tables.newTable({ ...request, players: request.seats?.length ?? 0 });
  }

  /** Look at an open table, with the events of its last decision. Reasons: those of a table. */
  async look(table: Uint8Array): Promise<ViewerUpdate> {
    const { update } = await this.tables.look({ table, secret: this.secret });
    return given(update, "update");
  }

  /**
   * Make a decision: the seat's own or, without an action, that of the bot whose turn it is.
   *
   * Returns the new table and, if it is open, the seat's update. Reasons: those of a table, WRONG_TURN,
   * GAME_OVER, MISSING_FIELD, INVALID_ACTION, ACTION_MISMATCH, ILLEGAL_ACTION, INVALID_BOT, BATCH_TOO_LARGE. Rejects
   * with ForkError if the seat made or acknowledged another table of the new one's ply.
   */
  async move(table: Uint8Array, move?: Move): Promise<MoveResponse> {
    const action = typeof move === "number" ? { id: move } : move;
    const response = await this.tables.move({ table, secret: this.secret, ...(action && { action }) });
    await this.#keep(response.table);
    return response;
  }

  /**
   * Acknowledge a table, unless another one of its ply was; return it with the acknowledgement.
   *
   * Reasons: INVALID_TABLE, TABLE_EXPIRED, WRONG_SECRET. Rejects with ForkError.
   */
  async acknowledge(table: Uint8Array): Promise<Uint8Array> {
    const response = await this.tables.acknowledge({ table, secret: this.secret });
    // Only what the service found authentic is kept, and nobody gets the acknowledgement before it is.
    await this.#keep(response.table);
    return response.table;
  }

  /**
   * Ask a bot for an action of the seat, based on what the seat may know. `bot`: such as "ismcts:simulations=500".
   *
   * Reasons: those of a table, WRONG_TURN, GAME_OVER, INVALID_BOT, BATCH_TOO_LARGE.
   */
  async suggest(table: Uint8Array, bot: string): Promise<SuggestResponse> {
    const { suggestion } = await this.tables.suggestMove({ table, secret: this.secret, bot });
    return given(suggestion, "suggestion");
  }

  /**
   * Return the record of a game that is over. `tables`: those of all plies, in order.
   *
   * Reasons: INVALID_TABLE, TABLE_EXPIRED, NOT_ACKNOWLEDGED, UNSUPPORTED_RULES_VERSION, INVALID_HISTORY, GAME_NOT_OVER,
   * MISSING_FIELD.
   */
  async getRecord(tables: Uint8Array[]): Promise<TableRecord> {
    const { record } = await this.tables.getRecord({ tables });
    return given(record, "record");
  }

  #keep(table: Uint8Array): Promise<void> {
    return promise(table, (key, text) => this.store.keep(key, text));
  }
}
