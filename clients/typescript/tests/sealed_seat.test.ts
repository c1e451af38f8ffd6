import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import type { MessageInitShape } from "@bufbuild/protobuf";

import {
  Acknowledgement,
  awaited,
  ForkError,
  hashOf,
  headerOf,
  MapStore,
  merged,
  missingSeats,
  type OptionsSchema,
  type SealedSeat,
  seatOf,
  type SeatStore,
  tableOf,
  textOf,
  toSend,
} from "@chatiere/client";

import { at, choose, connected, present, refusalOf } from "./support.js";

const chatiere = connected();

/**
 * Return seats with these texts in their stores, and their Discat table at ply 0 with all acknowledgements.
 */
async function begun(
  request: { options?: MessageInitShape<typeof OptionsSchema> } = {},
  stores: Map<string, string>[] = [new Map(), new Map()],
) {
  const seats = await Promise.all(stores.map((texts) => chatiere.takeSeat(new MapStore(texts))));
  const sitting = seats.map(({ seat }) => seat);
  const asked = { game: "discat", seats: sitting, acknowledgement: Acknowledgement.NEXT, ...request };
  let { table } = await at(seats, 0).newTable(asked);
  assert.equal((await refusalOf(at(seats, 0).look(table))).reason, "NOT_ACKNOWLEDGED");
  for (const seat of seats) {
    table = await seat.acknowledge(table);
  }
  return { seats, table };
}

/** Return the seat of a store, but without the tables that the seat acknowledged. */
function forgetting(texts: Map<string, string>): Promise<SealedSeat> {
  return chatiere.takeSeat(new MapStore(new Map([["secret", present(texts.get("secret"))]])));
}

test("two players play a sealed game to its end, and its record is complete", async () => {
  let { seats, table } = await begun();
  const tables = [table];
  for (let ply = 0; ; ply++) {
    const { turn } = present((await at(seats, 0).look(table)).view);
    if (turn?.seat === undefined) {
      break;
    }
    const [mover, next] = [at(seats, turn.seat), at(seats, 1 - turn.seat)];
    assert.deepEqual(awaited(table, turn.seat), [turn.seat]);
    const { legalActions } = await mover.look(table);
    const moved = await mover.move(table, choose(legalActions, ply));
    assert.deepEqual(missingSeats(moved.table), [1 - turn.seat]);
    assert.deepEqual(toSend([...tables, moved.table], [turn.seat]).seats, [1 - turn.seat]);
    assert.equal(moved.update, undefined);
    assert.deepEqual(headerOf(moved.table).parent, await hashOf(table));
    // Send the table as text.
    table = await next.acknowledge(tableOf(textOf(moved.table)));
    assert.equal((await next.look(table)).view?.ply, ply + 1);
    tables.push(table);
  }
  const record = await at(seats, 0).getRecord(tables);
  const { commitment, tableId } = headerOf(table);
  const root = createHash("sha256").update("chatiere table root 1").update(tableId).update(record.root).digest();
  assert.deepEqual(Buffer.from(commitment), root);
  const replayed = await chatiere.resume(present(record.record));
  assert(replayed.score.final);
  assert.equal(replayed.ply, tables.length - 1);
});

test("a player takes a seat with a secret that the service generated", async () => {
  const mine = await chatiere.takeSeat(new MapStore());
  const asked = { game: "discat", seats: [mine.seat, {}], acknowledgement: Acknowledgement.NONE };
  const { table, secrets } = await mine.newTable(asked);
  assert.deepEqual(
    secrets.map(({ seat }) => seat),
    [1],
  );
  const { secret } = at(secrets, 0);
  const texts = new Map<string, string>();
  const theirs = await chatiere.takeSeat(new MapStore(texts), secret);
  assert.equal((await theirs.look(table)).seat, 1);
  for (const again of [undefined, secret]) {
    assert.deepEqual((await chatiere.takeSeat(new MapStore(texts), again)).seat, theirs.seat);
  }
  await assert.rejects(chatiere.takeSeat(new MapStore(texts), new Uint8Array(16)), /belongs to another seat/);
  await assert.rejects(chatiere.takeSeat(new MapStore(), new Uint8Array(15)), { name: "RangeError" });
});

