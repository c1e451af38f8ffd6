// The schedule of days, and the results that are kept in local storage.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pageGlobals } from "./support.mjs";

const stored = pageGlobals();
const { dayIn, gameOfDay, puzzleOfDay, today } = await import("../../../web/days.js");
const { GAMES } = await import("../../../web/game.js");
const kept = await import("../../../web/yours/results.js");

/** Return a result of a game. */
function result(id, more = {}) {
  return { id, game: "discat", seats: [null, "random"], seat: 0, won: true, total: 7, time: 5, ...more };
}

test("each puzzle is shown once before any is shown again, and the day after does not show the next in the file", () => {
  for (let count = 1; count <= 400; count++) {
    const days = Array.from({ length: count }, (_, place) => puzzleOfDay(20_786 + place, count));
    assert.equal(new Set(days).size, count);
    assert.ok(days.every((each) => each >= 0 && each < count));
  }
  assert.notEqual(puzzleOfDay(20_787, 50), puzzleOfDay(20_786, 50) + 1);
});

test("each game is the game of the day once in five days", () => {
  assert.deepEqual(new Set([0, 1, 2, 3, 4].map((place) => gameOfDay(20_786 + place))), new Set(GAMES));
});

test("links may contain past days only", () => {
  assert.equal(dayIn("20000"), 20_000);
  for (const word of [undefined, "", "-1", "1e3", "2.5", "today", String(today() + 1)]) {
    assert.equal(dayIn(word), today());
  }
});

test("the first result counts, and an analysis is added to it", () => {
  kept.forget();
  kept.keepGame(result("a"));
  kept.keepGame(result("a", { won: false }));
  kept.keepLoss("a", 0.25);
  kept.keepLoss("unknown", 0.5);
  kept.keepDay(9, "discat", 2);
  kept.keepDay(9, "discat", 1);
  assert.deepEqual(kept.results(), { games: [result("a", { lost: 0.25 })], days: { 9: { discat: 2 } } });
});

test("a streak lasts until a whole day has passed without a result", () => {
  const days = { 4: { discat: 1 }, 6: { discat: 1 }, 7: { game: 1 } };
  assert.deepEqual(
    [4, 5, 6, 7, 8, 9].map((day) => kept.streak(days, day)),
    [1, 1, 1, 2, 2, 0],
  );
});

test("a file adds results to those of another browser", () => {
  kept.forget();
  kept.keepGame(result("a", { lost: 0.5 }));
  kept.keepDay(3, "discat", 1);
  const file = kept.exported();
  kept.forget();
  kept.keepGame(result("a"));
  kept.keepGame(result("b", { time: 1 }));
  kept.keepDay(3, "discat", 4);
  kept.keepDay(3, "momistigri", 1);
  assert.equal(kept.add(file), 1);
  assert.deepEqual(kept.results(), {
    games: [result("b", { time: 1 }), result("a", { lost: 0.5 })],
    days: { 3: { discat: 4, momistigri: 1 } },
  });
});

test("other files are refused, and change nothing", () => {
  kept.forget();
  kept.keepGame(result("a"));
  const before = JSON.stringify(kept.results());
  const format = "chatiere results 1";
  const wrong = [
    "",
    "null",
    "{}",
    { format: "chatiere results 2" },
    { format, games: {} },
    { format, games: [null] },
    { format, games: [result(1)] },
    { format, games: [result("x", { game: "chess" })] },
    { format, games: [result("x", { seat: 1 })] },
    { format, games: [result("x", { seats: [null, 2] })] },
    { format, games: [result("x", { total: "many" })] },
    { format, games: [result("x", { lost: null })] },
    { format, days: [] },
    { format, days: { tomorrow: {} } },
    { format, days: { 3: { discat: "1" } } },
  ];
  for (const each of wrong) {
    assert.throws(() => kept.add(typeof each === "string" ? each : JSON.stringify(each)));
    assert.equal(JSON.stringify(kept.results()), before);
  }
});

test("damaged results and moves are treated as missing", () => {
  kept.forget();
  kept.keepMovesOfDay(5, [1, 2]);
  assert.deepEqual(kept.movesOfDay(5), [1, 2]);
  assert.deepEqual(kept.movesOfDay(6), []);
  for (const key of [...stored.keys()]) {
    localStorage.setItem(key, "{");
  }
  localStorage.setItem("chatiere results", '{"games": 3}');
  assert.deepEqual(kept.movesOfDay(5), []);
  assert.deepEqual(kept.results(), { games: [], days: {} });
});

test("the table of one player is kept, with the bots and without the other people", () => {
  kept.forget();
  const table = { seats: [{ bot: "random" }, { secretSha256: "ab" }, { secretSha256: "cd" }] };
  const score = { winners: [1], totals: [{ total: 3 }, { total: 0 }, {}] };
  const session = { id: "t", kept: { game: "discat" }, table, mine: [1] };
  kept.keepTable(session, { score });
  kept.keepTable({ ...session, id: "two", mine: [1, 2] }, { score });
  kept.keepTable({ ...session, id: "none", mine: [] }, { score });
  const [{ time, ...found }, ...more] = kept.results().games;
  assert.deepEqual(found, {
    id: "t",
    game: "discat",
    seats: ["random", null, null],
    seat: 1,
    won: true,
    total: 0,
  });
  assert.ok(time > 0);
  assert.deepEqual(more, []);
});
