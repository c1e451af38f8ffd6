import assert from "node:assert/strict";
import { test } from "node:test";

import { equals, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { GameRecordSchema, readRecord } from "@chatiere/client";

import { connected, vectorsIn } from "./support.js";

for (const { text, record } of vectorsIn("records.json") as { text: string; record: JsonValue }[]) {
  test(`a record with options can be read and resumed: ${/game: .*/.exec(text)}`, async () => {
    const read = readRecord(text);
    assert(equals(GameRecordSchema, read, fromJson(GameRecordSchema, record)));
    const table = await connected().resume(read);
    assert.equal(table.ply, 0);
    assert.deepEqual(table.record, read);
  });
}

for (const { what, before, newline, after } of vectorsIn("edited_records.json") as Record<string, string>[]) {
  test(`a record changed by an editor can be read: ${what}`, () => {
    for (const { text } of vectorsIn("records.json") as { text: string }[]) {
      const edited = `${before}${text.trimEnd()}`.replaceAll("\n", newline ?? "") + after;
      assert(equals(GameRecordSchema, readRecord(edited), readRecord(text)));
    }
  });
}

for (const { what, text, error } of vectorsIn("refused_records.json") as Record<"what" | "text" | "error", string>[]) {
  test(`a text that is not a record is refused: ${what}`, () => {
    assert.throws(() => readRecord(text), { name: "RangeError", message: error });
  });
}

test("options that a game does not have are refused", () => {
  const text = "game: discat\nrules_version: 1\nplayers: 2\noption dog_track: 5\nseed: 1\nso far\n";
  assert.throws(() => readRecord(text), /dogTrack/);
});
