// Transports that add metadata, deadlines, retries and errors.

import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

import { errorOf } from "./errors.js";
import { repeated } from "./shared/retries.js";

/** The settings common to all calls of a client. */
export interface CallSettings {
  /** The headers of every call, by name. A call's own headers take precedence. */
  readonly headers: Readonly<Record<string, string>>;
  /** The milliseconds that a call may take, including retries, unless the call has its own timeout. */
  readonly timeoutMs: number;
  /** The maximum number of attempts at a call while the service is unavailable. */
  readonly attempts: number;
}

/** Return a transport to a door for browsers, using the Connect protocol with binary messages. */
export function doorTransport(baseUrl: string): Transport {
  return createConnectTransport({ baseUrl, useBinaryFormat: true, fetch: reach });
}

/**
 * Return a transport that makes calls over another transport. It adds headers and retries, and throws ChatiereErrors.
 *
 * If a value is out of range for its field, such as a negative seed, the call rejects with RangeError without sending
 * the request.
 */
export function callingTransport(inner: Transport, settings: CallSettings): Transport {
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const request = checked(method.input, input);
      const headers = withHeaders(header, settings);
      const timeout = timeoutMs ?? settings.timeoutMs;
      // As in Connect, 0 means no timeout.
      const end = timeout > 0 ? performance.now() + timeout : Infinity;
      const call = () => {
        const left = end === Infinity ? 0 : Math.max(1, Math.ceil(end - performance.now()));
        return inner.unary(method, signal, left, headers, request, contextValues);
      };
      const pauseAfter = (reason: unknown) =>
        ConnectError.from(reason).code === Code.Unavailable && !signal?.aborted ? 0 : undefined;
      try {
        return await repeated(call, { pauseAfter, attempts: settings.attempts, end });
      } catch (reason) {
        throw errorOf(ConnectError.from(reason));
      }
    },
    async stream(method, signal, timeoutMs, header, input, contextValues) {
      const headers = withHeaders(header, settings);
      try {
        const response = await inner.stream(method, signal, timeoutMs, headers, input, contextValues);
        return { ...response, message: received(response.message) };
      } catch (reason) {
        throw errorOf(ConnectError.from(reason));
      }
    },
  };
}

// Return a request as its message. Throws RangeError if the request cannot be encoded.
function checked<I extends DescMessage>(schema: I, request: MessageInitShape<I>): MessageInitShape<I> {
  try {
    const message = create(schema, request);
    toBinary(schema, message);
    return message as MessageInitShape<I>;
  } catch (reason) {
    throw new RangeError(reason instanceof Error ? reason.message : String(reason), { cause: reason });
  }
}

async function* received<O>(messages: AsyncIterable<O>): AsyncGenerator<O, void> {
  try {
    yield* messages;
  } catch (reason) {
    throw errorOf(ConnectError.from(reason));
  }
}

function withHeaders(own: HeadersInit | undefined, settings: CallSettings): Headers {
  const headers = new Headers(settings.headers);
  new Headers(own).forEach((value, name) => headers.set(name, value));
  return headers;
}

// Call fetch, and report a missing response as a status.
async function reach(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(input, init);
  } catch (error) {
    throw error instanceof TypeError
      ? new ConnectError(error.message, Code.Unavailable, undefined, undefined, error)
      : error;
  }
}
