import type { Client } from "@connectrpc/connect";

import type { AnalysedDecision, BotService } from "./generated/chatiere/v1/bot_service_pb.js";
import type { GameRecord } from "./generated/chatiere/v1/record_pb.js";

/** The number of simulations per call. The service needs a second or two for this number. */
const AT_ONCE = 20_000;

/** The range of a record to analyse, and the settings of the search. */
export interface Analysis {
  /** The first decision, by the number of decisions before it. Default: 0. */
  readonly fromPly?: number;
  /** The end of the range, exclusive. Default: the number of the record's actions. */
  readonly toPly?: number;
  /** The number of simulations for each decision, 1 … 1,000,000. Default: 1,000. */
  readonly simulations?: number;
  /** The seed, 0 … 2^64 - 1, for a reproducible analysis. Default: a random seed. */
  readonly seed?: bigint;
  /** A signal that ends the analysis. The call in progress then rejects. */
  readonly signal?: AbortSignal;
}

/** Analyse a record, one range after another. */
export async function* analyse(
  bots: Client<typeof BotService>,
  record: GameRecord,
  { fromPly = 0, toPly = record.actions.length, simulations = 1000, seed, signal }: Analysis,
): AsyncGenerator<AnalysedDecision, void> {
  const step = Math.max(1, Math.floor(AT_ONCE / simulations));
  let first = fromPly;
  // Request an empty or invalid range once, too, so that the service can refuse an invalid range.
  do {
    const end = Math.min(first + step, toPly);
    const request = { record, fromPly: first, toPly: end, simulations, ...(seed !== undefined && { seed }) };
    const { decisions } = await bots.analyse(request, { ...(signal && { signal }) });
    yield* decisions;
    first = end;
  } while (first < toPly);
}
