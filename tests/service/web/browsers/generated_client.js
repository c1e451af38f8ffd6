// A client with generated code, over any transport.

import { Code, ConnectError, createClient } from "@connectrpc/connect";

import { ErrorInfoSchema } from "./generated/google/rpc/error_details_pb.js";
import { GameService } from "./generated/chatiere/v1/game_service_pb.js";

const include = { legalActions: true, score: true };

export class GeneratedClient {
  /** `calls` has newGame and apply, from request to response. `infoOf` returns the ErrorInfo of an error. */
  constructor(calls, infoOf) {
    this.calls = calls;
    this.infoOf = infoOf;
  }

  async newGame(game, players, seed) {
    return (await this.calls.newGame({ game, players, seed: BigInt(seed), include })).position;
  }

  async apply(state, action) {
    return (await this.calls.apply({ state, move: { case: "action", value: action }, include })).position;
  }

  byType(action) {
    return { game: action.game };
  }

  reasonOf(error) {
    return this.infoOf(error).reason;
  }
}

/** A client over one of Connect's transports. */
export function clientOver(transport) {
  return new GeneratedClient(createClient(GameService, transport), (error) => {
    if (ConnectError.from(error).code !== Code.InvalidArgument) {
      throw error;
    }
    return error.findDetails(ErrorInfoSchema)[0];
  });
}
