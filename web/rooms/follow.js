// The stream of a room's responses, in JSON.

import { detailOf, Refusal, REPEATED, sent, UNAUTHENTICATED, Unavailable } from "../api.js";

/** @import * as rooms from "#api/chatiere/v1/room_service_pb.js" */
/** @import { RefusalBody } from "../api.js" */

// The number of bytes before each message of a stream, and the bit of the first byte that marks the last message.
const ENVELOPE = 5;
const END = 2;

/**
 * Follow a room once, and yield its responses until the service ends the stream. Throws Unavailable and Refusal.
 * @param {rooms.FollowRequestJson} request
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<rooms.FollowResponseJson, void>}
 */
export async function* follow(request, signal) {
  const message = new TextEncoder().encode(JSON.stringify(request));
  const body = new Uint8Array(ENVELOPE + message.length);
  new DataView(body.buffer).setUint32(1, message.length);
  body.set(message, ENVELOPE);
  const response = await sent("RoomService/Follow", "application/connect+json", body, signal);
  if (!response?.body) {
    throw new Unavailable(0);
  }
  if (!response.ok) {
    throw REPEATED.has(response.status) ? new Unavailable(0) : new Refusal(response.status);
  }
  for await (const { isEnd, text } of envelopes(response.body.getReader())) {
    const found = JSON.parse(text);
    if (isEnd && found.error) {
      throw errorOf(found.error);
    }
    yield found;
  }
}

/**
 * Read the messages of a stream from Connect's envelopes: flags, length, content. Throws Unavailable if the connection
 * breaks.
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 */
async function* envelopes(reader) {
  let kept = new Uint8Array();
  for (;;) {
    const size = ENVELOPE + (kept.length < ENVELOPE ? 0 : new DataView(kept.buffer).getUint32(1));
    if (kept.length >= ENVELOPE && kept.length >= size) {
      const isEnd = ((kept[0] ?? 0) & END) !== 0;
      yield { isEnd, text: new TextDecoder().decode(kept.subarray(ENVELOPE, size)) };
      kept = kept.slice(size);
    } else {
      const { value } = await reader.read().catch(() => ({ value: undefined }));
      if (value === undefined) {
        throw new Unavailable(0);
      }
      const both = new Uint8Array(kept.length + value.length);
      both.set(kept);
      both.set(value, kept.length);
      kept = both;
    }
  }
}

/**
 * Return the error with which a stream ended.
 * @param {RefusalBody} body
 */
function errorOf(body) {
  const delay = detailOf(body, "RetryInfo")?.retryDelay;
  if (delay !== undefined || body.code === "unavailable") {
    return new Unavailable(1000 * Number.parseFloat(delay ?? "0"));
  }
  return new Refusal(body.code === "unauthenticated" ? UNAUTHENTICATED : 400, body);
}
