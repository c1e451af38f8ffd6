import { create, fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";

import type { OptionsSchema, Position } from "./generated/chatiere/v1/game_pb.js";
import { type GameRecord, GameRecordSchema } from "./generated/chatiere/v1/record_pb.js";
import { given } from "./given.js";
import { readRecord as recordIn } from "./shared/records.js";

/** The parts of a record other than the moves. */
export interface RecordFacts {
  /** The options of the game. */
  readonly options?: MessageInitShape<typeof OptionsSchema> | undefined;
  /** The names of the players, one per seat. Default: no names. */
  readonly seatNames?: readonly string[];
  /** The date on which the game began, as YYYY-MM-DD. */
  readonly date?: string;
}

/**
 * Return the record of a game before its first move, from the response to NewGame.
 *
 * Append the dense id of each action to `actions`. With explicit chance, also append each outcome to `outcomes`.
 * HostTable does this.
 */
export function beginRecord(beginning: Position, players: number, facts: RecordFacts = {}): GameRecord {
  const state = given(beginning.state, "state");
  const { stream } = state;
  return create(GameRecordSchema, {
    // Names in GameInfo are in snake case, as in the API definition. Field names are in camel case.
    game: given(state.game.case, "game").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    rulesVersion: state.rulesVersion,
    players,
    ...(facts.options && { options: facts.options }),
    seatNames: [...(facts.seatNames ?? [])],
    date: facts.date ?? "",
    chance: stream
      ? { case: "stream", value: { seed: stream.seed, gameNumber: stream.gameNumber } }
      : { case: "outcomes", value: {} },
  });
}

/**
 * Parse the text of a record (docs/records.md).
 *
 * Only the format is checked here. The service checks options and moves, for example in Chatiere.resume. The seats of
 * moves and the last line are not compared with the game, because they are not part of a GameRecord.
 *
 * Throws RangeError with the number of the line if the format is wrong, and Error for options that the game does not
 * have.
 */
export function readRecord(text: string): GameRecord {
  // The options may be any JSON that the text contains.
  return fromJson(GameRecordSchema, recordIn(text) as unknown as JsonValue);
}
