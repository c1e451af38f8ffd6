import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";

import {
  Acknowledgement,
  Chatiere,
  ChatiereError,
  FollowResponseSchema,
  ForkError,
  hashText,
  MapStore,
  newRoomId,
  type PostRequest,
  type Room,
  RoomContents,
  RoomService,
  type SealedSeat,
  seatOf,
} from "@chatiere/client";

import { at, choose, connected, present, refusalOf } from "./support.js";

const chatiere = connected();
const INVITATION = "0123456789abcdef";

/** Follow a room until a condition holds. */
async function until(room: Room, holds: () => boolean): Promise<void> {
  for await (const _ of room.follow()) {
    if (holds()) {
      return;
    }
  }
  assert.fail("the room was closed");
}

test("a host, a player and an onlooker need only a room's id to play and watch a game", async () => {
  const id = newRoomId();
  const seats = await Promise.all([1, 2].map(() => chatiere.takeSeat(new MapStore())));
  const [host, guest, onlooker] = await Promise.all([...seats, undefined].map((seat) => chatiere.enter(id, seat)));
  assert(host && guest && onlooker);

  await host.postName("Anna");
  await guest.postReply(INVITATION);
  await until(host, () => host.contents.replies.has(INVITATION));
  const [person] = present(host.contents.replies.get(INVITATION));
  assert.equal(person, hashText(at(seats, 1).seat));
  const sitting = [at(seats, 0).seat, seatOf({ hash: present(person) })];
  const { table } = await at(seats, 0).newTable({
    game: "discat",
    seats: sitting,
    acknowledgement: Acknowledgement.NONE,
  });
  await host.postTable(table);

  const ends = [host, guest].map(async (room, number) => {
    const seat = at(seats, number);
    for await (const _ of room.follow()) {
      const newest = room.contents.newest();
      if (newest === undefined) {
        continue;
      }
      const update = await seat.look(newest);
      const { turn, ply } = present(update.view);
      if (turn?.seat === undefined) {
        return update.score;
      }
      if (turn.seat === update.seat) {
        await room.postTable((await seat.move(newest, choose(update.legalActions, ply))).table);
      }
    }
    assert.fail("the game did not end");
  });
  const [one, other] = await Promise.all(ends);
  assert.deepEqual(present(one).totals, present(other).totals);

  await until(onlooker, () => onlooker.contents.newest() !== undefined);
  const [tables] = [...onlooker.contents.tables.values()];
  const inOrder = [...present(tables)].sort(([a], [b]) => a - b).map(([, bytes]) => bytes);
  assert.equal((await at(seats, 0).getRecord(inOrder)).record?.game, "discat");
  assert.equal(onlooker.contents.names.get(host.contents.person), "Anna");
  assert(onlooker.contents.people.includes(onlooker.contents.person));
});

test("a second table of a ply is refused, and the response contains the first", async () => {
  const [mine, theirs] = await Promise.all([1, 2].map(() => chatiere.takeSeat(new MapStore())));
  assert(mine && theirs);
  const room = await chatiere.enter(newRoomId(), mine);
  const acknowledgement = Acknowledgement.NONE;
  const { table } = await mine.newTable({ game: "discat", seats: [mine.seat, theirs.seat], acknowledgement });
  await room.postTable(table);
  const actor = [mine, theirs][present((await mine.look(table)).view?.turn?.seat)];
  const { legalActions } = await present(actor).look(table);
  const [first, second] = await Promise.all(
    legalActions.slice(0, 2).map(async (action) => (await present(actor).move(table, action)).table),
  );
  assert.equal((await room.postTable(present(first))).taken, true);
  const refused = await room.postTable(present(second));
  assert.deepEqual([refused.taken, refused.table], [false, first]);
  assert.deepEqual(room.contents.newest(), first);
  assert.throws(() => room.contents.keep(entryOf(present(second))), ForkError);
});

test("a room that was created again receives the tables before one that it cannot accept yet", async () => {
  const seat = await chatiere.takeSeat(new MapStore());
  const id = newRoomId();
  const room = await chatiere.enter(id, seat);
  const tables = await playedAlone(seat, 4);
  tables.slice(0, 4).forEach((table) => room.contents.keep(entryOf(table)));
  // Another person has started to fill the room.
  await (await chatiere.enter(id, seat)).postTable(at(tables, 0));
  const { taken, table } = await room.postTable(at(tables, 4));
  assert.deepEqual([taken, table], [true, at(tables, 4)]);
});

/** Play Discat against a bot. Return the tables of all plies. */
async function playedAlone(seat: SealedSeat, plies: number): Promise<Uint8Array[]> {
  const acknowledgement = Acknowledgement.NONE;
  const seats = [seat.seat, seatOf({ bot: "random" })];
  const tables = [(await seat.newTable({ game: "discat", seats, acknowledgement })).table];
  for (let ply = 0; ply < plies; ply++) {
    const newest = at(tables, ply);
    const { legalActions } = await seat.look(newest);
    tables.push((await seat.move(newest, legalActions[0])).table);
  }
  return tables;
}

function entryOf(table: Uint8Array) {
  return { entry: { case: "table", value: table } } as const;
}

