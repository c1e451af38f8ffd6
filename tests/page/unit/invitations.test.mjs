// Invitations and the replies to them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { packed } from "../../../web/chatiere/web/shared/bytes.js";
import {
  awaitedReplies,
  invitationIn,
  invitationText,
  replied,
  replyIn,
  replyText,
} from "../../../web/chatiere/web/shared/invitations.js";

const ID = "0123456789abcdef";
const [MINE, THEIRS, OTHER] = ["a", "b", "c"].map((letter) => letter.repeat(43));
const INVITATION = { id: ID, game: "discat", asksNext: true, seats: [{ hash: MINE }, { bot: "random" }, {}] };

test("an invitation comes back from its text, without who has a seat already", () => {
  assert.deepEqual(invitationIn(invitationText(INVITATION)), {
    ...INVITATION,
    seats: [{}, { bot: "random" }, {}],
  });
});

test("a reply comes back from its text", () => {
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
  ["no id", { ...INVITATION, id: undefined }],
  ["an id that is none", { ...INVITATION, id: "../../../../../.." }],
  ["no game", { ...INVITATION, game: 7 }],
  ["no seats", { ...INVITATION, seats: {} }],
  ["a seat that is none", { ...INVITATION, seats: ["me"] }],
  ["too many seats", { ...INVITATION, seats: Array(21).fill({}) }],
]) {
  test(`what is no invitation is refused: ${what}`, () => {
    assert.throws(() => invitationIn(packed(value)), { name: "RangeError", message: /no invitation/ });
  });
}

for (const [what, text] of [
  ["other text", "!"],
  ["no value", "aGVsbG8"],
  ["no hash", packed({ id: ID })],
  ["a hash that is none", packed({ id: ID, hash: "<b>" })],
  ["no id", packed({ hash: MINE })],
]) {
  test(`what is no reply is refused: ${what}`, () => {
    assert.throws(() => replyIn(text), { name: "RangeError", message: /no reply/ });
  });
}
