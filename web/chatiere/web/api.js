// Calls of the service, in JSON. Nothing is stored there, so that every call may be repeated.

import { language } from "./settings.js";
import { repeated } from "./shared/retries.js";

const PATIENCE = 30_000;
/** HTTP's statuses that ask to be tried again. */
export const REPEATED = new Set([429, 502, 503, 504]);
// The key of the token, which is kept as long as the page's window is open.
const TOKEN = "chatiere token";

/** HTTP's status where the service wants a token. */
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
 *   "TableService/GetRecord": [tables.GetRecordRequestJson, tables.GetRecordResponseJson],
 *   "TableService/Look": [tables.LookRequestJson, tables.LookResponseJson],
 *   "TableService/Move": [tables.MoveRequestJson, tables.MoveResponseJson],
 *   "TableService/NewTable": [tables.NewTableRequestJson, tables.NewTableResponseJson],
 *   "TableService/SuggestMove": [tables.SuggestMoveRequestJson, tables.SuggestMoveResponseJson],
 * }} Methods
 */
/**
 * A refusal's body, as Connect has it.
 * @typedef {{code?: string, message?: string, details?: {type?: string, debug?: Detail}[]}} RefusalBody
 */
/**
 * A detail of it: an ErrorInfo, a LocalizedMessage, a RetryInfo or another one.
 * @typedef {{reason?: string, metadata?: Record<string, string>, message?: string, retryDelay?: string}} Detail
 */

/**
 * Whether the service answers: `waiting`, `kept` (what this browser had kept is shown instead) and `back` are its events, and
 * `refused`, where it wants a token in mid-game.
 */
export const connection = new EventTarget();

/** @typedef {"back" | "waiting" | "kept"} State */

// Whether the last call was answered, is repeated, or has what this browser had kept.
let state = /** @type {State} */ ("back");

/** A call that the service refused. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {RefusalBody} [body]
   */
  constructor(status, body) {
    super(body?.message ?? `HTTP ${status}`);
    const detail = (/** @type {string} */ type) => detailOf(body, type);
    /** HTTP's status. */
    this.status = status;
    /** The name of an ErrorReason, such as ILLEGAL_ACTION; empty if there is none. */
    this.reason = detail("ErrorInfo")?.reason ?? "";
    /** Its metadata. */
    this.metadata = detail("ErrorInfo")?.metadata ?? {};
    /** The reason for players, in their language. */
    this.localized = detail("LocalizedMessage")?.message ?? this.message;
  }
}

/**
 * Use a token for all calls to come, as long as the page is open; return whether it can be one.
 * @param {string} value
 */
export function useToken(value) {
  const canBe = /^[!-~]+$/.test(value);
  if (canBe) {
    sessionStorage.setItem(TOKEN, value);
  }
  return canBe;
}

/** The service can't be reached now. */
export class Unavailable extends Error {
  /** @param {number} pause the fewest milliseconds until it wants to be asked again */
  constructor(pause) {
    super();
    this.pause = pause;
  }
}

/**
 * Make a call, as often as it takes while the service can't be reached. Throws Refusal.
 * @template {keyof Methods} Method
 * @param {Method} method such as "TableService/Look"
 * @param {Methods[Method][0]} request
 * @param {() => Promise<Methods[Method][1] | undefined>} [findKept] finds what is used while the service can't be reached, if there
 *   is anything
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

/** @param {State} next */
function tell(next) {
  // As long as a call is repeated, that is what is said.
  if (next !== state && !(next === "kept" && state === "waiting")) {
    state = next;
    connection.dispatchEvent(new Event(state));
  }
}

/**
 * Make a call once. Throws Refusal, Unavailable.
 * @param {string} method
 * @param {object} request
 */
async function post(method, request) {
  const signal = AbortSignal.timeout(PATIENCE);
  const response = await sent(method, "application/json", JSON.stringify(request), signal);
  if (response === undefined || REPEATED.has(response.status)) {
    throw new Unavailable(Number(response?.headers.get("retry-after")) * 1000 || 0);
  }
  const body = await response.json().catch(() => undefined);
  if (!response.ok || body === undefined) {
    throw new Refusal(response.status, body);
  }
  return body;
}

/**
 * Return a detail of a refusal.
 * @param {RefusalBody | undefined} body
 * @param {string} type
 */
export function detailOf(body, type) {
  return body?.details?.find((each) => each.type === `google.rpc.${type}`)?.debug;
}

/**
 * Send a request; return the response, or undefined if there is none.
 * @param {string} method
 * @param {string} type
 * @param {BodyInit} body
 * @param {AbortSignal} signal
 */
export function sent(method, type, body, signal) {
  const token = sessionStorage.getItem(TOKEN);
  return fetch(`chatiere.v1.${method}`, {
    method: "POST",
    headers: {
      "content-type": type,
      "accept-language": language(),
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    body,
    signal,
    credentials: "omit",
  }).catch(() => undefined);
}
