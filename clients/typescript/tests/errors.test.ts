import assert from "node:assert/strict";
import { test } from "node:test";

import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { Chatiere, ChatiereError, GameService, TransportError } from "@chatiere/client";

import { connected, DOOR, GRPC, refusalOf } from "./support.js";

const PLAY = { case: "play" as const, value: { cards: [1] } };
const ILLEGAL = { game: { case: "discat" as const, value: { action: PLAY } } };

for (const [name, service] of [
  ["the door for browsers", DOOR],
  ["gRPC", createGrpcTransport({ baseUrl: GRPC })],
] as const) {
  test(`a refusal says why, over ${name}`, async () => {
    const chatiere = new Chatiere(service, { language: "fr" });
    const table = await chatiere.newGame({ game: "discat", players: 2, seed: 7n });
    const error = await refusalOf(table.move(ILLEGAL));
    assert(!(error instanceof TransportError));
    assert(error instanceof Error && error.name === "ChatiereError");
    assert.equal(error.code, Code.InvalidArgument);
    assert.equal(error.reason, "ILLEGAL_ACTION");
    assert.match(error.message, /^ILLEGAL_ACTION: action\.discat\.play\.cards\[0\]: /);
    assert.match(error.rule, /^discat\.md: Actions$/);
    assert.equal(error.ruleKey, "rule.card_not_in_hand");
    assert.match(error.field, /^action\.discat\.play/);
    assert.equal(error.violations[0]?.field, error.field);
    assert.notEqual(error.localized, "");
    assert.doesNotMatch(error.localized, /card/);
    assert.equal(error.metadata["game"], "discat");
    assert.notEqual(error.requestId, "");
    assert.equal(error.retryAfterMs, undefined);
    assert(error.cause instanceof ConnectError);
  });
}

test("without a language an error is not localized, and without a rule it has none", async () => {
  const chatiere = new Chatiere(createGrpcTransport({ baseUrl: GRPC }));
  const error = await refusalOf(chatiere.newGame({ game: "none", players: 2 }));
  assert.deepEqual([error.reason, error.localized, error.rule, error.ruleKey], ["UNKNOWN_GAME", "", "", ""]);
});

test("of a call the client's own headers come first", async () => {
  const call = connected({ language: "fr" }).games.newGame({ game: "none" }, { headers: { "accept-language": "xx-" } });
  assert.equal((await refusalOf(call)).reason, "INVALID_LANGUAGE");
});

test("where there is no service, that is a TransportError", async () => {
  // Nobody listens at port 9 of this machine.
  const error = await refusalOf(new Chatiere("http://127.0.0.1:9", { attempts: 1 }).games.listGames({}));
  assert(error instanceof TransportError);
  assert.deepEqual([error.code, error.reason, error.name], [Code.Unavailable, "", "TransportError"]);
});

test("a page instead of a service is a TransportError", async () => {
  const error = await refusalOf(new Chatiere(`${DOOR}/nowhere`).games.listGames({}));
  assert(error instanceof TransportError);
  assert.equal(error.code, Code.Unimplemented);
});

test("a call that takes longer than the client's time limit is given up", async () => {
  const never = () => new Promise<never>(() => undefined);
  const transport = createRouterTransport(({ service }) => service(GameService, { listGames: never }));
  const error = await refusalOf(new Chatiere(transport, { timeoutMs: 1 }).games.listGames({}));
  assert(error instanceof TransportError);
  assert.equal(error.code, Code.DeadlineExceeded);
});

test("a call that is cancelled says so", async () => {
  const signal = AbortSignal.abort();
  const error = await refusalOf(connected().games.listGames({}, { signal }));
  assert(error instanceof ChatiereError);
  assert.equal(error.code, Code.Canceled);
});
