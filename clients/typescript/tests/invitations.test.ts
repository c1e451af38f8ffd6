import assert from "node:assert/strict";
import { test } from "node:test";

import {
  Acknowledgement,
  awaitedReplies,
  hashText,
  headerOf,
  invitationIn,
  invitationText,
  type InvitedSeat,
  MapStore,
  replied,
  replyIn,
  replyText,
  seatOf,
} from "@chatiere/client";

import { at, connected } from "./support.js";

const chatiere = connected();

test("a table can be created from an invitation and its replies", async () => {
  const [mine, theirs] = await Promise.all([chatiere.takeSeat(new MapStore()), chatiere.takeSeat(new MapStore())]);
  const id = "0123456789abcdef";
  let seats: InvitedSeat[] = [{ hash: hashText(mine.seat) }, { bot: "random" }, {}];
  const link = invitationText({ id, game: "discat", asksNext: false, seats });

  const invitation = invitationIn(link);
  assert.deepEqual([invitation.game, awaitedReplies(invitation.seats)], ["discat", [0, 2]]);
  const reply = replyIn(replyText({ id: invitation.id, hash: hashText(theirs.seat) }));

  assert.deepEqual([reply.id, awaitedReplies(seats)], [id, [2]]);
  seats = replied(seats, reply.hash);
  assert.deepEqual(awaitedReplies(seats), []);
  const { table } = await mine.newTable({
    game: invitation.game,
    acknowledgement: Acknowledgement.NONE,
    seats: seats.map(seatOf),
  });
  assert.deepEqual([(await mine.look(table)).seat, (await theirs.look(table)).seat], [0, 2]);
  assert.equal(at(headerOf(table).seats, 1).holder.value, "random");
});

test("the text of a seat's hash gives the seat; a bot or an open seat has no hash", async () => {
  const { seat } = await chatiere.takeSeat(new MapStore());
  assert.deepEqual(seatOf({ hash: hashText(seat) }), seat);
  assert.throws(() => hashText(seatOf({ bot: "random" })), { name: "RangeError", message: /no hash/ });
  assert.throws(() => seatOf({}), { name: "RangeError", message: /a reply is awaited/ });
});
