// The bots that are offered, and the bot that gives hints.

import assert from "node:assert/strict";
import { test } from "node:test";

import { adviserOf, middleOf, strengthsOf } from "../../../web/strengths.js";

const LISTED = {
  bots: [
    { name: "random", title: "Random" },
    { name: "flat", title: "Playouts", parameters: [{ name: "playouts" }] },
    { name: "strong", title: "Strong" },
    { name: "lone", title: "Lone" },
  ],
  ladder: [
    { name: "kitten", title: "Kitten", bot: "flat:playouts=9", strength: 0, typicalTime: "0.001s" },
    { name: "house-cat", title: "House cat", bot: "lone", strength: 50, typicalTime: "0.001s" },
    {
      name: "hunter",
      title: "Hunter",
      bot: "flat:playouts=99",
      strength: 90,
      typicalTime: "0.500s",
      botsByPlayers: { 3: "strong" },
    },
    { name: "tiger", title: "Tiger", bot: "flat:playouts=999", strength: 200, typicalTime: "0.501s" },
  ],
};

test("the ladder is listed first, in its order, then the bots without parameters", () => {
  assert.deepEqual(strengthsOf(LISTED, 2), [
    { bot: "flat:playouts=9", name: "Kitten" },
    { bot: "lone", name: "House cat" },
    { bot: "flat:playouts=99", name: "Hunter" },
    { bot: "flat:playouts=999", name: "Tiger" },
    { bot: "random", name: "Random" },
    { bot: "strong", name: "Strong" },
  ]);
  assert.deepEqual(strengthsOf({}, 2), []);
});

test("a rung may name different bots for different numbers of players", () => {
  const offered = strengthsOf(LISTED, 3);
  assert.deepEqual(offered[2], { bot: "strong", name: "Hunter" });
  assert.equal(offered.length, 5);
  assert.deepEqual(adviserOf(LISTED, 3), { bot: "strong", name: "Hunter" });
});

test("the strongest bot that takes at most half a second gives hints", () => {
  assert.deepEqual(adviserOf(LISTED, 2), { bot: "flat:playouts=99", name: "Hunter" });
  assert.equal(adviserOf({ ladder: LISTED.ladder.slice(0, 1) }, 2).bot, "flat:playouts=9");
  assert.equal(adviserOf({}, 2).bot, "random");
});

test("the middle of the ladder plays the game of the day", () => {
  assert.deepEqual(middleOf(LISTED, 3), { bot: "strong", name: "Hunter" });
  assert.deepEqual(middleOf({ ladder: LISTED.ladder.slice(0, 1) }, 2), {
    bot: "flat:playouts=9",
    name: "Kitten",
  });
  assert.equal(middleOf({}, 2).bot, "random");
});
