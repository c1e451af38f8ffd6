import type { Client } from "@connectrpc/connect";

import type { AnalysedDecision, BotService } from "./generated/chatiere/v1/bot_service_pb.js";
import type { GameRecord } from "./generated/chatiere/v1/record_pb.js";

/** The simulations of a call, which the service makes in a second or two. */
const AT_ONCE = 20_000;

/** The stretch of a record to analyse, and the settings of the search. */
export interface Analysis {
  /** The first decision, by the number of decisions before it: 0. */
  readonly fromPly?: number;
  /** The decision before which the analysis ends: the number of the record's actions. */
  readonly toPly?: number;
  /** The simulations of each decision, 1 … 1,000,000: 1,000. */
  readonly simulations?: number;
  /** The seed, 0 … 2^64 - 1; the same one gives the same analysis. Absent: a random one. */
  readonly seed?: bigint;
  /** Ends the analysis when it aborts; the call under way rejects. */
  readonly signal?: AbortSignal;
}

/** Analyse a record stretch by stretch. */
export async function* analyse(
  bots: Client<typeof BotService>,
  record: GameRecord,
  { fromPly = 0, toPly = record.actions.length, simulations = 1000, seed, signal }: Analysis,
): AsyncGenerator<AnalysedDecision, void> {
  const step = Math.max(1, Math.floor(AT_ONCE / simulations));
  let first = fromPly;
  // A stretch that there is not is asked for, too, to be refused.
  do {
    const end = Math.min(first + step, toPly);
    const request = { record, fromPly: first, toPly: end, simulations, ...(seed !== undefined && { seed }) };
    const { decisions } = await bots.analyse(request, { ...(signal && { signal }) });
    yield* decisions;
    first = end;
  } while (first < toPly);
}
