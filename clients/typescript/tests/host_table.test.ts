import assert from "node:assert/strict";
import { test } from "node:test";

import { create, toBinary } from "@bufbuild/protobuf";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { ActionSchema, Chatiere, type HostTable, readRecord, StateSchema, TurnKind } from "@chatiere/client";

import { at, choose, connected, GRPC, present, refusalOf } from "./support.js";

const chatiere = connected();
const { games } = await chatiere.games.listGames({});

/** Play to the end, and check the update of every screen. */
async function play(table: HostTable): Promise<void> {
  const players = table.record.players;
  while (table.seat !== undefined) {
    const { seat, ply, seats } = table;
    assert.equal(seats.length, players);
    seats.forEach((update, number) => {
      assert.equal(update.seat, number);
      assert.equal(update.legalActions.length, number === seat ? table.legalActions.length : 0);
    });
    assert.equal(table.spectator.seat, undefined);
    assert.equal(table.spectator.view?.ply, ply);
    const action = choose(at(seats, seat).legalActions, ply);
    // Pass the action as a typed action, as an id, or as both.
    const moves = [create(ActionSchema, { game: action.game }), present(action.id), action] as const;
    await table.move(at(moves, ply % 3), seat);
    assert.equal(table.ply, ply + 1);
    assert.equal(table.record.actions.at(-1), action.id);
  }
}

for (const { name, minPlayers } of games) {
  test(`a game of ${name} is played to its end, and its record gives the same position`, async () => {
    const table = await chatiere.newGame({ game: name, players: minPlayers, seed: 7n });
    await play(table);
    assert.equal(table.position.turn?.kind, TurnKind.OVER);
    assert.notEqual(present(table.end).label, "");
    assert(table.score.final && table.score.winners.length > 0);
    assert.equal(table.record.game, name);
    const again = await chatiere.resume(table.record);
    const bytes = ({ position }: HostTable) => toBinary(StateSchema, present(position.state));
    assert.deepEqual(bytes(again), bytes(table));
    assert.deepEqual(again.record, table.record);
  });
}

test("the service has five games", () => assert.equal(games.length, 5));

test("a client can use another Connect transport: a game over gRPC", async () => {
  const table = await new Chatiere(createGrpcTransport({ baseUrl: GRPC })).newGame({ game: "discat", players: 2 });
  await play(table);
  assert(table.score.final);
});

test("a game can be resumed from its record", async () => {
  const request = { game: "momistigri", players: 4, seed: 3n, gameNumber: 5n };
  const table = await chatiere.newGame(request);
  for (let ply = 0; ply < 6; ply++) {
    await table.move(choose(table.legalActions, ply));
  }
  const resumed = await chatiere.resume(table.record);
  await resumed.move(choose(resumed.legalActions, 6));
  assert.equal(table.record.actions.length, 6);
  assert.equal(resumed.record.actions.length, 7);
  await table.move(present(resumed.record.actions.at(-1)));
  assert.deepEqual(table.position.state, resumed.position.state);
});

test("a game can be resumed from a record as text", async () => {
  const { rulesVersion } = present(games.find(({ name }) => name === "discat"));
  const tags = ["game: discat", `rules_version: ${rulesVersion}`, "players: 3", "seed: 7"];
  const table = await chatiere.resume(readRecord([...tags, "", "1. seat 2: 0  # play 5", "so far", ""].join("\n")));
  assert.deepEqual([table.ply, table.seat, table.record.actions], [1, 0, [0]]);
  assert.throws(() => readRecord(tags.join("\n")), { name: "RangeError", message: /truncated/ });
});

test("the record contains the options", async () => {
  const options = { game: { case: "discat" as const, value: { firstSeat: 2 } } };
  const table = await chatiere.newGame({ options, players: 3, seed: 1n });
  await table.move(choose(table.legalActions, 0));
  assert.deepEqual((await chatiere.resume(table.record)).position.state, table.position.state);
});

test("the labels of every position and the record contain the players' names", async () => {
  const seatNames = ["Alice", "Bob"];
  const table = await chatiere.newGame({ game: "discat", players: 2, seed: 7n, include: { seatNames } });
  const named = ({ events, spectator }: HostTable) =>
    [events, spectator.events].every((seen) => seen.some(({ label }) => /^(Alice|Bob) /.test(label)));
  assert(named(table));
  await table.move(choose(table.legalActions, 0));
  assert(named(table));
  assert.deepEqual(table.record.seatNames, seatNames);
  const resumed = await chatiere.resume(table.record, { seatNames: ["Anna", "Bob"] });
  await resumed.move(choose(resumed.legalActions, 1));
  assert(resumed.events.every(({ label }) => !/seat \d/.test(label)));
  const nameless = await chatiere.resume(table.record);
  await nameless.move(choose(nameless.legalActions, 1));
  assert.match(present(nameless.events[0]).label, /^seat \d/);
});

test("the parts of positions that a table always includes cannot be excluded", async () => {
  // @ts-expect-error The table always includes them.
  const table = await chatiere.newGame({ game: "discat", players: 2, include: { legalActions: false, viewers: [] } });
  assert(table.legalActions.length > 0 && table.seats.length === 2);
});

test("the host decides explicit chance, and the record contains the outcomes", async () => {
  const table = await chatiere.newGame({ game: "chat_cartonne", players: 2, explicitChance: true });
  let steps = 0;
  for (; table.end === undefined; steps++) {
    if (table.seat === undefined) {
      await table.resolve(at(table.chanceOutcomes, steps % table.chanceOutcomes.length).outcome);
    } else {
      await table.move(choose(table.legalActions, steps));
    }
  }
  const { chance, actions } = table.record;
  assert(chance.case === "outcomes");
  assert.equal(chance.value.outcomes.length + actions.length, steps);
  assert.deepEqual((await chatiere.resume(table.record)).position.state, table.position.state);
});

test("a refused move changes nothing", async () => {
  const table = await chatiere.newGame({ game: "discat", players: 2, seed: 7n });
  const { position, seat } = table;
  const play = { case: "play" as const, value: { cards: [1] } };
  const typed = { game: { case: "discat" as const, value: { action: play } } };
  assert.equal((await refusalOf(table.move(typed))).reason, "ILLEGAL_ACTION");
  assert.equal((await refusalOf(table.move(0, 1 - present(seat)))).reason, "WRONG_TURN");
  assert.equal((await refusalOf(table.resolve(0))).reason, "NO_CHANCE_PENDING");
  assert.equal(table.position, position);
  assert.deepEqual(table.record.actions, []);
});

test("two identical concurrent moves make one move", async () => {
  const table = await chatiere.newGame({ game: "discat", players: 2, seed: 7n });
  const seat = present(table.seat);
  const click = () => table.move(at(table.legalActions, 0), seat);
  const [first, second] = await Promise.allSettled([click(), click()]);
  assert.equal(first.status, "fulfilled");
  assert(second.status === "rejected");
  assert.equal(second.reason.reason, "WRONG_TURN");
  assert.equal(table.ply, 1);
  assert.equal(table.record.actions.length, 1);
});
