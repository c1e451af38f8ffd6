// Calls of the service, in JSON. Nothing is stored there, so that every call may be repeated.

import { language } from "./settings.js";

const PATIENCE = 30_000;
const LONGEST_PAUSE = 3000;
const REPEATED = new Set([429, 502, 503, 504]);
// The key of the token, which is kept as long as the page's window is open.
const TOKEN = "chatiere token";

/** HTTP's status where the service wants a token. */
export const UNAUTHENTICATED = 401;

/** Whether the service answers: `waiting` and `back` are its events, and `refused`, where it wants a token in mid-game. */
export const connection = new EventTarget();

let waiting = 0;

/** A call that the service refused. */
export class Refusal extends Error {
  /** @param {number} status @param {any} body the response's body, as Connect has it */
  constructor(status, body) {
    super(body?.message ?? `HTTP ${status}`);
    const detail = (/** @type {string} */ type) =>
      body?.details?.find((/** @type {any} */ each) => each.type === `google.rpc.${type}`)?.debug;
    /** HTTP's status. */
    this.status = status;
    /** The name of an ErrorReason, such as ILLEGAL_ACTION; empty if there is none. */
    this.reason = String(detail("ErrorInfo")?.reason ?? "");
    /** Its metadata. @type {Record<string, string>} */
    this.metadata = detail("ErrorInfo")?.metadata ?? {};
    /** The reason for players, in their language. @type {string} */
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

/**
 * Make a call, as often as it takes while the service can't be reached. Throws Refusal.
 * @param {string} method such as "TableService/Look" @param {object} request
 * @returns {Promise<any>}
 */
export async function call(method, request) {
  for (let attempt = 0; ; attempt++) {
    const response = await post(method, request);
    if (response && !REPEATED.has(response.status)) {
      if (attempt > 0) {
        waiting -= 1;
        if (waiting === 0) {
          connection.dispatchEvent(new Event("back"));
        }
      }
      const body = await response.json().catch(() => undefined);
      if (!response.ok || body === undefined) {
        throw new Refusal(response.status, body);
      }
      return body;
    }
    if (attempt === 0) {
      waiting += 1;
      connection.dispatchEvent(new Event("waiting"));
    }
    const asked = Number(response?.headers.get("retry-after") ?? 0) * 1000;
    const pause = Math.max(asked || 0, Math.min(LONGEST_PAUSE, 200 * 2 ** attempt));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** @param {string} method @param {object} request */
async function post(method, request) {
  const token = sessionStorage.getItem(TOKEN);
  try {
    return await fetch(`chatiere.v1.${method}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "accept-language": language(),
        ...(token !== null && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(PATIENCE),
      credentials: "omit",
    });
  } catch {
    return undefined;
  }
}
