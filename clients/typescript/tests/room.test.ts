import assert from "node:assert/strict";
import { test } from "node:test";

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

/** Follow a room until something holds. */
async function until(room: Room, holds: () => boolean): Promise<void> {
  for await (const _ of room.follow()) {
    if (holds()) {
      return;
    }
  }
  assert.fail("the room was closed");
}

test("a host, a player and an onlooker play by a room's id alone", async () => {
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

test("a second table of a ply is not taken, and the first comes back", async () => {
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

test("a room that has begun anew gets the tables before one that it cannot take yet", async () => {
  const seat = await chatiere.takeSeat(new MapStore());
  const id = newRoomId();
  const room = await chatiere.enter(id, seat);
  const tables = await playedAlone(seat, 4);
  tables.slice(0, 4).forEach((table) => room.contents.keep(entryOf(table)));
  // Somebody else has begun to fill it.
  await (await chatiere.enter(id, seat)).postTable(at(tables, 0));
  const { taken, table } = await room.postTable(at(tables, 4));
  assert.deepEqual([taken, table], [true, at(tables, 4)]);
});

/** Play Discat against a bot; return the tables of all plies. */
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

test("refusals reject", async () => {
  const room = await chatiere.enter("c2hvcnQ");
  assert.equal((await refusalOf(room.postName("Anna"))).reason, "INVALID_ROOM");
  const refused = await refusalOf(room.follow().next());
  assert.deepEqual([refused.reason, refused.field], ["INVALID_ROOM", "room"]);
  await assert.rejects(chatiere.enter("no base64url!"), RangeError);
});

test("a closed room ends what follows it", async () => {
  const room = await chatiere.enter(newRoomId());
  for await (const _ of room.follow()) {
    room.close();
  }
});

/** A client of a service that a test plays: each Follow gets what `responses` has next, and then `error`. */
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

test("a room that has forgotten all is filled again, and followed from where it stands", async () => {
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

test("a final error is thrown", async () => {
  const { client } = playing([], () => new ConnectError("no rooms", Code.Unimplemented));
  const room = await client.enter(newRoomId());
  await assert.rejects(
    room.follow().next(),
    (error) => error instanceof ChatiereError && error.code === Code.Unimplemented,
  );
});

test("tables are posted again in the order in which a room takes them", async () => {
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
