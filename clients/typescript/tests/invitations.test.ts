import assert from "node:assert/strict";
import { test } from "node:test";

import {
  Acknowledgement,
  awaitedReplies,
  invitationIn,
  invitationText,
  type InvitedSeat,
  MapStore,
  replied,
  replyIn,
  replyText,
  type SealedSeat,
} from "@chatiere/client";

import { at, connected } from "./support.js";

const chatiere = connected();

function hashOfSecret({ seat }: SealedSeat): string {
  assert(seat.holder.case === "secretSha256");
  return Buffer.from(seat.holder.value).toString("base64url");
}

test("a table is made of an invitation and its replies", async () => {
  const [mine, theirs] = await Promise.all([chatiere.takeSeat(new MapStore()), chatiere.takeSeat(new MapStore())]);
  const id = "0123456789abcdef";
  let seats: InvitedSeat[] = [{ hash: hashOfSecret(mine) }, { bot: "random" }, {}];
  const link = invitationText({ id, game: "discat", asksNext: false, seats });

  const invitation = invitationIn(link);
  assert.deepEqual([invitation.game, awaitedReplies(invitation.seats)], ["discat", [0, 2]]);
  const reply = replyIn(replyText({ id: invitation.id, hash: hashOfSecret(theirs) }));

  assert.deepEqual([reply.id, awaitedReplies(seats)], [id, [2]]);
  seats = replied(seats, reply.hash);
  assert.deepEqual(awaitedReplies(seats), []);
  const bot = at(seats, 1);
  assert("bot" in bot);
  const { table } = await mine.newTable({
    game: invitation.game,
    acknowledgement: Acknowledgement.NONE,
    seats: [mine.seat, { holder: { case: "bot", value: bot.bot } }, theirs.seat],
  });
  assert.equal((await theirs.look(table)).seat, 2);
});
