import { clone, create, equals, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";

import {
  type Action,
  ActionSchema,
  type ChanceOutcome,
  type End,
  type Event,
  type Include,
  IncludeSchema,
  type Position,
  type Score,
  type ViewerUpdate,
} from "./generated/chatiere/v1/game_pb.js";
import {
  type ApplyRequest,
  ApplyRequestSchema,
  type GameService,
  NewGameRequestSchema,
} from "./generated/chatiere/v1/game_service_pb.js";
import { type GameRecord, GameRecordSchema } from "./generated/chatiere/v1/record_pb.js";
import { given } from "./given.js";
import { beginRecord } from "./records.js";
import { MAX_SEATS } from "./shared/seats.js";

/** An action: its dense id, or a message with the id, the typed action in the form used in `legalActions`, or both. */
export type Move = number | MessageInitShape<typeof ActionSchema>;

/**
 * The optional parts of positions. An example is `seatNames`, the names of the players, one per seat, for labels
 * ("Alice begins"). Legal actions, scores and updates are always included.
 */
export type Inclusion = Omit<
  MessageInitShape<typeof IncludeSchema>,
  "$typeName" | "legalActions" | "score" | "viewers" | "spectator"
>;

/** A request for a new game, with the parts of positions to include. See NewGameRequest. */
export type NewGame = Omit<MessageInitShape<typeof NewGameRequestSchema>, "$typeName" | "include"> & {
  readonly include?: Inclusion;
};

/**
 * The table of a game, for its host only. It contains the state, including hidden information, and an update for each
 * player's screen. Concurrent moves are made one after another.
 */
export class HostTable {
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly games: Client<typeof GameService>,
    /** The record of the game so far. Keep the record to continue the game later (Chatiere.resume), or to replay the
     * game. */
    readonly record: GameRecord,
    private readonly include: Include,
    private current: Position,
  ) {}

  /** Start a game; see Chatiere.newGame. */
  static async begin(games: Client<typeof GameService>, { include, ...begun }: NewGame): Promise<HostTable> {
    const included = everything(begun.players ?? 0, include);
    const request = create(NewGameRequestSchema, { ...begun, include: included });
    const { players, options } = request;
    const beginning = given((await games.newGame(request)).position, "position");
    const record = beginRecord(beginning, players, { options, seatNames: included.seatNames });
    return new HostTable(games, clone(GameRecordSchema, record), included, beginning);
  }

  /** Continue a game; see Chatiere.resume. */
  static async resume(games: Client<typeof GameService>, record: GameRecord, included?: Inclusion): Promise<HostTable> {
    const ply = record.actions.length;
    const include = everything(record.players, included);
    const { positions } = await games.replay({ record, fromPly: ply, toPly: ply, include });
    return new HostTable(games, clone(GameRecordSchema, record), include, given(positions[0], "position"));
  }

  /** The position as the service returned it. */
  get position(): Position {
    return this.current;
  }

  /** The deciding seat. Undefined at a chance event, and when the game is over. */
  get seat(): number | undefined {
    return this.current.turn?.seat;
  }

  /** The number of decisions made so far. */
  get ply(): number {
    return this.current.ply;
  }

  /** The reason why the game is over. Undefined until the game is over. */
  get end(): End | undefined {
    return this.current.end;
  }

  /** The legal actions of the deciding seat, by ascending id. Empty if no seat has to decide. */
  get legalActions(): Action[] {
    return this.current.legalActions;
  }

  /** The possible outcomes of the pending chance event. Empty if no chance event is pending. */
  get chanceOutcomes(): ChanceOutcome[] {
    return this.current.chanceOutcomes;
  }

  /** The events since the previous move, with all their values. */
  get events(): Event[] {
    return this.current.events;
  }

  /** The final score, or the score as if the game stopped now. */
  get score(): Score {
    return given(this.current.score, "score");
  }

  /** The updates for the players' screens, by seat. Send each player only that player's update. */
  get seats(): ViewerUpdate[] {
    return this.current.updates.slice(0, this.record.players);
  }

  /** The update for a spectator's screen. */
  get spectator(): ViewerUpdate {
    return given(this.current.updates[this.record.players], "the spectator's update");
  }

  /**
   * Make a decision.
   *
   * @param seat - The seat that sends the action. Pass the seat for moves received from players, because the service
   * then refuses an action out of turn. Default: the deciding seat.
   *
   * @throws ChatiereError: ILLEGAL_ACTION, INVALID_ACTION, ACTION_MISMATCH, WRONG_TURN, CHANCE_PENDING, GAME_OVER,
   * INVALID_SEAT …
   */
  move(move: Move, seat?: number): Promise<void> {
    return this.#next(async () => {
      const action = create(ActionSchema, typeof move === "number" ? { id: move } : move);
      const id = action.id ?? this.#idOf(action);
      const position = await this.#apply({ case: "action", value: action }, seat);
      if (id === undefined) {
        throw new Error("a typed action must have the same form as in legalActions");
      }
      this.record.actions.push(id);
      this.current = position;
    });
  }

  /** Decide the pending chance event. Error reasons: IMPOSSIBLE_OUTCOME, NO_CHANCE_PENDING, GAME_OVER. */
  resolve(outcome: number): Promise<void> {
    return this.#next(async () => {
      const position = await this.#apply({ case: "outcome", value: outcome });
      const { chance } = this.record;
      if (chance.case === "outcomes") {
        chance.value.outcomes.push(outcome);
      }
      this.current = position;
    });
  }

  async #apply(move: ApplyRequest["move"], seat?: number): Promise<Position> {
    const request = create(ApplyRequestSchema, { move, include: this.include });
    request.state = this.current.state;
    request.seat = seat;
    return given((await this.games.apply(request)).position, "position");
  }

  #idOf(action: Action): number | undefined {
    const typed = ({ game }: Action) => create(ActionSchema, { game });
    return this.legalActions.find((legal) => equals(ActionSchema, typed(legal), typed(action)))?.id;
  }

  #next<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    // The error of a refused move is reported to its caller, not to the caller of the next move.
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function everything(players: number, included: Inclusion = {}): Include {
  // The service refuses numbers of players above MAX_SEATS.
  const viewers = Array.from({ length: Math.min(players, MAX_SEATS) }, (_, seat) => seat);
  return create(IncludeSchema, { ...included, legalActions: true, score: true, viewers, spectator: true });
}
