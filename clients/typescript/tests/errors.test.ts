import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { Chatiere, ChatiereError, GameRecordSchema, GameService, TransportError } from "@chatiere/client";

import { connected, DOOR, GRPC, refusalOf } from "./support.js";

const PLAY = { case: "play" as const, value: { cards: [1] } };
const ILLEGAL = { game: { case: "discat" as const, value: { action: PLAY } } };

for (const [name, service] of [
  ["the web door", DOOR],
  ["gRPC", createGrpcTransport({ baseUrl: GRPC })],
] as const) {
  test(`a refusal has its reason and details, over ${name}`, async () => {
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

test("an error without a language is not localized, and an error without a rule names none", async () => {
  const chatiere = new Chatiere(createGrpcTransport({ baseUrl: GRPC }));
  const error = await refusalOf(chatiere.newGame({ game: "none", players: 2 }));
  assert.deepEqual([error.reason, error.localized, error.rule, error.ruleKey], ["UNKNOWN_GAME", "", "", ""]);
});

test("the headers of a call take precedence over the client's headers", async () => {
  const call = connected({ language: "fr" }).games.newGame({ game: "none" }, { headers: { "accept-language": "xx-" } });
  assert.equal((await refusalOf(call)).reason, "INVALID_LANGUAGE");
});

test("a call without a service rejects with a TransportError", async () => {
  const listening = createServer().listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  listening.close();
  await once(listening, "close");
  const error = await refusalOf(new Chatiere(`http://127.0.0.1:${port}`, { attempts: 1 }).games.listGames({}));
  assert(error instanceof TransportError);
  assert.deepEqual([error.code, error.reason, error.name], [Code.Unavailable, "", "TransportError"]);
});

test("a response that is not the service's rejects with a TransportError", async () => {
  const error = await refusalOf(new Chatiere(`${DOOR}/nowhere`).games.listGames({}));
  assert(error instanceof TransportError);
  assert.equal(error.code, Code.Unimplemented);
});

for (const [what, ask] of Object.entries({
  "a negative seed": (chatiere: Chatiere) => chatiere.newGame({ game: "discat", players: 2, seed: -1n }),
  "a seed of 65 bits": (chatiere: Chatiere) => chatiere.newGame({ game: "discat", players: 2, seed: 2n ** 64n }),
  "half a player": (chatiere: Chatiere) => chatiere.newGame({ game: "discat", players: 1.5 }),
  "a negative number of players": (chatiere: Chatiere) => chatiere.newGame({ game: "discat", players: -1 }),
  "half an action": async (chatiere: Chatiere) => (await chatiere.newGame({ game: "discat", players: 2 })).move(1.5),
  "a negative action": async (chatiere: Chatiere) => (await chatiere.newGame({ game: "discat", players: 2 })).move(-1),
  "half a seat": async (chatiere: Chatiere) => (await chatiere.newGame({ game: "discat", players: 2 })).move(0, 0.5),
  "a negative outcome": async (chatiere: Chatiere) =>
    (await chatiere.newGame({ game: "discat", players: 2, explicitChance: true })).resolve(-1),
  "a call of GameService": (chatiere: Chatiere) => chatiere.games.newGame({ game: "discat", players: 2, seed: -1n }),
  "half a simulation": (chatiere: Chatiere) =>
    chatiere.analyse(create(GameRecordSchema, { actions: [0] }), { simulations: 1.5 }).next(),
})) {
  test(`a value out of range for its field rejects with a RangeError: ${what}`, async () => {
    await assert.rejects(ask(connected()), { name: "RangeError", message: /chatiere\.v1\.\w+\.\w+/ });
  });
}

test("the service refuses a number of players that no game allows", async () => {
  const error = await refusalOf(connected().newGame({ game: "discat", players: 2 ** 32 - 1 }));
  assert.equal(error.reason, "INVALID_PLAYERS");
});

test("a refused stream rejects with a ChatiereError", async () => {
  const following = async () => {
    for await (const _ of connected().rooms.follow({ room: new Uint8Array(3) })) {
      assert.fail("nothing was refused");
    }
  };
  assert.equal((await refusalOf(following())).reason, "INVALID_ROOM");
});

test("a call that exceeds the client's timeout rejects with a TransportError", async () => {
  const never = () => new Promise<never>(() => undefined);
  const transport = createRouterTransport(({ service }) => service(GameService, { listGames: never }));
  const error = await refusalOf(new Chatiere(transport, { timeoutMs: 1 }).games.listGames({}));
  assert(error instanceof TransportError);
  assert.equal(error.code, Code.DeadlineExceeded);
});

test("a cancelled call rejects with Code.Canceled", async () => {
  const signal = AbortSignal.abort();
  const error = await refusalOf(connected().games.listGames({}, { signal }));
  assert(error instanceof ChatiereError);
  assert.equal(error.code, Code.Canceled);
});
