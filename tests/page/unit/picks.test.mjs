// Things that can be picked, and the resulting actions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { follow, pick } from "../../../web/picks.js";

const option = (id, keys, ordered = false) => ({ action: { id }, picks: { keys, ordered } });
const found = (options, picked) => {
  const { candidates, complete, hasMore } = follow(options, picked);
  return [[...candidates].sort(), complete.map(({ id }) => id), hasMore];
};

test("sets are picked in any order", () => {
  const options = [option(1, ["a"]), option(2, ["a", "b"]), option(3, ["b", "c"])];
  assert.deepEqual(found(options, []), [["a", "b", "c"], [], true]);
  assert.deepEqual(found(options, ["a"]), [["b"], [1], true]);
  assert.deepEqual(found(options, ["b"]), [["a", "c"], [], true]);
  assert.deepEqual(found(options, ["b", "a"]), [[], [2], false]);
});

test("an action that ends with the last pick is listed first", () => {
  const options = [option(1, ["a", "b"]), option(2, ["b", "a"])];
  assert.deepEqual(found(options, ["a", "b"])[1], [1, 2]);
  assert.deepEqual(found(options, ["b", "a"])[1], [2, 1]);
});

test("a pair needs both of its copies", () => {
  const options = [option(1, ["a", "a"])];
  assert.deepEqual(found(options, ["a"]), [["a"], [], true]);
  assert.deepEqual(found(options, ["a", "a"]), [[], [1], false]);
  assert.equal(pick(options, ["a", "a"], "a").length, 1);
});

test("sequences are picked in their order", () => {
  const options = [option(1, ["cat", "x"], true), option(2, ["cat", "y"], true)];
  assert.deepEqual(found(options, []), [["cat"], [], true]);
  assert.deepEqual(found(options, ["cat"]), [["x", "y"], [], true]);
  assert.equal(pick(options, [], "x"), undefined);
  assert.deepEqual(pick(options, ["cat"], "y"), ["cat", "y"]);
});

test("a second click removes a pick, and in a sequence all later ones", () => {
  assert.deepEqual(pick([option(1, ["a", "b", "c"])], ["a", "b"], "a"), ["b"]);
  assert.deepEqual(pick([option(1, ["a", "b", "c"], true)], ["a", "b"], "a"), []);
});

test("an item that fits no earlier pick starts a new choice, or cannot be picked", () => {
  const options = [option(1, ["a", "b"]), option(2, ["c"])];
  assert.deepEqual(pick(options, ["a"], "c"), ["c"]);
  assert.equal(pick(options, ["a"], "d"), undefined);
});

test("actions without keys are buttons, complete from the beginning", () => {
  assert.deepEqual(found([option(1, [])], []), [[], [1], false]);
  assert.deepEqual(found([option(1, [])], ["a"]), [[], [], false]);
});
