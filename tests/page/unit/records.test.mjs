// Records as text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { readRecord } from "../../../web/shared/records.js";

const SAMPLE = readFileSync(new URL("../../../docs/games/discat.chatiere", import.meta.url), "utf8");
const VECTORS = new URL("../../data/records.json", import.meta.url);
const EDITED = new URL("../../data/edited_records.json", import.meta.url);
const REFUSED = new URL("../../data/refused_records.json", import.meta.url);
const BEGUN = "game: discat\nrules_version: 1\nplayers: 2\n";

test("a record is read", () => {
  const record = readRecord(SAMPLE);
  assert.deepEqual(record.stream, { seed: "7", gameNumber: "0" });
  assert.deepEqual(record.seatNames, ["largest", "random", "largest"]);
  assert.deepEqual(
    [record.game, record.rulesVersion, record.players, record.date],
    ["discat", 1, 3, "2026-11-22"],
  );
  assert.deepEqual(record.actions.slice(0, 4), [0, 68, 136, 104]);
  assert.equal(record.actions.length, SAMPLE.match(/^\d+\. seat/gm).length);
  assert.equal(record.outcomes, undefined);
});

test("lines may end as on Windows, and a large seed stays exact", () => {
  const text = `# mine\n\n${BEGUN}seed: 18446744073709551615\n\n1. seat 0: 5  # play\nso far  # yet\n`;
  const { stream, actions, seatNames } = readRecord(text.replaceAll("\n", "\r\n"));
  assert.deepEqual([stream.seed, actions, seatNames], ["18446744073709551615", [5], []]);
});

for (const { what, before, newline, after } of JSON.parse(readFileSync(EDITED, "utf8"))) {
  test(`a record saved by an editor is read: ${what}`, () => {
    const text = `${before}${SAMPLE.trimEnd()}`.replaceAll("\n", newline) + after;
    assert.deepEqual(readRecord(text), readRecord(SAMPLE));
  });
}

test("explicit chance has outcomes", () => {
  const record = readRecord(`${BEGUN}chance: explicit\n\nchance: 17\n1. seat 0: 5\nchance: 3\nover\n`);
  assert.deepEqual([record.outcomes, record.stream, record.actions], [{ outcomes: [17, 3] }, undefined, [5]]);
});

for (const { text, record } of JSON.parse(readFileSync(VECTORS, "utf8"))) {
  test(`options are read: ${/game: .*/.exec(text)}`, () => {
    const expected = { actions: [], seatNames: [], date: "", ...record };
    expected.stream &&= { gameNumber: "0", ...expected.stream };
    assert.deepEqual(readRecord(text), expected);
  });
}

for (const { what, text, error } of JSON.parse(readFileSync(REFUSED, "utf8"))) {
  test(`an invalid record is refused, as by other clients: ${what}`, () => {
    assert.throws(() => readRecord(text), { name: "RangeError", message: error });
  });
}

const SEEDED = `${BEGUN}seed: 7\n`;
for (const [what, text, place] of [
  [
    "an option without a value",
    `${SEEDED}option first_seat: null\nover\n`,
    /^line 5: first_seat must not be null$/,
  ],
  [
    "an option nested deeply",
    `${SEEDED}option first_seat: ${"[".repeat(9000)}\nover\n`,
    /^line 5: .*'\[{40}…'$/,
  ],
  [
    "a list in place of a set",
    `${SEEDED}option up_arrows: [1]\nover\n`,
    /^line 5: 'option up_arrows' must be an int/,
  ],
  ["no seat", `${SEEDED}so far\n`.replace("players: 2", "players: 0"), /^line 3: no game has 0 players$/],
  [
    "too many seats",
    `${SEEDED}so far\n`.replace("players: 2", "players: 30000000"),
    /^line 3: no game has 30000000 players$/,
  ],
  [
    "a long line",
    `${SEEDED}# ${"😺".repeat(9999)}\nover\n`,
    /^line 5: a line has at most 10000 .*, not 10001$/,
  ],
  ["a long text", "\n".repeat(2_000_001), /^2000001 characters; a record has at most 2000000$/],
]) {
  test(`an invalid record is refused: ${what}`, () => {
    assert.throws(() => readRecord(text), { name: "RangeError", message: place });
  });
}

test("a text and a line may have the maximum length", () => {
  const line = `# ${"😺".repeat(9998)}\n`;
  const text = SEEDED + line.repeat(199) + "so far\n";
  const blank = "\n".repeat(2_000_000 - [...text].length);
  assert.deepEqual(readRecord(text + blank).actions, []);
  assert.throws(() => readRecord(`${text}${blank}\n`), /2000001 characters/);
});
