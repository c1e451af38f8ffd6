import { type Client, createClient, type Transport } from "@connectrpc/connect";

import { type Analysis, analyse } from "./analysis.js";
import { type AnalysedDecision, BotService } from "./generated/chatiere/v1/bot_service_pb.js";
import { GameService } from "./generated/chatiere/v1/game_service_pb.js";
import type { GameRecord } from "./generated/chatiere/v1/record_pb.js";
import { RoomService } from "./generated/chatiere/v1/room_service_pb.js";
import { TableService } from "./generated/chatiere/v1/table_service_pb.js";
import { HostTable, type Inclusion, type NewGame } from "./host_table.js";
import { Room } from "./room.js";
import { SealedSeat } from "./sealed_seat.js";
import type { SeatStore } from "./seat_store.js";
import { callingTransport, doorTransport } from "./transport.js";

/** The settings of a client. */
export interface Settings {
  /**
   * The requested languages for labels and ChatiereError.localized, in the syntax of HTTP's Accept-Language: "fr", or
   * "fr-CA, en;q=0.5". The service supports English and French. Default: the languages that the browser requests.
   */
  readonly language?: string;
  /** The bearer token, if the service requires one. All users of a page that contains the token can read it. */
  readonly token?: string;
  /**
   * The time limit of a call in milliseconds, including retries, unless the call has a `timeoutMs`. Default: 10,000.
   */
  readonly timeoutMs?: number;
  /** The maximum number of attempts at a call while the service is unavailable. Default: 5. */
  readonly attempts?: number;
}

/**
 * A client of the service. Calls reject with ChatiereError, and with TransportError if the service did not respond. If
 * a value is out of range for its field, for example a negative seed or a fractional seat, the call sends no request
 * and rejects with RangeError.
 */
export class Chatiere {
  /** The client of GameService, with all its calls. */
  readonly games: Client<typeof GameService>;
  /** The client of BotService. */
  readonly bots: Client<typeof BotService>;
  /** The client of TableService. */
  readonly tables: Client<typeof TableService>;
  /** The client of RoomService. */
  readonly rooms: Client<typeof RoomService>;
  /**
   * The transport of the calls, for Connect's createClient. It retries calls, and throws the errors of this package.
   */
  readonly transport: Transport;

  /**
   * Create a client.
   *
   * @param service - The URL of the service's web door (`chatiere serve --web-address`), a Connect transport
   *   (for example by createGrpcTransport of @connectrpc/connect-node), or a function that creates the transport. The
   *   function is called again if a call gets no response in time, because the connection may be dead.
   */
  constructor(service: string | Transport | (() => Transport), settings: Settings = {}) {
    const { language, token, timeoutMs = 10_000, attempts = 5 } = settings;
    const headers = {
      ...(language !== undefined && { "accept-language": language }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const transport = typeof service === "string" ? doorTransport(service) : service;
    const open = typeof transport === "function" ? transport : () => transport;
    this.transport = callingTransport(open, { headers, timeoutMs, attempts });
    this.games = createClient(GameService, this.transport);
    this.bots = createClient(BotService, this.transport);
    this.tables = createClient(TableService, this.transport);
    this.rooms = createClient(RoomService, this.transport);
  }

  /** Start a game as its host. The names in `include` are also included in the record. */
  newGame(request: NewGame): Promise<HostTable> {
    return HostTable.begin(this.games, request);
  }

  /**
   * Continue a game as its host, from the end of its record.
   *
   * @param include - Additional parts, for example `{ seatNames: record.seatNames }`.
   */
  resume(record: GameRecord, include?: Inclusion): Promise<HostTable> {
    return HostTable.resume(this.games, record, include);
  }

  /**
   * Analyse the decisions in a record or in a range of it. Yield each decision as soon as its analysis is available.
   */
  analyse(record: GameRecord, analysis: Analysis = {}): AsyncGenerator<AnalysedDecision, void> {
    return analyse(this.bots, record, analysis);
  }

  /**
   * Take the seat that is stored in `store`, or a new seat if the store is empty.
   *
   * Rejects if the store contains another secret, and with RangeError if the secret has a wrong length.
   *
   * @param secret - The seat's secret, 16 bytes, if the service generated it (NewTableResponse.secrets). Otherwise, a
   *   new seat gets a new secret.
   */
  takeSeat(store: SeatStore, secret?: Uint8Array): Promise<SealedSeat> {
    return SealedSeat.take(this.tables, store, secret);
  }

  /**
   * Enter a room. Throws RangeError for an id that is not base64url.
   *
   * @param room - The room's id. `newRoomId()` returns the id of a new room. @param seat - The person's seat, if any.
   */
  enter(room: string, seat?: SealedSeat): Promise<Room> {
    return Room.enter(this.rooms, room, seat?.secret);
  }
}
