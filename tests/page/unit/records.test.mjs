// Records as text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { readRecord } from "../../../web/chatiere/web/shared/records.js";

const SAMPLE = readFileSync(new URL("../../../docs/games/discat.chatiere", import.meta.url), "utf8");
const VECTORS = new URL("../../data/records.json", import.meta.url);
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

const SEEDED = `${BEGUN}seed: 7\n`;
for (const [what, text, place] of [
  ["an empty text", "", /no line 'game/],
  ["no seed", `${BEGUN}so far\n`, /no line 'seed/],
  ["no players", "game: discat\nrules_version: 1\nseed: 1\nover\n", /no line 'players/],
  ["an option that is no JSON", `${BEGUN}option first_seat: one\nseed: 7\nover\n`, /line 4/],
  ["an option without a value", `${BEGUN}option first_seat: null\nseed: 7\nover\n`, /line 4/],
  ["an option without a name", `${BEGUN}option: 1\nseed: 7\nover\n`, /line 4/],
  ["a list in place of a set", `${BEGUN}option up_arrows: [1]\nseed: 7\nover\n`, /option up_arrows/],
  ["an unknown tag", `${SEEDED}colour: red\nover\n`, /line 5/],
  ["a tag given twice", `${SEEDED}seed: 8\nover\n`, /line 5/],
  ["a number that is none", `${BEGUN}seed: seven\nover\n`, /line 4/],
  ["a name that is no JSON", `${SEEDED}name 0: "Anna\nover\n`, /line 5/],
  ["a name that is a number", `${SEEDED}name 0: 7\nover\n`, /line 5/],
  ["a move left out", `${SEEDED}\n2. seat 0: 1\nover\n`, /line 6/],
  ["a move without a seat", `${SEEDED}\n1: 1\nover\n`, /line 6/],
  ["more after the end", `${SEEDED}over\n1. seat 0: 1\n`, /line 6/],
  ["no end", `${SEEDED}1. seat 0: 1\n`, /cut short/],
]) {
  test(`what is no record is refused: ${what}`, () => {
    assert.throws(() => readRecord(text), { name: "RangeError", message: place });
  });
}
