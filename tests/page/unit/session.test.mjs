// Sealed tables in a browser. The tables are from the fixed vectors, and the service is simulated.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach, test } from "node:test";

import { pageGlobals, playService, refused } from "./support.mjs";

let kept = pageGlobals();
const { Refusal } = await import("../../../web/api.js");
const { newSecret, Session, tableIn } = await import("../../../web/session.js");
const { ForkError } = await import("../../../web/shared/fork_error.js");
const store = await import("../../../web/store.js");

const VECTORS = JSON.parse(readFileSync(new URL("../../data/sealed_tables.json", import.meta.url), "utf8"));
const tablesOf = (wanted) => VECTORS.to_send.find(({ what }) => what === wanted).tables;
/** The tables of a game among friends, and of a game with acknowledgements. */
const FRIENDS = tablesOf("a move among friends");
const NEXT = tablesOf("a move to be acknowledged");
const FORK = VECTORS.merged.find(({ error }) => error === "fork");
const { id } = tableIn(FRIENDS[0]);

/** The secrets of seats, by their hashes. */
function secretsOf(text, ...seats) {
  const { seats: holders } = tableIn(text);
  return Object.fromEntries(seats.map((seat) => [holders[seat].secretSha256, `secret ${seat}`]));
}

beforeEach(() => {
  kept = pageGlobals();
});

test("accepted tables are kept, with the secrets of the browser's seats", () => {
  const session = Session.take(FRIENDS, secretsOf(FRIENDS[0], 0, 2));
  assert.deepEqual([session.mine, session.table.ply, session.isAlone], [[0, 2], 4, false]);
  const again = Session.open(id);
  assert.deepEqual([again.mine, again.table.ply, again.kept.game], [[0, 2], 4, "discat"]);
  assert.equal(store.plyOf(id, 3), FRIENDS[3]);
});

test("older tables change nothing", () => {
  Session.take(FRIENDS, {});
  const session = Session.take(FRIENDS.slice(0, 2), {});
  assert.equal(session.table.ply, 4);
});

test("an invalid table is refused, and damaged storage counts as missing", () => {
  for (const texts of [
    [],
    [""],
    ["abc"],
    [FRIENDS[0].slice(0, -4)],
    [FRIENDS[0], VECTORS.tables[9].table, "?"],
  ]) {
    assert.throws(() => Session.take(texts, {}), RangeError);
  }
  assert.equal(kept.size, 0);
  Session.take(FRIENDS, {});
  localStorage.setItem(`chatiere table ${id} 4`, FRIENDS[4].slice(4));
  assert.equal(Session.open(id), undefined);
  localStorage.setItem(`chatiere table ${id}`, "{");
  assert.equal(Session.open(id), undefined);
});

test("acknowledgements of two copies are merged", () => {
  const { one, other, merged } = VECTORS.merged.find(({ what }) => what === "each has one");
  Session.take([one], {});
  const session = Session.take([other], {});
  assert.deepEqual(session.missing, []);
  assert.equal(store.plyOf(session.id, 0), merged);
});

test("another table of a ply is a fork, which replaces the table only on request", () => {
  const { ply } = tableIn(FORK.one);
  Session.take([FORK.one], {});
  assert.throws(
    () => Session.take([FORK.other], {}),
    (error) => error instanceof ForkError && error.ply === ply,
  );
  assert.equal(store.plyOf(id, ply), FORK.one);
  Session.take([FORK.other], {}, true);
  assert.equal(store.plyOf(id, ply), FORK.other);
});

test("only tables of the service are received", async () => {
  const calls = playService({ Look: () => refused("INVALID_TABLE") });
  await assert.rejects(Session.receive(FRIENDS, {}), (error) => error instanceof Refusal);
  assert.equal(kept.size, 0);
  playService({ Look: () => refused("NOT_ACKNOWLEDGED") });
  const session = await Session.receive(FRIENDS, {});
  assert.equal(session.table.ply, 4);
  // The page does not ask the service about tables that it already has.
  const more = playService({});
  await Session.receive(FRIENDS, {});
  assert.deepEqual([calls.length, more.length], [1, 0]);
});

test("a table is acknowledged for the browser's seats, after the promise is stored", async () => {
  const vector = VECTORS.tables.find(({ missing_seats }) => missing_seats.length === 2);
  const session = Session.take([vector.table], secretsOf(vector.table, 1));
  const { table } = VECTORS.tables.find(
    ({ missing_seats, ply }) => ply === 0 && missing_seats.join() === "0",
  );
  const calls = playService({ Acknowledge: () => ({ table }) });
  await session.acknowledge();
  assert.deepEqual(calls, [{ method: "Acknowledge", request: { table: vector.table, secret: "secret 1" } }]);
  assert.deepEqual(session.missing, [0]);
  assert.deepEqual(store.promisesOf(session.id, 1), [[0, vector.hash]]);
  await session.acknowledge();
  assert.equal(calls.length, 1);
});

