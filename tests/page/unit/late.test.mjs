// Calls whose responses do not arrive, and the button that sends them again.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pageGlobals } from "./support.mjs";

pageGlobals();
const { call, connection, LATE, tryAgain } = await import("../../../web/api.js");

/** Answer the requests by functions of the request's signal, in order. Return the states that the connection reports. */
function serve(...responses) {
  globalThis.fetch = (_, { signal }) => responses.shift()(signal);
  const states = [];
  for (const state of ["late", "waiting", "back"]) {
    connection.addEventListener(state, () => states.push(state));
  }
  return states;
}

const hang = (signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const answer = async () => ({
  ok: true,
  status: 200,
  headers: new Headers(),
  json: async () => ({ turn: 1 }),
});

/** Let promises settle. */
const settle = () => new Promise(setImmediate);

test("a call without a response can be sent again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const states = serve(hang, answer);
  const called = call("TableService/Look", {});
  t.mock.timers.tick(LATE - 1);
  assert.deepEqual(states, []);
  t.mock.timers.tick(1);
  assert.deepEqual(states, ["late"]);
  tryAgain();
  await settle();
  assert.deepEqual(states, ["late", "waiting"]);
  t.mock.timers.tick(1000);
  assert.deepEqual(await called, { turn: 1 });
  assert.deepEqual(states, ["late", "waiting", "back"]);
});

test("other responses do not hide that a call is late", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {(response: unknown) => void} */
  let respond;
  const states = serve(() => new Promise((resolve) => (respond = resolve)), answer);
  const called = call("TableService/Move", {});
  t.mock.timers.tick(LATE);
  await call("TableService/Look", {});
  assert.deepEqual(states, ["late"]);
  respond(await answer());
  await called;
  assert.deepEqual(states, ["late", "back"]);
});

test("a long analysis is not late", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {(response: unknown) => void} */
  let respond;
  const states = serve(() => new Promise((resolve) => (respond = resolve)));
  const called = call("BotService/Analyse", {});
  t.mock.timers.tick(LATE);
  respond(await answer());
  await called;
  assert.deepEqual(states, []);
});
