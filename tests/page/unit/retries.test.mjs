// Calls that are retried.

import assert from "node:assert/strict";
import { test } from "node:test";

import { repeated } from "../../../web/shared/retries.js";

/** Make a call that fails a number of times. Return the number of attempts, and the pauses between them. */
async function tried(t, failures, how) {
  const pauses = [];
  t.mock.method(globalThis, "setTimeout", (run, milliseconds) => {
    pauses.push(milliseconds);
    queueMicrotask(run);
  });
  let calls = 0;
  const call = async () => {
    calls += 1;
    if (calls <= failures) {
      throw new Error("not now");
    }
    return "there";
  };
  const result = await repeated(call, how).catch((error) => error.message);
  return { result, calls, pauses };
}

test("pauses double, up to about a second", async (t) => {
  const { result, calls, pauses } = await tried(t, 20, { pauseAfter: () => 0 });
  assert.deepEqual([result, calls, pauses.length], ["there", 21, 20]);
  pauses.forEach((pause, index) => {
    const usual = Math.min(1000, 100 * 2 ** index);
    assert(pause >= 0.8 * usual && pause <= 1.2 * usual, `${index}: ${pause}`);
  });
});

test("the service may request longer pauses, but not shorter ones", async (t) => {
  const { pauses } = await tried(t, 2, { pauseAfter: () => 150 });
  assert.equal(pauses[0], 150);
  assert(pauses[1] >= 160);
});

test("other errors are final", async (t) => {
  const { result, calls } = await tried(t, 1, { pauseAfter: () => undefined });
  assert.deepEqual([result, calls], ["not now", 1]);
});

test("after the last attempt the error is reported", async (t) => {
  const { result, calls } = await tried(t, 3, { pauseAfter: () => 0, attempts: 3 });
  assert.deepEqual([result, calls], ["not now", 3]);
});

test("calls are not retried after their deadline", async (t) => {
  const { result, calls } = await tried(t, 1, { pauseAfter: () => 0, end: performance.now() + 50 });
  assert.deepEqual([result, calls], ["not now", 1]);
});
