// Rooms without a service: hashes where browsers lack them, the order of posts, QR codes, and the settings of a room.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { modulesOf } from "../../../web/art/qr.js";
import { fromHex, fromText, toText } from "../../../web/shared/bytes.js";
import { postingOrder } from "../../../web/shared/posting.js";
import { digest } from "../../../web/shared/sha256.js";
import { pageGlobals, playService } from "./support.mjs";

pageGlobals();
const { Room } = await import("../../../web/rooms/room.js");
const { Session, tableIn } = await import("../../../web/session.js");
const { keepRoom, roomOf } = await import("../../../web/store.js");

const ID = "A".repeat(22);
const VECTORS = JSON.parse(readFileSync(new URL("../../data/sealed_tables.json", import.meta.url), "utf8"));
/** A game of three friends. */
const { tables: FRIENDS } = VECTORS.to_send.find(({ what }) => what === "a move among friends");

test("SHA-256 matches Node's, for all lengths near those of blocks", () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 37 + length) % 256);
    assert.deepEqual(digest(bytes), new Uint8Array(createHash("sha256").update(bytes).digest()));
  }
});

test("tables are posted in an order in which the chain grows at both ends", () => {
  assert.deepEqual(postingOrder([3, 0, 2, 1], []), [0, 1, 2, 3]);
  assert.deepEqual(postingOrder([0, 1, 2, 3, 4], [2, 3]), [2, 3, 4, 1, 0]);
  assert.deepEqual(postingOrder([], [4]), []);
});

test("a QR code equals that of another encoder", () => {
  // The expected code was made by uqr 0.1.3 with { ecc: "L", minVersion: 6, maxVersion: 6, maskPattern: 0, border: 0 }.
  const rows = modulesOf("http://192.168.178.100:8080/#/room/AbCdEfGhIjKlMnOpQrStUv/chat_cartonne/5");
  const text = rows.map((row) => row.map(Number).join("")).join("\n");
  assert.equal(
    createHash("sha256").update(text).digest("hex"),
    "7669ad63eb375e54d66ed4cc92042ff5d9ae004ddcb0fa7cc5dc429d31ddbca8",
  );
});

test("a text that is too long has no QR code", () => {
  assert.equal(modulesOf("x".repeat(134)).length, 41);
  assert.equal(modulesOf("x".repeat(135)), undefined);
});

/** Store a room in this browser, and return it. */
function knownRoom(known) {
  const [seat] = tableIn(FRIENDS[0]).seats;
  keepRoom(ID, {
    ...{ game: "discat", players: 3, secret: "secret", person: seat.secretSha256, isHost: false, names: {} },
    ...{
      replies: {},
      people: [],
      onlookers: 0,
      isConnected: true,
      tables: [],
      since: 0,
      changed: 0,
      ...known,
    },
  });
  return new Room(ID);
}

test("a table is refused if it differs from its room's settings in a relevant way", () => {
  const ranges = [3, 4].map((players) => ({ players, defaultValues: [0] }));
  const option = { name: "half_sleepers", type: "OPTION_TYPE_FLAG", ranges };
  const rules = { name: "discat", field: "discat", info: { options: [option] } };
  const [NONE, NEXT] = ["ACKNOWLEDGEMENT_NONE", "ACKNOWLEDGEMENT_NEXT"];
  const settled = { game: "discat", players: 3 };
  const [without, withIt] = [false, true].map((halfSleepers) => ({ discat: { halfSleepers } }));
  // Each case has settings, and the outcomes for a table without trust, with trust, and with the option.
  for (const [settings, expected] of [
    [undefined, [true, true, true]],
    [settled, [true, true, false]],
    [{ ...settled, game: "momistigri" }, [false, false, false]],
    [{ ...settled, players: 4 }, [false, false, false]],
    [{ ...settled, acknowledgement: "ACKNOWLEDGEMENT_UNSPECIFIED" }, [true, true, false]],
    [{ ...settled, acknowledgement: NONE }, [false, true, false]],
    [{ ...settled, acknowledgement: NEXT }, [true, false, false]],
    [{ ...settled, options: without }, [true, true, false]],
    [{ ...settled, options: withIt }, [false, false, true]],
    [{ ...settled, options: withIt, acknowledgement: NEXT }, [false, false, true]],
  ]) {
    const room = knownRoom(settings && { settings });
    const tables = [
      [true, without],
      [false, without],
      [true, withIt],
    ].map(([asksNext, options]) =>
      room.isAsSettled(rules, { game: "discat", players: 3, asksNext }, options),
    );
    assert.deepEqual(tables, expected, JSON.stringify(settings));
  }
});