test("with acknowledgements a seat makes one move at a ply", async () => {
  const [before, after] = NEXT.slice(-2);
  const { ply } = tableIn(after);
  const session = Session.take(NEXT.slice(0, -1), secretsOf(before, 0));
  await store.keepPromise(0, `${session.id} ${ply}`, "of another table");
  playService({ Move: () => ({ table: after }) });
  await assert.rejects(session.move(0, { id: 1 }), (error) => error instanceof ForkError);
  assert.equal(session.table.ply, ply - 1);
});

test("a move makes the newest table, with the seat's update", async () => {
  const [before, after] = FRIENDS.slice(-2);
  const session = Session.take(FRIENDS.slice(0, -1), secretsOf(before, 0));
  const calls = playService({ Move: () => ({ table: after, update: { view: { end: {} } } }) });
  const update = await session.move(0, { id: 7 });
  assert.deepEqual(calls[0].request, { table: before, secret: "secret 0", action: { id: 7 } });
  assert.deepEqual(update, { view: { end: {} } });
  assert.deepEqual([session.table.ply, Session.open(id).kept.isOver], [4, true]);
});

test("a bot's move that arrives after its table was taken back is ignored", async () => {
  const [first, second, third] = tablesOf("alone against bots");
  const session = Session.take([first, second], secretsOf(first, 0));
  playService({
    Move: () => {
      session.undo();
      return { table: third, update: {} };
    },
  });
  assert.equal(await session.move(undefined), undefined);
  assert.deepEqual([session.table.ply, store.plyOf(id, 2)], [0, undefined]);
});

test("the last decision of a person who plays only against bots is taken back", () => {
  const alone = tablesOf("alone against bots");
  const session = Session.take(alone, secretsOf(alone[0], 0));
  assert(session.isAlone && session.canUndo);
  session.undo();
  assert.deepEqual([session.table.ply, Session.open(id).table.ply, session.canUndo], [0, 0, false]);
  assert.equal(store.plyOf(id, 1), undefined);
});

test("with other people, or with acknowledgements, no decision is taken back", () => {
  assert(!Session.take(FRIENDS, secretsOf(FRIENDS[0], 0)).canUndo);
  kept = pageGlobals();
  const session = Session.take(NEXT, secretsOf(NEXT[0], 0, 1, 2));
  assert(session.isAlone && !session.canUndo);
});

for (const { what, tables, mine, turn, seats, sent } of VECTORS.to_send) {
  test(`tables to send to each seat: ${what}`, () => {
    const session = Session.take(tables, secretsOf(tables[0], ...mine));
    const sending = session.toSend(turn ?? undefined);
    assert.deepEqual(sending.seats, seats);
    assert.deepEqual(
      sending.texts,
      sent.map((index) => tables[index]),
    );
  });
}

test("a record needs the tables of all plies", async () => {
  const calls = playService({ GetRecord: () => ({ record: { root: "abc" } }) });
  assert.deepEqual(await Session.take(FRIENDS, {}).record(), { root: "abc" });
  assert.deepEqual(calls[0].request, { tables: FRIENDS });
  store.forgetTable(id);
  await assert.rejects(Session.take(FRIENDS.slice(2), {}).record(), {
    name: "RangeError",
    message: /ply 0 is missing/,
  });
});

test("full storage drops finished games, the oldest first, but keeps promises", async () => {
  const session = Session.take(FRIENDS, {});
  session.end();
  await store.keepPromise(0, `${id} 1`, "hash");
  const { setItem } = Object.getPrototypeOf(localStorage);
  let room = 2;
  Object.getPrototypeOf(localStorage).setItem = (key, text) => {
    if (room-- <= 0 && kept.has(`chatiere table ${id}`)) {
      throw new Error("full");
    }
    setItem(key, text);
  };
  const other = VECTORS.merged.find(({ what }) => what === "another game").other;
  const kind = Session.take([other], secretsOf(other, 0));
  assert.equal(Session.open(id), undefined);
  assert.equal(Session.open(kind.id).table.ply, 2);
  assert.deepEqual(store.promisesOf(id, 0), [[1, "hash"]]);
  Object.getPrototypeOf(localStorage).setItem = () => {
    throw new Error("full");
  };
  assert.throws(() => store.keepPly(kind.id, 3, "text"), store.StorageFull);
});

test("a table that is only watched is remembered if storage is full", () => {
  Object.getPrototypeOf(localStorage).setItem = () => {
    throw new Error("full");
  };
  assert.equal(Session.take(FRIENDS, {}).table.ply, 4);
  assert.equal(kept.size, 0);
  assert.equal(Session.open(id).table.ply, 4);
  store.forgetTable(id);
  assert.equal(Session.open(id), undefined);
  assert.throws(() => Session.take(FRIENDS, secretsOf(FRIENDS[0], 0)), store.StorageFull);
});

test("secrets are random, and shown by their hash", async () => {
  const [one, other] = [await newSecret(), await newSecret()];
  assert.match(one.secret, /^[\w-]{22}$/);
  assert.match(one.hash, /^[\w-]{43}$/);
  assert.notEqual(one.secret, other.secret);
});
