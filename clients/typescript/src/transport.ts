// Transports that add metadata, deadlines, retries and errors.

import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

import { errorOf, TransportError } from "./errors.js";
import { repeated } from "./shared/retries.js";

/** The codes of failed calls that are repeated. With the last two, connect-node reports that the connection broke. */
const BROKEN = [Code.Unavailable, Code.Canceled, Code.Aborted];

/** The settings common to all calls of a client. */
export interface CallSettings {
  /** The headers of every call, by name. Headers of a single call override these headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The time limit of a call in milliseconds, including retries, unless the call has a timeout. */
  readonly timeoutMs: number;
  /** The maximum number of attempts at a call while the service is unavailable. */
  readonly attempts: number;
}

/** Return a transport to a web door, using the Connect protocol with binary messages. */
export function doorTransport(baseUrl: string): Transport {
  return createConnectTransport({ baseUrl, useBinaryFormat: true, fetch: reach });
}

/**
 * Return a transport that makes calls over another transport. It adds headers and retries, and throws ChatiereErrors.
 *
 * `open` returns the other transport. If a call gets no response in time, `open` is called again, because the
 * connection may be dead and connect-node (2.1) keeps dead connections.
 *
 * If a value is out of range for its field, for example a negative seed, the call sends no request and rejects with
 * RangeError.
 */
export function callingTransport(open: () => Transport, settings: CallSettings): Transport {
  let current = open();
  const errorAfter = (used: Transport, reason: unknown) => {
    const error = errorOf(ConnectError.from(reason));
    if (used === current && error instanceof TransportError && error.code === Code.DeadlineExceeded) {
      current = open();
    }
    return error;
  };
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const request = checked(method.input, input);
      const headers = withHeaders(header, settings);
      const timeout = timeoutMs ?? settings.timeoutMs;
      // As in Connect, 0 means no timeout.
      const end = timeout > 0 ? performance.now() + timeout : Infinity;
      let used = current;
      const call = () => {
        used = current;
        const left = end === Infinity ? 0 : Math.max(1, Math.ceil(end - performance.now()));
        return used.unary(method, signal, left, headers, request, contextValues);
      };
      const pauseAfter = (reason: unknown) =>
        BROKEN.includes(ConnectError.from(reason).code) && !signal?.aborted ? 0 : undefined;
      try {
        return await repeated(call, { pauseAfter, attempts: settings.attempts, end });
      } catch (reason) {
        throw errorAfter(used, reason);
      }
    },
    async stream(method, signal, timeoutMs, header, input, contextValues) {
      const headers = withHeaders(header, settings);
      const used = current;
      const errorOfStream = (reason: unknown) => errorAfter(used, reason);
      try {
        const response = await used.stream(method, signal, timeoutMs, headers, input, contextValues);
        return { ...response, message: received(response.message, errorOfStream) };
      } catch (reason) {
        throw errorOfStream(reason);
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

async function* received<O>(
  messages: AsyncIterable<O>,
  errorOfStream: (reason: unknown) => Error,
): AsyncGenerator<O, void> {
  try {
    yield* messages;
  } catch (reason) {
    throw errorOfStream(reason);
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
    // With Connect's "error", fetch in Node (20.20) ignores the signal once garbage was collected.
    return await fetch(input, { ...init, redirect: "manual" });
  } catch (error) {
    throw error instanceof TypeError
      ? new ConnectError(error.message, Code.Unavailable, undefined, undefined, error)
      : error;
  }
}
