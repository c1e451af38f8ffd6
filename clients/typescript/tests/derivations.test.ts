import assert from "node:assert/strict";
import { test } from "node:test";

import { hashOf, headerOf, tableOf } from "@chatiere/client";

import { vectorsIn } from "./support.js";

/** The values of a table. `table` is in base64url. The other values are in hexadecimal. */
interface Vectors {
  readonly commitment: string;
  readonly table: string;
  readonly hash: string;
}

const { verifiable: vectors } = vectorsIn("derivations.json") as { verifiable: Vectors };

test("a table has the hash and the commitment of the test vectors", async () => {
  const table = tableOf(vectors.table);
  assert.equal(Buffer.from(await hashOf(table)).toString("hex"), vectors.hash);
  assert.equal(Buffer.from(headerOf(table).commitment).toString("hex"), vectors.commitment);
});
