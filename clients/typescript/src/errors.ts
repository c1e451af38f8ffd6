// The errors of failed calls.

import { Code, ConnectError } from "@connectrpc/connect";

import type { ErrorReason } from "./generated/chatiere/v1/errors_pb.js";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  LocalizedMessageSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from "./generated/google/rpc/error_details_pb.js";

const DOMAIN = "chatiere";

/** The name of an ErrorReason, without its prefix. A newer service may use additional names. */
export type Reason = keyof typeof ErrorReason | (string & {});

/** An invalid field of the request: its path, for example "action.discat.play.cards[1]", and the error. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** The service refused a call, or failed. Because the service is stateless, nothing has changed. */
export class ChatiereError extends Error {
  override readonly name: string = "ChatiereError";
  /** The status: Code.InvalidArgument for every error in the request. */
  readonly code: Code;
  /** The reason, for example "ILLEGAL_ACTION". "" in a TransportError. */
  readonly reason: Reason;
  /**
   * The rule that forbids the move: a rules file and a heading, for example "discat.md: Actions". "" if no rule forbids
   * the move.
   */
  readonly rule: string;
  /** The key of the rule and of its phrase, for example "rule.card_not_in_hand". "" if no rule forbids the move. */
  readonly ruleKey: string;
  /** The path of the first invalid field of the request. "" if no field is invalid. */
  readonly field: string;
  /** All invalid fields of the request. */
  readonly violations: readonly FieldViolation[];
  /** The error message for players, in the language of the call. "" if the call requested no language. */
  readonly localized: string;
  /** Additional facts by name, for example "actor". ErrorReason documents the facts. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The id under which the service logged the call. "" if the service did not respond. */
  readonly requestId: string;
  /** The milliseconds after which to try again (LIMIT_EXCEEDED). Undefined if the service does not specify them. */
  readonly retryAfterMs: number | undefined;

  /** Read the details of a failed call. */
  constructor(error: ConnectError) {
    const [info] = error.findDetails(ErrorInfoSchema);
    const reason = info?.domain === DOMAIN ? info.reason : "";
    super(`${reason || Code[error.code]}: ${error.rawMessage}`, { cause: error });
    this.code = error.code;
    this.reason = reason;
    this.metadata = reason === "" ? {} : (info?.metadata ?? {});
    this.rule = this.metadata["rule"] ?? "";
    this.ruleKey = this.metadata["rule_key"] ?? "";
    this.violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
    this.field = this.violations[0]?.field ?? "";
    this.localized = error.findDetails(LocalizedMessageSchema)[0]?.message ?? "";
    this.requestId = error.findDetails(RequestInfoSchema)[0]?.requestId ?? "";
    const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
    this.retryAfterMs = delay && 1000 * Number(delay.seconds) + delay.nanos / 1e6;
  }
}

/**
 * The service did not respond. The code distinguishes three cases: all attempts to reach the service failed
 * (Code.Unavailable), the response took too long (Code.DeadlineExceeded), or the call was cancelled (Code.Canceled). In
 * a browser, the code is also Code.Unavailable if the service does not allow the origin of the page.
 */
export class TransportError extends ChatiereError {
  override readonly name = "TransportError";
}

/** Return the error of a failed call as an error of this package. */
export function errorOf(error: ConnectError): ChatiereError {
  const refused = new ChatiereError(error);
  return refused.reason === "" ? new TransportError(error) : refused;
}
