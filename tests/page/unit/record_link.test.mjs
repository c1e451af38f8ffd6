// Records in links.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { isRecordWord, recordIn, recordWord } from "../../../web/pages/record_link.js";
import { readRecord } from "../../../web/shared/records.js";

globalThis.localStorage = { getItem: () => "en" };
Object.defineProperty(globalThis, "navigator", { value: { languages: ["en"] } });
const SAMPLES = new URL("../../../docs/games/", import.meta.url);
const BEGUN = { game: "discat", rulesVersion: 1, players: 2 };

for (const name of readdirSync(SAMPLES).filter((each) => each.endsWith(".chatiere"))) {
  test(`${name} is read back from its link, except for names and date`, () => {
    const { seatNames: _, date: __, ...record } = readRecord(readFileSync(new URL(name, SAMPLES), "utf8"));
    const word = recordWord(record);
    assert(isRecordWord(word));
    assert.match(word, /^~[\w-]+$/);
    assert(word.length < 1900, String(word.length));
    assert.deepEqual(recordIn(word), JSON.parse(JSON.stringify(record)));
  });
}

test("explicit chance, options and large numbers are read back", () => {
  const records = [
    { ...BEGUN, stream: { seed: "18446744073709551615", gameNumber: "3" }, actions: [] },
    {
      ...BEGUN,
      options: { discat: { firstSeat: 1 } },
      outcomes: { outcomes: [0, 65535, 7] },
      actions: [0, 4294967295],
    },
    { ...BEGUN, outcomes: { outcomes: [] }, actions: [0, 0, 0] },
  ];
  for (const record of records) {
    assert.deepEqual(recordIn(recordWord(record)), record);
  }
});

test("a truncated or changed word is refused", () => {
  const word = recordWord({
    ...BEGUN,
    stream: { seed: "1" },
    actions: Array.from({ length: 40 }, (_, each) => each),
  });
  for (const wrong of [
    "~",
    "~A",
    "~%",
    "~AAAA",
    word.slice(0, 20),
    word.slice(0, -12),
    `${word.slice(0, 9)}*${word.slice(10)}`,
  ]) {
    assert.throws(() => recordIn(wrong), { message: "no-record" }, wrong);
  }
});
