// A table that is being filled by people elsewhere. Each player's browser creates the secret of a seat and replies with
// its hash. The host's browser creates the table when all players have replied.

import { random } from "../bytes.js";
import { button, h } from "../dom.js";
import { kitOf } from "../games.js";
import { optionsTold } from "../options.js";
import { isLoopback, linkTo, pasteLink, share } from "../links.js";
import { nameOfSeat } from "../seat_names.js";
import { newSecret, Session } from "../session.js";
import { t } from "../settings.js";
import { toHex } from "../shared/bytes.js";
import {
  awaitedReplies,
  invitationIn,
  invitationText,
  replied,
  replyIn,
  replyText,
} from "../shared/invitations.js";
import { forgetInvitation, invitationOf, keepInvitation } from "../store.js";
import { doing } from "../trouble.js";

/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */
/** @typedef {import("../store.js").Invitation} Invitation */
/** @typedef {import("../shared/invitations.js").InvitedSeat} InvitedSeat */

/**
 * Create an invitation, and return its address.
 * @param {string} game
 * @param {readonly string[]} seats for each seat "me", "here", "link" or a bot
 * @param {boolean} asksNext
 * @param {OptionsJson} [options]
 */
export async function invite(game, seats, asksNext, options) {
  const id = toHex(random(8));
  /** @type {Record<string, string>} */
  const secrets = {};
  /** @type {InvitedSeat[]} */
  const taken = [];
  for (const seat of seats) {
    if (seat === "me" || seat === "here") {
      const { secret, hash } = await newSecret();
      secrets[hash] = secret;
      taken.push({ hash });
    } else {
      taken.push(seat === "link" ? {} : { bot: seat });
    }
  }
  keepInvitation(id, { game, asksNext, seats: taken, options, secrets, isMine: true, changed: Date.now() });
  return `#/invitation/${id}`;
}

/**
 * Open the host's invitation by its id, a guest's invitation by its text, or a reply.
 * @param {string} kind "invitation" or "reply"
 * @param {string} word the last word of the address
 */
export async function open(kind, word) {
  if (kind === "reply") {
    return reply(inLink(replyIn, word));
  }
  const own = invitationOf(word);
  if (own) {
    return own.isMine ? host(word, own) : guest(word, own);
  }
  const { id, ...invited } = inLink(invitationIn, word);
  const known = invitationOf(id);
  return known?.isMine
    ? host(id, known)
    : guest(id, known ?? { ...invited, secrets: {}, isMine: false, changed: 0 });
}

/**
 * Return the contents of a link. Throws Error if the link is damaged.
 * @template T
 * @param {(word: string) => T} read decodes the word, and throws an error if it is damaged
 * @param {string} word
 * @returns {T}
 */
function inLink(read, word) {
  try {
    return read(word);
  } catch {
    throw new Error(t("not-a-link"));
  }
}

/** @param {{id: string, hash: string}} found */
function reply({ id, hash }) {
  const invitation = invitationOf(id);
  if (!invitation?.isMine) {
    throw new Error(t("reply-elsewhere"));
  }
  try {
    invitation.seats = replied(invitation.seats, hash);
  } catch {
    throw new Error(t("no-seat-free"));
  }
  keepInvitation(id, invitation);
  history.replaceState(null, "", `#/invitation/${id}`);
  return host(id, invitation);
}

/**
 * @param {string} id
 * @param {Invitation} invitation
 */
async function host(id, invitation) {
  const kit = await kitOf(invitation.game);
  const { phrases } = kit;
  const { game, asksNext, seats, options, secrets } = invitation;
  const refusal = h("p", { class: "refusal", role: "alert" });
  const element = h("section", { class: "sheet invitation" });
  const begin = (/** @type {Event} */ event) =>
    doing(event, refusal, async () => {
      // All players have replied.
      const holders = /** @type {import("../session.js").NewSeat[]} */ (seats);
      const session = await Session.begin({ game, seats: holders, asksNext, options }, secrets);
      forgetInvitation(id);
      location.hash = `#/play/${session.id}`;
    });
  const free = (/** @type {number} */ index) => () => {
    seats[index] = {};
    keepInvitation(id, invitation);
    show();
  };

  function show() {
    const left = awaitedReplies(seats).length;
    element.replaceChildren(
      h("h1", {}, t("invitation", { game: phrases.title })),
      h("p", {}, t(asksNext ? "mode-next" : "mode-none")),
      optionsTold(kit, seats.length, options) ?? "",
      h(
        "ol",
        { class: "seats" },
        seats.map((seat, index) => seatItem(seat, index, secrets, free(index))),
      ),
      ...(left > 0
        ? [
            h("p", {}, t("invite-more", { free: left })),
            isLoopback() ? h("p", { class: "refusal" }, t("loopback")) : "",
            share(
              t("invitation-link"),
              linkTo(
                `invitation/${invitationText({ id, game, asksNext, seats, ...(options && { options }) })}`,
              ),
            ),
            h("p", {}, t("replies")),
            pasteLink(),
          ]
        : [h("p", {}, t("all-here")), button(t("deal"), begin, { class: "primary" })]),
      refusal,
    );
  }

  show();
  return { element, title: phrases.title };
}

/**
 * Return the row of a seat, with a button that frees the seat if another player holds it.
 * @param {InvitedSeat} seat
 * @param {number} index
 * @param {Record<string, string>} secrets
 * @param {() => void} free frees the seat
 */
function seatItem(seat, index, secrets, free) {
  const isAnothers = "hash" in seat && !(seat.hash in secrets);
  return h(
    "li",
    {},
    h("strong", {}, nameOfSeat(index)),
    " ",
    holder(seat, secrets),
    " ",
    isAnothers && button(t("free-seat"), free),
  );
}

/**
 * @param {InvitedSeat} seat
 * @param {Record<string, string>} secrets
 */
function holder(seat, secrets) {
  if ("bot" in seat) {
    return t("bot", { name: String(seat.bot) });
  }
  return "hash" in seat ? (seat.hash in secrets ? t("you") : t("taken")) : t("free");
}

/**
 * @param {string} id
 * @param {Invitation} invitation
 */
async function guest(id, { game, asksNext, seats, options, secrets }) {
  const kit = await kitOf(game);
  const { phrases } = kit;
  const refusal = h("p", { class: "refusal", role: "alert" });
  const content = h("div", {});
  const showReply = (/** @type {string} */ hash) =>
    content.replaceChildren(
      h("p", {}, t("send-reply")),
      share(t("reply-link"), linkTo(`reply/${replyText({ id, hash })}`)),
      h("p", {}, t("then-table")),
      pasteLink(),
    );
  const sit = (/** @type {Event} */ event) =>
    doing(event, refusal, async () => {
      const { secret, hash } = await newSecret();
      keepInvitation(id, {
        game,
        asksNext,
        seats,
        options,
        secrets: { [hash]: secret },
        isMine: false,
        changed: Date.now(),
      });
      showReply(hash);
    });
  const [hash] = Object.keys(secrets);
  if (hash !== undefined) {
    showReply(hash);
  } else {
    content.append(button(t("sit-down"), sit, { class: "primary" }));
  }
  const element = h(
    "section",
    { class: "sheet invitation" },
    h("h1", {}, t("invited", { game: phrases.title })),
    h("p", {}, t("invited-more", { players: seats.length, trust: t(asksNext ? "mode-next" : "mode-none") })),
    optionsTold(kit, seats.length, options),
    content,
    refusal,
  );
  return { element, title: phrases.title };
}
