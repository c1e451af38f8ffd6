import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";

import { type Analysis, analyse } from "./analysis.js";
import { type AnalysedDecision, BotService } from "./generated/chatiere/v1/bot_service_pb.js";
import { GameService, type NewGameRequestSchema } from "./generated/chatiere/v1/game_service_pb.js";
import type { GameRecord } from "./generated/chatiere/v1/record_pb.js";
import { RoomService } from "./generated/chatiere/v1/room_service_pb.js";
import { TableService } from "./generated/chatiere/v1/table_service_pb.js";
import { HostTable } from "./host_table.js";
import { Room } from "./room.js";
import { SealedSeat } from "./sealed_seat.js";
import type { SeatStore } from "./seat_store.js";
import { callingTransport, doorTransport } from "./transport.js";

/** Where the service is, and how it is called. */
export interface Settings {
  /** The languages wanted for labels and ChatiereError.localized, as in HTTP: "fr", or "fr-CA, en;q=0.5". The service
   *  speaks English and French. Absent: those that the browser asks for. */
  readonly language?: string;
  /** The bearer token, if the service requires one. Everybody who has the page has it, too. */
  readonly token?: string;
  /** The milliseconds that a call may take, retries included, unless it has a `timeoutMs` of its own: 10,000. */
  readonly timeoutMs?: number;
  /** How often a call is made at most while the service is unavailable: 5. */
  readonly attempts?: number;
}

/** A client of the service. Calls reject with ChatiereError or, where the service did not respond, TransportError. */
export class Chatiere {
  /** GameService: all its calls as they are. */
  readonly games: Client<typeof GameService>;
  /** BotService. */
  readonly bots: Client<typeof BotService>;
  /** TableService. */
  readonly tables: Client<typeof TableService>;
  /** RoomService. */
  readonly rooms: Client<typeof RoomService>;
  /** The transport of the calls, retries and errors included: for createClient of Connect. */
  readonly transport: Transport;

  /**
   * `service`: the URL of its door for browsers (`chatiere serve --web-address`), or any transport of Connect, such as
   * createGrpcTransport of @connectrpc/connect-node.
   */
  constructor(service: string | Transport, { language, token, timeoutMs = 10_000, attempts = 5 }: Settings = {}) {
    const headers = {
      ...(language !== undefined && { "accept-language": language }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const inner = typeof service === "string" ? doorTransport(service) : service;
    this.transport = callingTransport(inner, { headers, timeoutMs, attempts });
    this.games = createClient(GameService, this.transport);
    this.bots = createClient(BotService, this.transport);
    this.tables = createClient(TableService, this.transport);
    this.rooms = createClient(RoomService, this.transport);
  }

  /** Begin a game, as its host. `request`: game and players, perhaps options, seed …; `include` is set by the table. */
  newGame(request: MessageInitShape<typeof NewGameRequestSchema>): Promise<HostTable> {
    return HostTable.begin(this.games, request);
  }

  /** Go on with a game as its host, from where its record ends. */
  resume(record: GameRecord): Promise<HostTable> {
    return HostTable.resume(this.games, record);
  }

  /** Analyse the decisions of a record, or of a stretch of it; yields them as they come. */
  analyse(record: GameRecord, analysis: Analysis = {}): AsyncGenerator<AnalysedDecision, void> {
    return analyse(this.bots, record, analysis);
  }

  /**
   * Take a seat at sealed tables: that of `store` or, if it has none yet, a new one.
   *
   * `secret`: that of the seat, 16 bytes, if the service made it (NewTableResponse.secrets); without it a new seat's is
   * made here. Rejects for a store that has something else as the secret, and with RangeError for a secret of another
   * size.
   */
  takeSeat(store: SeatStore, secret?: Uint8Array): Promise<SealedSeat> {
    return SealedSeat.take(this.tables, store, secret);
  }

  /**
   * Enter a room. `room`: its id, `newRoomId()` for a new one; `seat`: that of the person, if it has one. Throws RangeError for
   * an id that is not base64url.
   */
  enter(room: string, seat?: SealedSeat): Promise<Room> {
    return Room.enter(this.rooms, room, seat?.secret);
  }
}
