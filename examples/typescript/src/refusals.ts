// Refusals of calls, read from the details of their errors.

import { ConnectError } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, LocalizedMessageSchema } from "../generated/google/rpc/error_details_pb.js";

/** The refusal of a call. */
export interface Refusal {
  /** The name of the ErrorReason, such as "ILLEGAL_ACTION". */
  readonly reason: string;
  /** The rule that forbids a move, such as "rule.card_not_in_hand". "" if no rule forbids it. */
  readonly ruleKey: string;
  /** The path of the invalid field of the request. "" if no field is invalid. */
  readonly field: string;
  /** The text for players, in the language of the call. */
  readonly text: string;
}

/** Wait for a call. Return its refusal, or undefined if it succeeds. Rethrows other errors. */
export async function refusalOf(call: Promise<unknown>): Promise<Refusal | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    const refusal = read(error);
    if (refusal === undefined) {
      throw error;
    }
    return refusal;
  }
}

function read(error: unknown): Refusal | undefined {
  if (!(error instanceof ConnectError)) {
    return undefined;
  }
  const [info] = error.findDetails(ErrorInfoSchema);
  if (info === undefined) {
    return undefined;
  }
  const [violation] = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  const [localized] = error.findDetails(LocalizedMessageSchema);
  return {
    reason: info.reason,
    ruleKey: info.metadata["rule_key"] ?? "",
    field: violation?.field ?? "",
    text: localized?.message ?? error.rawMessage,
  };
}
