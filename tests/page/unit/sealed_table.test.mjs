// Sealed tables are read without the service. The fixed vectors are also used by the tests of the Python client.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { fromHex, fromText, toHex, toText } from "../../../web/shared/bytes.js";
import { ForkError } from "../../../web/shared/fork_error.js";
import { promise } from "../../../web/shared/promises.js";
import * as sealed from "../../../web/shared/sealed_table.js";

const { awaited, hashOf, merged, missingSeats, readTable, tableOf, textOf, toSend } = sealed;
const VECTORS = JSON.parse(readFileSync(new URL("../../data/sealed_tables.json", import.meta.url), "utf8"));

VECTORS.tables.forEach((vector, index) => {
  test(`awaited seats: ${index}`, async () => {
    const table = tableOf(vector.table);
    const read = readTable(table);
    assert.equal(textOf(table), vector.table);
    assert.equal(toHex(await hashOf(table)), vector.hash);
    for (const name of ["id", "game", "players", "ply", "mover"]) {
      assert.equal(read[name], vector[name]);
    }
    assert.equal(read.asksNext, vector.asks_next);
    assert.equal(read.expires, vector.expires * 1000);
    assert.deepEqual(
      read.seats.map(({ bot }) => bot ?? null),
      vector.bots,
    );
    assert.deepEqual(
      read.seats.map(({ isMadeByService }) => isMadeByService),
      vector.made_by_service,
    );
    read.seats.forEach(({ bot, secretSha256 }) =>
      assert.equal(secretSha256 && fromText(secretSha256).length, bot === undefined ? 32 : undefined),
    );
    assert.deepEqual(missingSeats(table), vector.missing_seats);
    for (const [turn, seats] of Object.entries(vector.awaited)) {
      assert.deepEqual(awaited(table, turn === "over" ? undefined : Number(turn)), seats);
    }
  });
});

for (const { what, one, other, merged: whole, error } of VECTORS.merged) {
  test(`tables merge: ${what}`, () => {
    const merge = (a, b) => textOf(merged(tableOf(a), tableOf(b)));
    if (error === undefined) {
      assert.equal(merge(one, other), whole);
      assert.equal(merge(other, one), whole);
    } else {
      assert.throws(() => merge(one, other), error === "fork" ? ForkError : RangeError);
    }
  });
}

for (const { what, tables, mine, turn, seats, sent } of VECTORS.to_send) {
  test(`tables to send to each seat: ${what}`, () => {
    const sending = toSend(tables.map(tableOf), mine, turn ?? undefined);
    assert.deepEqual(sending.seats, seats);
    assert.deepEqual(
      sending.tables.map(textOf),
      sent.map((index) => tables[index]),
    );
  });
}

test("without tables to send an error is thrown", () =>
  assert.throws(() => toSend([], [0]), /no tables were given/));

for (const [what, text] of Object.entries(VECTORS.damaged)) {
  test(`damaged tables are refused: ${what}`, async () => {
    const table = tableOf(text);
    const sound = tableOf(VECTORS.tables[0].table);
    const refusal = { name: "RangeError", message: "the bytes are not a sealed table" };
    for (const read of [
      readTable,
      missingSeats,
      awaited,
      (bad) => merged(sound, bad),
      (bad) => toSend([sound, bad], [0]),
    ]) {
      assert.throws(() => read(table), refusal);
    }
    await assert.rejects(hashOf(table), refusal);
  });
}

for (const text of VECTORS.damaged_texts) {
  test(`damaged texts are refused: ${text}`, () => {
    assert.throws(() => tableOf(text), { name: "RangeError", message: "a table as text is base64url" });
  });
}

test("every truncated or changed table is read or refused", () => {
  for (const { table: text } of VECTORS.tables.slice(0, 4)) {
    const table = tableOf(text);
    const tried = Array.from(table, (_, length) => table.subarray(0, length));
    for (let bit = 0; bit < 8 * table.length; bit++) {
      const changed = Uint8Array.from(table);
      changed[bit >> 3] ^= 1 << (bit & 7);
      tried.push(changed);
    }
    for (const bytes of tried) {
      try {
        const read = readTable(bytes);
        assert.equal(toText(read.bytes), toText(bytes));
        assert(read.mover < read.players && read.seats.length === read.players);
      } catch (error) {
        assert.equal(error.message, "the bytes are not a sealed table");
      }
    }
  }
});

test("a seat promises to keep to one table of each ply", async () => {
  const kept = new Map();
  const keep = (key, text) => {
    kept.set(key, kept.get(key) ?? text);
    return kept.get(key);
  };
  const { one, other } = VECTORS.merged.find(({ error }) => error === "fork");
  const [first, second] = [tableOf(one), tableOf(other)];
  await promise(first, keep);
  await promise(first, keep);
  const { id, ply } = readTable(first);
  assert.deepEqual([...kept], [[`${id} ${ply}`, toHex(await hashOf(first))]]);
  await assert.rejects(promise(second, keep), (error) => error instanceof ForkError && error.ply === ply);
  // Acknowledgements are not part of a table's hash, and without them any player may go back.
  const open = VECTORS.tables.find(({ asks_next }) => !asks_next);
  await promise(tableOf(open.table), keep);
  assert.equal(kept.size, 1);
});

test("bytes as text", () => {
  for (const bytes of [[], [0], [251, 255], [1, 2, 3]].map((each) => Uint8Array.from(each))) {
    assert.deepEqual(fromText(toText(bytes)), bytes);
    assert.deepEqual(fromHex(toHex(bytes)), bytes);
  }
  // The form in JSON is also accepted.
  assert.deepEqual(fromText("+/8="), Uint8Array.from([251, 255]));
  for (const text of ["a", "é", "a b", "ab=c"]) {
    assert.throws(() => fromText(text), RangeError);
  }
  for (const text of ["0", "0g", "AB"]) {
    assert.throws(() => fromHex(text), RangeError);
  }
});