test("two copies of a table can be merged with their acknowledgements", async () => {
  const seats = await Promise.all([0, 1].map(() => chatiere.takeSeat(new MapStore())));
  const [one, other] = [at(seats, 0), at(seats, 1)];
  const asked = { game: "discat", seats: [one.seat, other.seat], acknowledgement: Acknowledgement.NEXT };
  const { table } = await one.newTable(asked);
  const whole = merged(await one.acknowledge(table), await other.acknowledge(table));
  assert.deepEqual(missingSeats(whole), []);
  assert.equal((await other.look(whole)).seat, 1);
});

test("a seat acknowledges only one child of a table", async () => {
  const stores = [new Map<string, string>(), new Map<string, string>()];
  const { seats, table } = await begun({}, stores);
  const { turn } = present((await at(seats, 0).look(table)).view);
  const mover = present(turn?.seat);
  const { legalActions } = await at(seats, mover).look(table);
  const first = (await at(seats, mover).move(table, at(legalActions, 0))).table;
  const again = await forgetting(at(stores, mover));
  const second = (await again.move(table, at(legalActions, 1))).table;
  await assert.rejects(at(seats, mover).move(table, at(legalActions, 1)), ForkError);
  const next = at(seats, 1 - mover);
  await next.acknowledge(first);
  await assert.rejects(next.acknowledge(second), ForkError);
  // A table can be acknowledged again, with the same bytes.
  assert.deepEqual(await next.acknowledge(first), await next.acknowledge(first));
});

test("a seat acknowledges only one of two branches that other seats made together", async () => {
  const stores = [new Map<string, string>(), new Map<string, string>(), new Map<string, string>()];
  const options = { game: { case: "discat" as const, value: { firstSeat: 0 } } };
  const { seats, table } = await begun({ options }, stores);
  const { legalActions } = await at(seats, 0).look(table);
  const branches = [];
  for (const first of legalActions.slice(0, 2)) {
    // The first two seats forget the tables that they acknowledged.
    const [one, two] = [await forgetting(at(stores, 0)), await forgetting(at(stores, 1))];
    const opened = await two.acknowledge((await one.move(table, first)).table);
    const next = (await two.look(opened)).legalActions;
    branches.push((await two.move(opened, at(next, 0))).table);
  }
  const [one, other] = [at(branches, 0), at(branches, 1)];
  assert.notDeepEqual(headerOf(one).parent, headerOf(other).parent);
  await at(seats, 2).acknowledge(one);
  await assert.rejects(at(seats, 2).acknowledge(other), ForkError);
});

test("a seat knows the acknowledged tables after a restart", async () => {
  const kept = [new Map<string, string>(), new Map<string, string>()];
  const { seats, table } = await begun({}, kept);
  const mover = present((await at(seats, 0).look(table)).view?.turn?.seat);
  const { legalActions } = await at(seats, mover).look(table);
  await at(seats, mover).move(table, at(legalActions, 0));
  const restarted = await chatiere.takeSeat(new MapStore(new Map(at(kept, mover))));
  assert.deepEqual(restarted.seat, at(seats, mover).seat);
  await assert.rejects(restarted.move(table, at(legalActions, 1)), ForkError);
});

test("an acknowledgement is returned only after it is stored", async () => {
  const map = new MapStore();
  const failing: SeatStore = {
    keep(key, text) {
      if (key !== "secret") {
        throw new Error("the disk is full");
      }
      return map.keep(key, text);
    },
  };
  const one = await chatiere.takeSeat(failing);
  const other = await chatiere.takeSeat(new MapStore());
  const seats = [one.seat, other.seat];
  const { table } = await one.newTable({ game: "discat", seats, acknowledgement: Acknowledgement.NEXT });
  await assert.rejects(one.acknowledge(table), /the disk is full/);
});