test("a game of strangers is not one of the room's own games, and only 64 of them are kept", async () => {
  const seat = await chatiere.takeSeat(new MapStore());
  const dealt = async (seats: (typeof seat.seat)[]) =>
    (await seat.newTable({ game: "discat", seats, acknowledgement: Acknowledgement.NONE })).table;
  const bot = seatOf({ bot: "random" });
  const [own, foreign] = [await dealt([seat.seat, bot]), await dealt([seat.seat, bot])];
  const contents = new RoomContents(hashText(seat.seat));
  contents.keep({ ...entryOf(foreign), isForeign: true });
  assert.deepEqual(contents.newest(), foreign);
  contents.keep(entryOf(own));
  contents.keep({ ...entryOf(foreign), isForeign: true });
  assert.deepEqual(contents.newest(), own);
  const posts = contents.take(create(FollowResponseSchema, { isWhole: true }));
  assert.deepEqual(posts, [{ case: "table", value: own }]);
  for (let count = 0; count < 65; count++) {
    contents.keep({ ...entryOf(await dealt([bot, bot])), isForeign: true });
  }
  assert.equal(contents.tables.size, 65);
  assert.deepEqual(contents.newest(), own);
});

test("only 1,000 names and 1,000 replies of strangers are kept", async () => {
  const seat = await chatiere.takeSeat(new MapStore());
  const contents = new RoomContents(hashText(seat.seat));
  const person = (number: number) => Uint8Array.from({ length: 32 }, (_, at) => (at < 4 ? number >> (8 * at) : 0));
  const mine = Uint8Array.from(Buffer.from(contents.person, "base64url"));
  for (const each of [mine, ...Array.from({ length: 1100 }, (_, number) => person(number))]) {
    contents.keep({ entry: { case: "name", value: { person: each, name: "cat" } } });
    contents.keep({ entry: { case: "reply", value: { person: each, invitation: each.slice(0, 8) } } });
  }
  const kept = [contents.person, ...Array.from({ length: 1000 }, (_, number) => person(number + 100))];
  const texts = kept.map((each) => (typeof each === "string" ? each : Buffer.from(each).toString("base64url")));
  assert.deepEqual([...contents.names.keys()], texts);
  assert.deepEqual([...contents.replies.values()].flat(), texts);
});

test("refused calls reject with the reason", async () => {
  const room = await chatiere.enter("c2hvcnQ");
  assert.equal((await refusalOf(room.postName("Anna"))).reason, "INVALID_ROOM");
  const refused = await refusalOf(room.follow().next());
  assert.deepEqual([refused.reason, refused.field], ["INVALID_ROOM", "room"]);
  await assert.rejects(chatiere.enter("no base64url!"), RangeError);
});

test("closing a room ends `follow`", async () => {
  const room = await chatiere.enter(newRoomId());
  for await (const _ of room.follow()) {
    room.close();
  }
});

test("closing a room ends `follow` after garbage was collected", { timeout: 60_000 }, async () => {
  const room = await chatiere.enter(newRoomId());
  const followed = room.follow();
  await followed.next();
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const next = followed.next();
  room.close();
  assert.equal((await next).done, true);
});

/** A client of a simulated service: each Follow receives the next element of `responses`, and then `error`. */
function playing(responses: MessageInitShape<typeof FollowResponseSchema>[], error: () => ConnectError) {
  const [posts, cursors]: [PostRequest["post"][], Uint8Array[]] = [[], []];
  const transport = createRouterTransport(({ service }) =>
    service(RoomService, {
      post({ post }) {
        posts.push(post);
        return { taken: true, ...(post.case === "table" && { table: post.value }) };
      },
      async *follow({ cursor }) {
        cursors.push(cursor);
        const response = responses.shift();
        if (response !== undefined) {
          yield response;
        }
        throw error();
      },
    }),
  );
  return { client: new Chatiere(transport), posts, cursors };
}

test("a room that lost its contents receives them again, and is followed from the last cursor", async () => {
  const presence = { onlookers: 1 };
  const [one, two] = [Uint8Array.of(1), Uint8Array.of(2)];
  const { client, posts, cursors } = playing(
    [
      { cursor: one, isWhole: true, presence },
      { cursor: two, isWhole: true, presence },
      { cursor: two, presence },
    ],
    () => new ConnectError("it stops", Code.Unavailable),
  );
  const room = await client.enter(newRoomId());
  await room.postName("Anna");
  await room.postReply(INVITATION);
  posts.length = 0;
  const followed = room.follow();
  await followed.next();
  assert.deepEqual(
    posts.map((post) => post.case),
    ["name", "invitation"],
  );
  await followed.next();
  await followed.next();
  assert.deepEqual(
    posts.map((post) => post.case),
    ["name", "invitation", "name", "invitation"],
  );
  assert.deepEqual(cursors, [new Uint8Array(), one, two]);
  room.close();
});

