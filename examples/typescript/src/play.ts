// Plays one game of each kind, and prints the events as sentences:
//
//     node build/src/play.js HOST:PORT [LANGUAGE]

import { type Client, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import type { Action, GameInfo, Position } from "../generated/chatiere/v1/game_pb.js";
import { GameService } from "../generated/chatiere/v1/game_service_pb.js";
import { ErrorInfoSchema, LocalizedMessageSchema } from "../generated/google/rpc/error_details_pb.js";
import { at, given } from "./given.js";

const SEED = 7n;
const INCLUDE = { legalActions: true, score: true };

/** A game played with a service. The host keeps the state and sends it with each call. */
class Game {
  private constructor(
    private readonly service: Client<typeof GameService>,
    private readonly headers: HeadersInit,
    private position: Position,
  ) {}

  /** Start a game with the smallest number of players. */
  static async begin(service: Client<typeof GameService>, headers: HeadersInit, info: GameInfo): Promise<Game> {
    const request = { game: info.name, players: info.minPlayers, seed: SEED, include: INCLUDE };
    const { position } = await service.newGame(request, { headers });
    return new Game(service, headers, given(position, "position"));
  }

  /** Play to the end and return the result. The code is the same for all games. */
  async play(): Promise<string> {
    let refused = false;
    for (;;) {
      const { events, legalActions, ply, end, score } = this.position;
      events.forEach(({ label }) => console.log(label));
      if (end !== undefined) {
        const { totals, winners } = given(score, "score");
        return `${end.label}: totals ${totals.join(" ")}, won by seat ${winners.join(" and ")}`;
      }
      // A player would choose one of these labels from a menu.
      const labels = legalActions.map(({ label }) => label);
      const index = (7919 * ply) % labels.length;
      console.log(`> ${at(labels, index)} (of ${labels.length})`);
      const action = at(legalActions, index);
      this.position = await this.applied(action);
      if (!refused) {
        // Try each action a second time, until one is refused.
        try {
          await this.applied(action);
        } catch (error) {
          console.log(`refused: ${sentence(error)}`);
          refused = true;
        }
      }
    }
  }

  /** Return the position after an action. */
  private async applied(action: Action): Promise<Position> {
    const request = { state: this.position.state, move: { case: "action" as const, value: action }, include: INCLUDE };
    const { position } = await this.service.apply(request, { headers: this.headers });
    return given(position, "position");
  }
}

/** Return the reason for a refusal: text in the player's language, and the name for programs. */
function sentence(error: unknown): string {
  const refusal = ConnectError.from(error);
  const [text] = refusal.findDetails(LocalizedMessageSchema);
  const [info] = refusal.findDetails(ErrorInfoSchema);
  return `${text?.message ?? refusal.message} (${info?.reason ?? "without a reason"})`;
}

const [address, language = "en"] = process.argv.slice(2);
if (address === undefined) {
  console.error("usage: node build/src/play.js HOST:PORT [LANGUAGE]");
  process.exit(2);
}
const service = createClient(GameService, createGrpcTransport({ baseUrl: `http://${address}` }));
const headers = { "accept-language": language };
for (const info of (await service.listGames({}, { headers })).games) {
  console.log(`=== ${info.name}, ${info.minPlayers} players`);
  const game = await Game.begin(service, headers, info);
  console.log(await game.play());
}
