// Invitations and the replies to them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { packed } from "../../../web/shared/bytes.js";
import {
  awaitedReplies,
  invitationIn,
  invitationText,
  replied,
  replyIn,
  replyText,
} from "../../../web/shared/invitations.js";

const ID = "0123456789abcdef";
const [MINE, THEIRS, OTHER] = ["a", "b", "c"].map((letter) => letter.repeat(43));
const INVITATION = { id: ID, game: "discat", asksNext: true, seats: [{ hash: MINE }, { bot: "random" }, {}] };
const SENT = { ...INVITATION, seats: [{}, { bot: "random" }, {}] };

test("an invitation is read back from its text, without the seats that are taken", () => {
  assert.deepEqual(invitationIn(invitationText(INVITATION)), SENT);
});

test("an invitation has the options of its game", () => {
  const invitation = { ...SENT, options: { discat: { upArrows: { cards: [1, 2] } } } };
  assert.deepEqual(invitationIn(invitationText(invitation)), invitation);
});

test("a reply is read back from its text", () => {
  assert.deepEqual(replyIn(replyText({ id: ID, hash: THEIRS })), { id: ID, hash: THEIRS });
});

test("a reply takes the first seat that awaits one, and only one", () => {
  const seats = [{}, ...INVITATION.seats];
  assert.deepEqual(awaitedReplies(seats), [0, 3]);
  const one = replied(seats, THEIRS);
  assert.deepEqual(one, [{ hash: THEIRS }, ...INVITATION.seats]);
  assert.deepEqual(replied(one, THEIRS), one);
  assert.deepEqual(awaitedReplies(seats), [0, 3]);
  const both = replied(one, OTHER);
  assert.deepEqual([both[3], awaitedReplies(both)], [{ hash: OTHER }, []]);
  assert.deepEqual(replied(both, OTHER), both);
  assert.throws(() => replied(both, "d".repeat(43)), { name: "RangeError", message: /no reply is awaited/ });
});

for (const [what, value] of [
  ["nothing", null],
  ["a number", 7],
  ["no id", { ...SENT, id: undefined }],
  ["an id that is none", { ...SENT, id: "../../../../../.." }],
  ["no game", { ...SENT, game: 7 }],
  ["a game without a name", { ...SENT, game: "" }],
  ["asksNext left out", { ...SENT, asksNext: undefined }],
  ["asksNext that is a number", { ...SENT, asksNext: 1 }],
  ["options that are a text", { ...SENT, options: "all" }],
  ["options that are a list", { ...SENT, options: [] }],
  ["options that are null", { ...SENT, options: null }],
  ["no list of seats", { ...SENT, seats: {} }],
  ["no seats", { ...SENT, seats: [] }],
  ["a seat that is none", { ...SENT, seats: ["me"] }],
  ["a seat that is a list", { ...SENT, seats: [[], {}] }],
  ["a seat that is null", { ...SENT, seats: [null] }],
  ["a bot that is a number", { ...SENT, seats: [{ bot: 5 }] }],
  ["a bot without a name", { ...SENT, seats: [{ bot: "" }] }],
  ["a hash that is a number", { ...SENT, seats: [{ hash: 7 }] }],
  ["a seat with a hash", { ...SENT, seats: [{ hash: MINE }] }],
  ["a bot with a hash", { ...SENT, seats: [{ bot: "random", hash: MINE }] }],
  ["too many seats", { ...SENT, seats: Array(21).fill({}) }],
]) {
  test(`an invalid invitation is refused: ${what}`, () => {
    assert.throws(() => invitationIn(packed(value)), { name: "RangeError", message: /^no invitation/ });
  });
}

test("the maximum number of seats is read", () => {
  const seats = Array(20).fill({});
  assert.deepEqual(invitationIn(packed({ ...SENT, seats, more: 1 })), { ...SENT, seats });
});

test("invalid invitations and replies are not written", () => {
  assert.throws(() => invitationText({ ...INVITATION, id: "mine" }), {
    name: "RangeError",
    message: /16 hexadecimal/,
  });
  assert.throws(() => replyText({ id: ID, hash: "not a hash!" }), {
    name: "RangeError",
    message: /^no reply/,
  });
  assert.throws(() => replied([{}, {}], "not a hash!"), { name: "RangeError", message: /^no reply/ });
});

for (const [what, text] of [
  ["other text", "!"],
  ["no value", "aGVsbG8"],
  ["no hash", packed({ id: ID })],
  ["a hash that is none", packed({ id: ID, hash: "<b>" })],
  ["no id", packed({ hash: MINE })],
]) {
  test(`an invalid reply is refused: ${what}`, () => {
    assert.throws(() => replyIn(text), { name: "RangeError", message: /no reply/ });
  });
}
