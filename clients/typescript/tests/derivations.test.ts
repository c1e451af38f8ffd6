import assert from "node:assert/strict";
import { createHash, hkdfSync } from "node:crypto";
import { test } from "node:test";

import { hashOf, headerOf, tableOf } from "@chatiere/client";

import { vectorsIn } from "./support.js";

/** What a client can verify of a game at a sealed table; all of it but numbers and text in hexadecimal. */
interface Vectors {
  readonly root: string;
  readonly table_id: string;
  readonly commitment: string;
  readonly stream: { readonly seed: string; readonly game_number: string };
  readonly luck: Readonly<Record<string, string>>;
  readonly table: string;
  readonly hash: string;
}

const { verifiable: vectors } = vectorsIn("derivations.json") as { verifiable: Vectors };
const [root, tableId] = [Buffer.from(vectors.root, "hex"), Buffer.from(vectors.table_id, "hex")];

/** As TableRecord describes it: the HKDF-SHA-256 of the root, without salt. */
function derived(info: Uint8Array, size: number): DataView {
  return new DataView(hkdfSync("sha256", root, new Uint8Array(), info, size));
}

test("the stream from the root", () => {
  const words = derived(Buffer.from("chatiere table stream 1"), 16);
  assert.equal(words.getBigUint64(0, true), BigInt(vectors.stream.seed));
  assert.equal(words.getBigUint64(8, true), BigInt(vectors.stream.game_number));
});

test("the luck of a bot", () => {
  assert(Object.keys(vectors.luck).length > 0);
  for (const [ply, luck] of Object.entries(vectors.luck)) {
    const number = Buffer.alloc(4);
    number.writeUInt32LE(Number(ply));
    const word = derived(Buffer.concat([Buffer.from("chatiere table bot 1"), number]), 8);
    assert.equal(word.getBigUint64(0, true), BigInt(luck));
  }
});

test("the commitment", () => {
  const made = createHash("sha256").update("chatiere table root 1").update(tableId).update(root).digest("hex");
  assert.equal(made, vectors.commitment);
});

test("the hash of a table", async () => {
  const table = tableOf(vectors.table);
  assert.equal(Buffer.from(await hashOf(table)).toString("hex"), vectors.hash);
  assert.equal(Buffer.from(headerOf(table).commitment).toString("hex"), vectors.commitment);
});
