// Calls to the service, in JSON. Any call may be repeated, because the service stores no state.

import { language } from "./settings.js";
import { repeated } from "./shared/retries.js";
import * as storage from "./storage.js";

const PATIENCE = 30_000;
/** The time without a response after which the page offers to try again, in milliseconds. */
export const LATE = 5_000;
// The methods whose responses may take longer than that.
const LONG = new Set(["BotService/Analyse"]);
/** The HTTP statuses after which a call is repeated. */
export const REPEATED = new Set([429, 502, 503, 504]);
// The key of the token in sessionStorage. The content of sessionStorage lasts as long as the browser's tab.
const TOKEN = "chatiere token";

/** The HTTP status if the service requires a token. */
export const UNAUTHENTICATED = 401;

/** @import * as bots from "#api/chatiere/v1/bot_service_pb.js" */
/** @import * as rooms from "#api/chatiere/v1/room_service_pb.js" */
/** @import * as games from "#api/chatiere/v1/game_service_pb.js" */
/** @import * as tables from "#api/chatiere/v1/table_service_pb.js" */

/**
 * The methods that the page calls, with their requests and responses.
 * @typedef {{
 *   "BotService/Analyse": [bots.AnalyseRequestJson, bots.AnalyseResponseJson],
 *   "BotService/ListBots": [bots.ListBotsRequestJson, bots.ListBotsResponseJson],
 *   "BotService/Suggest": [bots.SuggestRequestJson, bots.SuggestResponseJson],
 *   "GameService/Apply": [games.ApplyRequestJson, games.ApplyResponseJson],
 *   "GameService/GetPosition": [games.GetPositionRequestJson, games.GetPositionResponseJson],
 *   "GameService/ListGames": [games.ListGamesRequestJson, games.ListGamesResponseJson],
 *   "GameService/NewGame": [games.NewGameRequestJson, games.NewGameResponseJson],
 *   "GameService/Replay": [games.ReplayRequestJson, games.ReplayResponseJson],
 *   "RoomService/Post": [rooms.PostRequestJson, rooms.PostResponseJson],
 *   "TableService/Acknowledge": [tables.AcknowledgeRequestJson, tables.AcknowledgeResponseJson],
 *   "TableService/Amend": [tables.AmendRequestJson, tables.AmendResponseJson],
 *   "TableService/GetRecord": [tables.GetRecordRequestJson, tables.GetRecordResponseJson],
 *   "TableService/Look": [tables.LookRequestJson, tables.LookResponseJson],
 *   "TableService/Move": [tables.MoveRequestJson, tables.MoveResponseJson],
 *   "TableService/NewTable": [tables.NewTableRequestJson, tables.NewTableResponseJson],
 *   "TableService/SuggestMove": [tables.SuggestMoveRequestJson, tables.SuggestMoveResponseJson],
 * }} Methods
 */
/**
 * The body of a refusal in Connect's protocol.
 * @typedef {{code?: string, message?: string, details?: {type?: string, debug?: Detail}[]}} RefusalBody
 */
/**
 * A detail of a refusal: an ErrorInfo, a LocalizedMessage, a RetryInfo or another message.
 * @typedef {{reason?: string, metadata?: Record<string, string>, message?: string, retryDelay?: string}} Detail
 */

/**
 * The connection to the service. It dispatches `late` while a call has no response, `waiting` while a call is repeated,
 * `kept` when a stored response is used instead, `back` when the service responds again, and `refused` if the service
 * requires a token during a game. A room dispatches `apart` when this browser no longer follows it, and `together`
 * otherwise.
 */
export const connection = new EventTarget();

/** @typedef {"back" | "late" | "waiting" | "kept"} State */

// The outcome of the last call: a response, a repetition, or a stored response; `late` while a call is late.
let state = /** @type {State} */ ("back");
/** @type {Set<AbortController>} the attempts that are late */
const late = new Set();

/** Give up the attempts that are late. Their calls are repeated. */
export function tryAgain() {
  late.forEach((attempt) => attempt.abort());
}

