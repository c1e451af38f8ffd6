import assert from "node:assert/strict";
import { test } from "node:test";

import type { AnalysedDecision } from "@chatiere/client";

import { at, choose, connected, present, refusalOf } from "./support.js";

const chatiere = connected();

async function played(plies: number) {
  const table = await chatiere.newGame({ game: "discat", players: 3, seed: 5n });
  while (table.ply < plies) {
    await table.move(choose(table.legalActions, table.ply));
  }
  return table.record;
}

async function all(decisions: AsyncIterable<AnalysedDecision>): Promise<AnalysedDecision[]> {
  const found = [];
  for await (const each of decisions) {
    found.push(each);
  }
  return found;
}

test("a record analysed by several calls has the same analysis as by one call", async () => {
  const record = await played(12);
  // Each call analyses two decisions.
  const found = await all(chatiere.analyse(record, { simulations: 10_000, seed: 3n, toPly: 5 }));
  assert.deepEqual(
    found.map(({ ply }) => ply),
    [0, 1, 2, 3, 4],
  );
  const { decisions } = await chatiere.bots.analyse({ record, toPly: 5, simulations: 10_000, seed: 3n });
  assert.deepEqual(found, decisions);
  for (const { ply, played, best, value } of found) {
    assert.equal(played?.action?.id, record.actions[ply]);
    assert.equal(at(best, 0).value, value);
    assert.notEqual(present(at(best, 0).action).label, "");
  }
});

test("a record without decisions can be analysed", async () => {
  assert.deepEqual(await all(chatiere.analyse(await played(0))), []);
});

test("an invalid range or record is refused, with the field", async () => {
  const record = await played(3);
  assert.equal((await refusalOf(all(chatiere.analyse(record, { fromPly: 4 })))).field, "from_ply");
  record.actions[1] = 60_000;
  assert.equal((await refusalOf(all(chatiere.analyse(record)))).field, "record.actions[1]");
});

test("an analysis rejects when its signal is aborted", async () => {
  const abort = new AbortController();
  const decisions = chatiere.analyse(await played(6), { simulations: 20_000, signal: abort.signal });
  assert.equal((await decisions.next()).value?.ply, 0);
  abort.abort();
  await assert.rejects(decisions.next());
});