/** Return a table with another id. A stranger may begin a table of this kind with the same persons. */
function renamed(text, id) {
  const bytes = fromText(text);
  const before = fromHex(tableIn(text).id);
  const at = bytes.findIndex((_, start) => before.every((byte, index) => bytes[start + index] === byte));
  bytes.set(fromHex(id), at);
  assert.equal(tableIn(toText(bytes)).id, id);
  return toText(bytes);
}

/** Follow a room that sends these responses, one after another. Return its tables and settings after each response. */
async function followed(known, responses) {
  Object.assign(globalThis, { addEventListener: () => undefined });
  Object.assign(document, { addEventListener: () => undefined });
  const room = knownRoom(known);
  const found = [];
  const post = playService({ Post: ({ table }) => ({ taken: true, table }) }) && globalThis.fetch;
  await new Promise((resolve) => {
    const waiting = [...responses];
    let end;
    const stream = new ReadableStream(
      {
        start(controller) {
          end = () => controller.error(new Error("left"));
        },
        pull(controller) {
          if (waiting.length < responses.length) {
            const { tables, settings } = roomOf(ID);
            found.push([tables, settings?.players]);
          }
          const next = waiting.shift();
          if (next === undefined) {
            resolve();
            return new Promise(() => undefined);
          }
          const message = new TextEncoder().encode(JSON.stringify(next));
          const envelope = new Uint8Array(5 + message.length);
          new DataView(envelope.buffer).setUint32(1, message.length);
          envelope.set(message, 5);
          controller.enqueue(envelope);
          return undefined;
        },
      },
      { highWaterMark: 0 },
    );
    globalThis.fetch = (path, options) => {
      if (!path.endsWith("/Follow")) {
        return post(path, options);
      }
      options.signal.addEventListener("abort", end);
      return Promise.resolve({ ok: true, status: 200, body: stream });
    };
    room.enter();
  });
  room.leave();
  return found;
}

test("a game begun by a stranger, even first in a forgotten room, is not followed", async () => {
  const [text] = FRIENDS;
  const { id } = tableIn(text);
  const [strange, next] = ["5".repeat(32), "7".repeat(32)];
  const entry = (of, isForeign = false) => ({ table: of === id ? text : renamed(text, of), isForeign });
  const settings = { settings: { game: "discat", players: 2 } };
  const whole = (...entries) => ({ isWhole: true, entries });
  const later = (...entries) => ({ entries });
  for (const [what, tables, responses, expected] of [
    ["a first game", [], [whole(entry(id))], [id]],
    ["a stranger's game", [id], [whole(entry(id), entry(strange, true))], [id]],
    ["a rematch", [id], [whole(entry(id), entry(next))], [id, next]],
    ["a rematch later", [id], [whole(entry(id)), later(entry(next))], [id, next]],
    ["the room was forgotten", [id], [whole(entry(strange), settings)], [id]],
    ["it was forgotten, and empty", [id], [whole(), later(entry(strange), settings)], [id]],
    ["the players' game is foreign", [id], [whole(entry(strange)), later(entry(id, true), settings)], [id]],
    ["a rematch before its game", [id], [whole(entry(next)), later(entry(id))], [id, next]],
    [
      "a rematch after the first of two games",
      [id, strange],
      [whole(entry(id), entry(next))],
      [id, strange, next],
    ],
  ]) {
    const found = await followed({ tables }, responses);
    assert.deepEqual(found.at(-1), [expected, undefined], what);
  }
  const found = await followed({ tables: [id] }, [whole(entry(id), settings)]);
  assert.deepEqual(found.at(-1), [[id], 2]);
});