test("a table that the service did not make is not stored", async () => {
  const texts = new Map<string, string>();
  const { table } = await begun({}, [texts, new Map()]);
  const before = texts.size;
  const forged = Uint8Array.from(table);
  forged[forged.length >> 1]! ^= 1;
  const seat = await chatiere.takeSeat(new MapStore(texts));
  assert.equal((await refusalOf(seat.acknowledge(forged))).reason, "INVALID_TABLE");
  assert.equal(texts.size, before);
});

test("a player plays against a bot, with hints", async () => {
  const me = await chatiere.takeSeat(new MapStore());
  const seats = [me.seat, { holder: { case: "bot" as const, value: "random" } }];
  let { table } = await me.newTable({ game: "chat_perche", seats, acknowledgement: Acknowledgement.NONE });
  for (let ply = 0; ply < 20; ply++) {
    const { view } = await me.look(table);
    const hint = view?.turn?.seat === 0 ? (await me.suggest(table, "random")).action : undefined;
    const moved = await me.move(table, hint);
    assert.equal(moved.update?.view?.ply, ply + 1);
    table = moved.table;
  }
});

test("a store without a valid secret is refused", async () => {
  await assert.rejects(chatiere.takeSeat(new MapStore(new Map([["secret", "none"]]))), /does not belong to a seat/);
});

test("a table can be converted to text and back", () => {
  assert.equal(textOf(new Uint8Array([251, 255])), "-_8");
  assert.deepEqual(tableOf(" -_8\n"), new Uint8Array([251, 255]));
  for (const text of ["a", "ab=c", "é"]) {
    assert.throws(() => tableOf(text), /base64url/);
  }
  assert.throws(() => headerOf(new Uint8Array([255])), /not a sealed table/);
});

test("a seat resigns when the other seats agree, and its secret then opens no tables", async () => {
  const [me, other] = await Promise.all([1, 2].map(() => chatiere.takeSeat(new MapStore())));
  assert(me && other);
  const seats = [me.seat, other.seat];
  const { table } = await me.newTable({ game: "discat", seats, acknowledgement: Acknowledgement.NEXT });
  const begun = await other.acknowledge(await me.acknowledge(table));
  const proposed = await me.replace(begun, 0, seatOf({ bot: "random" }));
  assert.deepEqual(missingSeats(proposed), [1]);
  assert.equal((await refusalOf(other.look(proposed))).reason, "NOT_ACKNOWLEDGED");
  const open = await other.acknowledge(proposed);
  const { amendment, seats: holders } = headerOf(open);
  assert.equal(amendment?.amendment.case, "replacement");
  assert.deepEqual(
    holders.map(({ holder }) => holder.case),
    ["bot", "secretSha256"],
  );
  assert.equal((await refusalOf(me.look(open))).reason, "WRONG_SECRET");
  assert.equal((await other.look(open)).view?.ply, (await other.look(begun)).view?.ply);
  // At this table, the seats of other players cannot be given away.
  assert.equal((await refusalOf(other.replace(begun, 0, seatOf({ bot: "random" })))).reason, "INVALID_TERMS");
});

test("a decision is taken back when the other seats agree", async () => {
  const players = await Promise.all([1, 2].map(() => chatiere.takeSeat(new MapStore())));
  const seats = players.map(({ seat }) => seat);
  const { table } = await at(players, 0).newTable({ game: "discat", seats, acknowledgement: Acknowledgement.NONE });
  const turn = present((await at(players, 0).look(table)).view?.turn?.seat);
  const [actor, other] = [at(players, turn), at(players, 1 - turn)];
  const before = await actor.look(table);
  const moved = (await actor.move(table, before.legalActions[0])).table;
  const proposed = await actor.takeBack([table, moved]);
  assert.equal((await refusalOf(actor.look(proposed))).reason, "NOT_ACKNOWLEDGED");
  const open = await other.acknowledge(proposed);
  assert.deepEqual(headerOf(open).amendment?.amendment.case, "takeBack");
  assert.deepEqual((await actor.look(open)).legalActions, before.legalActions);
  await assert.rejects(actor.takeBack([]), RangeError);
});