/** A call that the service refused. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {RefusalBody} [body]
   */
  constructor(status, body) {
    super(body?.message ?? `HTTP ${status}`);
    const detail = (/** @type {string} */ type) => detailOf(body, type);
    /** The HTTP status. */
    this.status = status;
    /** The name of an ErrorReason, such as ILLEGAL_ACTION, or "" if the refusal has no reason. */
    this.reason = detail("ErrorInfo")?.reason ?? "";
    /** The metadata of the reason. */
    this.metadata = detail("ErrorInfo")?.metadata ?? {};
    /** The text for players, in their language. */
    this.localized = detail("LocalizedMessage")?.message ?? this.message;
  }
}

/**
 * Use a token for all further calls, as long as the tab is open.
 * @param {string} value
 * @returns false if the text cannot be a token
 */
export function useToken(value) {
  const canBe = /^[!-~]+$/.test(value);
  if (canBe) {
    storage.remember(TOKEN, value, "sessionStorage");
  }
  return canBe;
}

/** Thrown if the service cannot be reached at the moment. */
export class Unavailable extends Error {
  /** @param {number} pause the minimum time before the next attempt, in milliseconds */
  constructor(pause) {
    super();
    this.pause = pause;
  }
}

/**
 * Make a call, and repeat it as long as the service cannot be reached. Throws Refusal.
 * @template {keyof Methods} Method
 * @param {Method} method such as "TableService/Look"
 * @param {Methods[Method][0]} request
 * @param {() => Promise<Methods[Method][1] | undefined>} [findKept] returns a stored response to use while the service
 *   cannot be reached, if there is one
 * @returns {Promise<Methods[Method][1]>}
 */
export async function call(method, request, findKept) {
  const pauseAfter = (/** @type {unknown} */ error) =>
    error instanceof Unavailable ? error.pause : undefined;
  const attempt = async () => {
    try {
      const answer = await post(method, request);
      tell("back");
      return answer;
    } catch (error) {
      if (!(error instanceof Unavailable)) {
        tell("back");
        throw error;
      }
      const kept = await findKept?.();
      tell(kept ? "kept" : "waiting");
      if (kept) {
        return kept;
      }
      throw error;
    }
  };
  return repeated(attempt, { pauseAfter });
}

/** @param {State} outcome */
function tell(outcome) {
  const next = late.size > 0 ? "late" : outcome;
  // While a call is being repeated, a stored response does not change the state `waiting`.
  if (next !== state && !(next === "kept" && state === "waiting")) {
    state = next;
    connection.dispatchEvent(new Event(state));
  }
}

/**
 * Make a call once. Throws Refusal and Unavailable.
 * @param {string} method
 * @param {object} request
 */
async function post(method, request) {
  const attempt = new AbortController();
  const timeout = setTimeout(() => attempt.abort(), PATIENCE);
  const patience = setTimeout(() => {
    if (!LONG.has(method)) {
      late.add(attempt);
      tell("late");
    }
  }, LATE);
  const body = JSON.stringify(request);
  let response;
  let found;
  try {
    response = await sent(method, "application/json", body, attempt.signal);
    found = await response?.json().catch(() => undefined);
  } finally {
    clearTimeout(timeout);
    clearTimeout(patience);
    late.delete(attempt);
  }
  if (response === undefined || REPEATED.has(response.status) || attempt.signal.aborted) {
    throw new Unavailable(Number(response?.headers.get("retry-after")) * 1000 || 0);
  }
  if (!response.ok || found === undefined) {
    throw new Refusal(response.status, found);
  }
  return found;
}

/**
 * Return a detail of a refusal.
 * @param {RefusalBody | undefined} body
 * @param {string} type the name of the message in google.rpc
 */
export function detailOf(body, type) {
  return body?.details?.find((each) => each.type === `google.rpc.${type}`)?.debug;
}

/**
 * Send a request. Returns undefined if there is no response.
 * @param {string} method
 * @param {string} type
 * @param {BodyInit} body
 * @param {AbortSignal} signal
 */
export function sent(method, type, body, signal) {
  const token = storage.read(TOKEN, "sessionStorage");
  return fetch(`chatiere.v1.${method}`, {
    method: "POST",
    headers: {
      "content-type": type,
      "accept-language": language(),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body,
    signal,
    credentials: "omit",
  }).catch(() => undefined);
}
