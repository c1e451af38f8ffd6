import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";

import { Chatiere, GameService, type Settings } from "@chatiere/client";

import { refusalOf } from "./support.js";

/** The shortest pause between attempts, in milliseconds. Timers for shorter times do not run in these tests. */
const SHORTEST_PAUSE = 80;

/**
 * Create a client whose service refuses the first `failures` calls with `code`. Returns the client (`chatiere`), the
 * headers of all requests that the service received (`calls`), and the client's pauses in milliseconds (`pauses`).
 */
function flaky(t: TestContext, failures: number, code = Code.Unavailable, settings: Settings = { timeoutMs: 0 }) {
  const calls: Headers[] = [];
  const pauses: number[] = [];
  t.mock.method(globalThis, "setTimeout", (run: () => void, milliseconds: number) => {
    if (milliseconds >= SHORTEST_PAUSE) {
      pauses.push(milliseconds);
      queueMicrotask(run);
    }
  });
  const transport = createRouterTransport(({ service }) =>
    service(GameService, {
      listGames(_, { requestHeader }) {
        calls.push(requestHeader);
        if (calls.length <= failures) {
          throw new ConnectError("not now", code);
        }
        return {};
      },
    }),
  );
  return { chatiere: new Chatiere(transport, settings), calls, pauses };
}

test("calls are retried while the service is unavailable, with pauses that double", async (t) => {
  const { chatiere, calls, pauses } = flaky(t, 4);
  await chatiere.games.listGames({});
  assert.equal(calls.length, 5);
  assert.equal(pauses.length, 4);
  pauses.forEach((pause, number) => {
    const expected = 100 * 2 ** number;
    assert(pause >= 0.8 * expected && pause <= 1.2 * expected, `${pause}`);
  });
});

for (const code of [Code.Canceled, Code.Aborted]) {
  test(`calls are repeated if the connection breaks (${Code[code]})`, async (t) => {
    const { chatiere, calls } = flaky(t, 1, code);
    await chatiere.games.listGames({});
    assert.equal(calls.length, 2);
  });
}

test("another transport is created after a call without a response in time", async () => {
  let created = 0;
  const chatiere = new Chatiere(() => {
    created++;
    const isLate = created === 1;
    return createRouterTransport(({ service }) =>
      service(GameService, {
        listGames() {
          if (isLate) {
            throw new ConnectError("late", Code.DeadlineExceeded);
          }
          return {};
        },
      }),
    );
  });
  const errors = await Promise.all([1, 2].map(() => refusalOf(chatiere.games.listGames({}))));
  assert.deepEqual(
    errors.map(({ code }) => code),
    [Code.DeadlineExceeded, Code.DeadlineExceeded],
  );
  await chatiere.games.listGames({});
  assert.equal(created, 2);
});

test("pauses are at most 1.2 seconds", async (t) => {
  const { chatiere, pauses } = flaky(t, 20, Code.Unavailable, { timeoutMs: 0, attempts: 21 });
  await chatiere.games.listGames({});
  assert(Math.max(...pauses) <= 1200);
  assert(Math.min(...pauses.slice(5)) >= 800);
});

test("the last attempt's error is reported", async (t) => {
  const { chatiere, calls } = flaky(t, 3, Code.Unavailable, { timeoutMs: 0, attempts: 3 });
  const error = await refusalOf(chatiere.games.listGames({}));
  assert.deepEqual([error.code, calls.length], [Code.Unavailable, 3]);
});

test("other errors are reported without a retry", async (t) => {
  const { chatiere, calls } = flaky(t, 1, Code.ResourceExhausted);
  const error = await refusalOf(chatiere.games.listGames({}));
  assert.deepEqual([error.code, calls.length], [Code.ResourceExhausted, 1]);
});

test("no call is retried after its timeout", async (t) => {
  const { chatiere, calls } = flaky(t, 1);
  const error = await refusalOf(chatiere.games.listGames({}, { timeoutMs: SHORTEST_PAUSE - 1 }));
  assert.deepEqual([error.code, calls.length], [Code.Unavailable, 1]);
});

test("every attempt sends the token and the language", async (t) => {
  const { chatiere, calls } = flaky(t, 2, Code.Unavailable, { timeoutMs: 0, token: "secret", language: "fr" });
  await chatiere.games.listGames({});
  for (const headers of calls) {
    assert.deepEqual([headers.get("authorization"), headers.get("accept-language")], ["Bearer secret", "fr"]);
  }
});
