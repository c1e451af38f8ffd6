import { create, fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";

import type { OptionsSchema, Position } from "./generated/chatiere/v1/game_pb.js";
import { type GameRecord, GameRecordSchema } from "./generated/chatiere/v1/record_pb.js";
import { given } from "./given.js";
import { readRecord as recordIn } from "./shared/records.js";

/** The facts in a record beside the game itself. */
export interface RecordFacts {
  /** The options that the game began with. */
  readonly options?: MessageInitShape<typeof OptionsSchema> | undefined;
  /** The names of the players, one per seat, or none. */
  readonly seatNames?: readonly string[];
  /** The day on which the game began, as YYYY-MM-DD. */
  readonly date?: string;
}

/**
 * Return the record of a game in which nothing has been played yet, from the response to NewGame.
 *
 * Append each action's dense id to its `actions` and, with explicit chance, each outcome to its outcomes; HostTable
 * does.
 */
export function beginRecord(beginning: Position, players: number, facts: RecordFacts = {}): GameRecord {
  const state = given(beginning.state, "state");
  const { stream } = state;
  return create(GameRecordSchema, {
    // Messages of GameInfo spell names as the definition does, fields as JavaScript does.
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
 * Return the record that a text is (docs/records.md).
 *
 * Its form is checked here, its options and moves by the service, as in Chatiere.resume. The seats of moves and whether
 * the game is over, which the text has for people, nobody compares with the game: a GameRecord has neither.
 *
 * Throws RangeError, which names the line, for a text of another form; Error for options that the game does not have.
 */
export function readRecord(text: string): GameRecord {
  // Its options are whatever JSON the text has.
  return fromJson(GameRecordSchema, recordIn(text) as unknown as JsonValue);
}
