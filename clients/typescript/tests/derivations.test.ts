import assert from "node:assert/strict";
import { test } from "node:test";

import { hashOf, headerOf, tableOf } from "@chatiere/client";

import { vectorsIn } from "./support.js";

/** The values of a table, in hexadecimal except the table as text. */
interface Vectors {
  readonly commitment: string;
  readonly table: string;
  readonly hash: string;
}

const { verifiable: vectors } = vectorsIn("derivations.json") as { verifiable: Vectors };

test("the hash of a table", async () => {
  const table = tableOf(vectors.table);
  assert.equal(Buffer.from(await hashOf(table)).toString("hex"), vectors.hash);
  assert.equal(Buffer.from(headerOf(table).commitment).toString("hex"), vectors.commitment);
});
