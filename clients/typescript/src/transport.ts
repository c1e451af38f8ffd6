// How calls are made: metadata, deadlines, retries, errors.

import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

import { errorOf } from "./errors.js";

// The longest pause before another attempt, and the first, which doubles each time; in milliseconds.
const MAX_PAUSE = 1000;
const FIRST_PAUSE = 100;

/** What is common to all calls of a client. */
export interface CallSettings {
  /** By name; a call's own headers come first. */
  readonly headers: Readonly<Record<string, string>>;
  /** The milliseconds that a call may take, retries included, unless it has a timeout of its own. */
  readonly timeoutMs: number;
  /** How often a call is made at most while the service is unavailable. */
  readonly attempts: number;
}

/** Return the transport to a door for browsers, by Connect's protocol in binary. */
export function doorTransport(baseUrl: string): Transport {
  return createConnectTransport({ baseUrl, useBinaryFormat: true, fetch: reach });
}

/** Return a transport that makes calls over another: with headers, repeated, and with errors as ChatiereError. */
export function callingTransport(inner: Transport, settings: CallSettings): Transport {
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const headers = withHeaders(header, settings);
      const timeout = timeoutMs ?? settings.timeoutMs;
      // As for Connect: 0 is no timeout.
      const end = timeout > 0 ? performance.now() + timeout : Infinity;
      for (let attempt = 1; ; attempt++) {
        const left = end === Infinity ? 0 : Math.max(1, Math.ceil(end - performance.now()));
        try {
          return await inner.unary(method, signal, left, headers, input, contextValues);
        } catch (reason) {
          const error = ConnectError.from(reason);
          const pause = pauseAfter(attempt);
          // Nothing is stored, so every call may be repeated.
          const isRepeated = error.code === Code.Unavailable && attempt < settings.attempts && !signal?.aborted;
          if (!isRepeated || performance.now() + pause >= end) {
            throw errorOf(error);
          }
          await new Promise((resolve) => setTimeout(resolve, pause));
        }
      }
    },
    stream(method, signal, timeoutMs, header, input, contextValues) {
      return inner.stream(method, signal, timeoutMs, withHeaders(header, settings), input, contextValues);
    },
  };
}

function withHeaders(own: HeadersInit | undefined, settings: CallSettings): Headers {
  const headers = new Headers(settings.headers);
  new Headers(own).forEach((value, name) => headers.set(name, value));
  return headers;
}

// Many clients of one service do not come back at the same time.
function pauseAfter(attempt: number): number {
  return Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1)) * (0.8 + 0.4 * Math.random());
}

// As fetch, but where no response comes at all, that is said by a status.
async function reach(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(input, init);
  } catch (error) {
    throw error instanceof TypeError
      ? new ConnectError(error.message, Code.Unavailable, undefined, undefined, error)
      : error;
  }
}