test("clients of a service that restarts follow again at different times", async (t) => {
  const pauses: number[] = [];
  t.mock.method(globalThis, "setTimeout", (run: () => void, milliseconds: number) => {
    // Longer timers do not run, because they end silent calls.
    if (milliseconds < 1000) {
      pauses.push(milliseconds);
      queueMicrotask(run);
    }
  });
  for (const random of [0, 0.5, 1]) {
    t.mock.method(Math, "random", () => random);
    const { client } = playing(
      [1, 2].map(() => ({ presence: { onlookers: 1 } })),
      () => new ConnectError("it stops", Code.Unavailable),
    );
    const room = await client.enter(newRoomId());
    const followed = room.follow();
    await followed.next();
    await followed.next();
    room.close();
  }
  assert.deepEqual(pauses, [100, 125, 150]);
});

test("a room is followed again after each error of a broken or silent connection", async () => {
  const presence = { onlookers: 1 };
  const codes = [Code.Unavailable, Code.Canceled, Code.Aborted, Code.DeadlineExceeded, Code.Unknown, Code.Internal];
  for (const code of codes) {
    const { client } = playing([{ presence }, { presence }], () => new ConnectError("broken", code));
    const room = await client.enter(newRoomId());
    const followed = room.follow();
    await followed.next();
    assert.equal((await followed.next()).done, false, Code[code]);
    room.close();
  }
});

test("a final error is thrown", async () => {
  const { client } = playing([], () => new ConnectError("no rooms", Code.Unimplemented));
  const room = await client.enter(newRoomId());
  await assert.rejects(
    room.follow().next(),
    (error) => error instanceof ChatiereError && error.code === Code.Unimplemented,
  );
});

test("tables are posted again in an order in which the room shows each immediately", async () => {
  const seat = await chatiere.takeSeat(new MapStore());
  const tables = await playedAlone(seat, 6);
  const contents = new RoomContents(hashText(seat.seat));
  tables.forEach((table) => contents.keep(entryOf(table)));
  const entries = [entryOf(at(tables, 3)), entryOf(at(tables, 4))];
  const whole = create(FollowResponseSchema, { entries, isWhole: true });
  const posts = contents.take(whole).map(({ value }) => value);
  assert.deepEqual(
    posts,
    [5, 6, 2, 1, 0].map((ply) => at(tables, ply)),
  );
});

test("a person posts again only the tables at which the person has a seat", async () => {
  const [seat, late] = await Promise.all([1, 2].map(() => chatiere.takeSeat(new MapStore())));
  const [before] = (await playedAlone(present(seat), 2)).slice(-1);
  const proposal = await present(seat).replace(present(before), 0, present(late).seat);
  const since = await present(late).acknowledge(proposal);
  const posted = [present(seat), present(late)].map((each) => {
    const contents = new RoomContents(hashText(each.seat));
    [present(before), since].forEach((table) => contents.keep(entryOf(table)));
    return contents.take(create(FollowResponseSchema, { isWhole: true })).map(({ value }) => value);
  });
  assert.deepEqual(posted, [[before, since], [since]]);
});

test("only the host's settings are accepted, and a proposal becomes the next table when all seats agree", async () => {
  const id = newRoomId();
  const seats = await Promise.all([1, 2].map(() => chatiere.takeSeat(new MapStore())));
  const [me, other] = [at(seats, 0), at(seats, 1)];
  const [host, guest] = await Promise.all([chatiere.enter(id, me), chatiere.enter(id, other)]);
  assert.equal((await refusalOf(host.postSettings({ game: "chess", players: 2 }))).reason, "UNKNOWN_GAME");
  assert.equal(await host.postSettings({ game: "discat", players: 2 }), true);
  assert.equal(await guest.postSettings({ game: "momistigri", players: 3 }), false);
  await until(guest, () => guest.contents.settings !== undefined);
  const { game, players, person } = present(guest.contents.settings);
  assert.deepEqual([game, players, Buffer.from(person).toString("base64url")], ["discat", 2, host.contents.person]);

  const acknowledgement = Acknowledgement.NONE;
  const { table } = await me.newTable({ game, seats: [me.seat, other.seat], acknowledgement });
  await host.postTable(table);
  const proposal = await me.replace(table, 0, seatOf({ bot: "random" }));
  await host.postTable(proposal);
  await until(guest, () => guest.contents.proposals.size > 0);
  // If the service forgets the room, the clients post the proposal again, after the tables.
  for (const room of [host, guest]) {
    const again = room.contents.take(create(FollowResponseSchema, { isWhole: true, entries: [entryOf(table)] }));
    assert.deepEqual(again[0]?.value, proposal);
  }
  assert.deepEqual(guest.contents.newest(), table);
  const open = await other.acknowledge(present([...guest.contents.proposals.values()][0]));
  await guest.postTable(open);
  await until(host, () => host.contents.proposals.size === 0 && host.contents.newest()?.length === open.length);
  assert.deepEqual([host.contents.newest(), guest.contents.newest()], [open, open]);
  assert.equal(guest.contents.proposals.size, 0);
  // If the service forgets the room, the clients post the tables first, and then the settings.
  const posts = host.contents.take(create(FollowResponseSchema, { isWhole: true }));
  assert.deepEqual([posts.map((post) => post.case).at(-1), posts[0]?.value], ["settings", table]);
});
