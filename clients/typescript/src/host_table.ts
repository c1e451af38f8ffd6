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

/** An action: its dense id, or a message with the id, the typed action (as `legalActions` has it), or both. */
export type Move = number | MessageInitShape<typeof ActionSchema>;

/**
 * The table of a game, for its host alone: it knows the state, with all that is hidden, and has an update for each
 * player's screen. Moves that are made at the same time are made one after the other.
 */
export class HostTable {
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly games: Client<typeof GameService>,
    /** The game so far: keep it to go on later (Chatiere.resume), or to replay. */
    readonly record: GameRecord,
    private current: Position,
  ) {}

  /** Begin a game; see Chatiere.newGame. */
  static async begin(
    games: Client<typeof GameService>,
    begun: MessageInitShape<typeof NewGameRequestSchema>,
  ): Promise<HostTable> {
    const request = clone(NewGameRequestSchema, create(NewGameRequestSchema, begun));
    const { players, options } = request;
    request.include = everything(players);
    const beginning = given((await games.newGame(request)).position, "position");
    return new HostTable(games, beginRecord(beginning, players, { options }), beginning);
  }

  /** Go on with a game; see Chatiere.resume. */
  static async resume(games: Client<typeof GameService>, record: GameRecord): Promise<HostTable> {
    const ply = record.actions.length;
    const include = everything(record.players);
    const { positions } = await games.replay({ record, fromPly: ply, toPly: ply, include });
    return new HostTable(games, clone(GameRecordSchema, record), given(positions[0], "position"));
  }

  /** The position as the service returned it. */
  get position(): Position {
    return this.current;
  }

  /** The seat to decide; undefined at a chance event, and when the game is over. */
  get seat(): number | undefined {
    return this.current.turn?.seat;
  }

  /** The number of decisions so far. */
  get ply(): number {
    return this.current.ply;
  }

  /** Why the game is over; undefined until it is. */
  get end(): End | undefined {
    return this.current.end;
  }

  /** The legal actions of the seat to decide, by ascending id; empty if no seat has to. */
  get legalActions(): Action[] {
    return this.current.legalActions;
  }

  /** The outcomes that the pending chance event can have; empty if there is none, as with sampled chance. */
  get chanceOutcomes(): ChanceOutcome[] {
    return this.current.chanceOutcomes;
  }

  /** The events since the previous move, with all their values. */
  get events(): Event[] {
    return this.current.events;
  }

  /** The score that the seats have, or would have if the game stopped now. */
  get score(): Score {
    return given(this.current.score, "score");
  }

  /** The updates for the players' screens, by seat: send each player that player's alone. */
  get seats(): ViewerUpdate[] {
    return this.current.updates.slice(0, this.record.players);
  }

  /** The update for a spectator's screen. */
  get spectator(): ViewerUpdate {
    return given(this.current.updates[this.record.players], "the spectator's update");
  }

  /**
   * Make a decision. `seat`: in whose name the action is sent, for moves that come from players; absent: the seat to
   * decide.
   *
   * Reasons: ILLEGAL_ACTION, INVALID_ACTION, ACTION_MISMATCH, WRONG_TURN, CHANCE_PENDING, GAME_OVER, INVALID_SEAT …
   */
  move(move: Move, seat?: number): Promise<void> {
    return this.#next(async () => {
      const action = create(ActionSchema, typeof move === "number" ? { id: move } : move);
      const id = action.id ?? this.#idOf(action);
      const position = await this.#apply({ case: "action", value: action }, seat);
      if (id === undefined) {
        throw new Error("a typed action has to be written as legalActions has it");
      }
      this.record.actions.push(id);
      this.current = position;
    });
  }

  /** Resolve the pending chance event. Reasons: IMPOSSIBLE_OUTCOME, NO_CHANCE_PENDING, GAME_OVER. */
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
    const request = create(ApplyRequestSchema, { move, include: everything(this.record.players) });
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
    // A move that was refused is its caller's to hear of, not the next one's.
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function everything(players: number): Include {
  const viewers = [...Array(players).keys()];
  return create(IncludeSchema, { legalActions: true, score: true, viewers, spectator: true });
}
