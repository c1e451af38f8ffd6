// How calls are made: metadata, deadlines, retries, errors.

import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

import { errorOf } from "./errors.js";
import { repeated } from "./shared/retries.js";

/** The settings that all calls of a client share. */
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
      const call = () => {
        const left = end === Infinity ? 0 : Math.max(1, Math.ceil(end - performance.now()));
        return inner.unary(method, signal, left, headers, input, contextValues);
      };
      const pauseAfter = (reason: unknown) =>
        ConnectError.from(reason).code === Code.Unavailable && !signal?.aborted ? 0 : undefined;
      try {
        return await repeated(call, { pauseAfter, attempts: settings.attempts, end });
      } catch (reason) {
        throw errorOf(ConnectError.from(reason));
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