test("a browser that joins during a game takes the room's clock, and ignores later changes", async () => {
  const [text] = FRIENDS;
  const { id } = tableIn(text);
  const clock = (decisionSeconds) => ({ settings: { game: "discat", players: 3, decisionSeconds } });
  const whole = { isWhole: true, entries: [clock(30), { table: text }] };
  for (const tables of [[id], []]) {
    await followed({ tables }, [whole, { entries: [clock(10)] }]);
    assert.equal(roomOf(ID).clock, 30);
  }
});

test("of the newest table's times, the first one counts, and until then the current time", async () => {
  const [text] = FRIENDS;
  const table = tableIn(text);
  const first = Date.parse("2026-01-01T00:00:00Z");
  const whole = (time) => ({ isWhole: true, entries: [{ table: text, time: new Date(time).toISOString() }] });
  await followed({}, [whole(first), whole(first + 60_000)]);
  const room = new Room(ID);
  assert.equal(room.since(table), first);
  const now = Date.now();
  assert.ok(room.since({ ...table, ply: table.ply + 1 }) >= now);
});

test("a game that guests start is followed if all of them have seats and the room has no game of its own", async () => {
  const [text] = FRIENDS;
  const { id, seats } = tableIn(text);
  const seated = seats.flatMap(({ secretSha256 }) => secretSha256 ?? []);
  const [took, left] = [0, 1].map((number) => String(number).padStart(16, "0"));
  const [strange, foreign] = ["5".repeat(32), { entries: [{ table: text, isForeign: true }] }];
  const own = { entries: [{ table: renamed(text, strange) }] };
  const rematch = { entries: [{ table: renamed(text, strange), isForeign: true }] };
  for (const [what, replies, responses, expected, tables = []] of [
    ["all have seats", { [took]: seated }, [foreign], [id]],
    ["one has no seat", { [took]: seated.slice(1) }, [foreign], []],
    ["one has left the seat", { [took]: seated, [left]: seated.slice(0, 1) }, [foreign], []],
    ["the host has dealt", { [took]: seated }, [own, foreign], [strange]],
    ["the host deals later", { [took]: seated }, [foreign, own], [id, strange]],
    ["a rematch of guests", { [took]: seated }, [foreign, rematch], [id, strange]],
    ["a rematch for the guest who dealt", { [took]: seated }, [foreign, rematch], [id, strange], [id]],
  ]) {
    const found = await followed({ replies, tables }, responses);
    assert.deepEqual(found.at(-1)[0], expected, what);
  }
});

test("what the room says counts, not the first link", async () => {
  const [text] = FRIENDS;
  const { game, players, id } = tableIn(text);
  const settings = { settings: { game, players } };
  const wrong = { game: "momistigri", players: 5 };
  for (const [what, known, entry, tables] of [
    ["settings", wrong, settings, []],
    ["a table", wrong, { table: text }, [id]],
    ["a stranger's table", { game, players }, { table: text, isForeign: true }, []],
  ]) {
    await followed(known, [{ isWhole: true, entries: [entry] }]);
    const found = roomOf(ID);
    assert.deepEqual([found.game, found.players, found.tables], [game, players, tables], what);
  }
});

test("a table that differs from the link in game or players is not taken from a room", async () => {
  const session = Session.take(FRIENDS.slice(0, 1), {});
  playService({ Post: ({ table }) => ({ taken: true, table }) });
  for (const [known, tables, refusals] of [
    [{}, [session.id], 0],
    [{ game: "momistigri" }, [], 1],
    [{ players: 4 }, [], 1],
  ]) {
    const room = knownRoom(known);
    const errors = [];
    room.addEventListener("error", ({ detail }) => errors.push(detail.message));
    const changed = new Promise((resolve) => room.addEventListener("change", resolve));
    room.show(session);
    await changed;
    assert.deepEqual([roomOf(ID).tables, errors.length], [tables, refusals], JSON.stringify(known));
  }
});
