// The host of a table. Only the host has the state, because the state contains hidden information. Screens get updates.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";

import {
  type Action,
  ActionSchema,
  type End,
  type GameInfo,
  type IncludeSchema,
  type Position,
  type ViewerUpdate,
} from "../generated/chatiere/v1/game_pb.js";
import { GameService } from "../generated/chatiere/v1/game_service_pb.js";
import { given } from "./given.js";
import type { Language } from "./pieces.js";

/** A client of GameService for hosts. */
export class Service {
  private readonly client: Client<typeof GameService>;

  constructor(transport: Transport) {
    this.client = createClient(GameService, transport);
  }

  /** List the games with their pieces, in a language. */
  async games(language: Language): Promise<GameInfo[]> {
    return (await this.client.listGames({ pieces: true }, spoken(language))).games;
  }

  /** Start a game with updates in `language`. */
  async begin(game: string, players: number, seed: bigint, language: Language): Promise<Host> {
    const include = { viewers: [...Array(players).keys()], spectator: true };
    const { position } = await this.client.newGame({ game, players, seed, include }, spoken(language));
    return new Host(this.client, include, language, given(position, "position"));
  }
}

/** The host of one game. */
export class Host {
  constructor(
    private readonly client: Client<typeof GameService>,
    private readonly include: MessageInitShape<typeof IncludeSchema>,
    private readonly language: Language,
    private position: Position,
  ) {}

  /** The seat to act. Undefined when the game is over. */
  get seat(): number | undefined {
    return this.position.turn?.seat;
  }

  /** The number of decisions so far. */
  get ply(): number {
    return this.position.ply;
  }

  /** The reason why the game is over. Undefined until the game is over. */
  get end(): End | undefined {
    return this.position.end;
  }

  /** The updates for the screens: the seats', in order, then a spectator's. */
  get updates(): ViewerUpdate[] {
    return this.position.updates;
  }

  /** Make a move for the seat to act. */
  async move(action: Action): Promise<void> {
    this.position = await this.tried(action, this.language);
  }

  /** Return the position that a move leads to, without making it. */
  async tried(action: Action, language: Language): Promise<Position> {
    // Like a frontend that builds moves from clicks, send the typed action without its id.
    const typed = create(ActionSchema, { game: action.game });
    const { state } = this.position;
    const request = { state, move: { case: "action" as const, value: typed }, include: this.include };
    const { position } = await this.client.apply(request, spoken(language));
    return given(position, "position");
  }
}

function spoken(language: Language): { headers: HeadersInit } {
  return { headers: { "accept-language": language } };
}
