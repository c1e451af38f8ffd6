// A table that is being filled by people elsewhere. Each player's own browser makes the secret of a seat and sends its hash
// in a reply; whoever invites makes the table when all have replied.

import { packed, random, toHex, unpacked } from "../bytes.js";
import { h } from "../dom.js";
import { roomOf } from "../games.js";
import { linkTo, pasteLink, share } from "../links.js";
import { nameOfSeat } from "../seat_names.js";
import { newSecret, Session } from "../session.js";
import { t } from "../settings.js";
import { forgetInvitation, invitationOf, keepInvitation } from "../store.js";

/** @typedef {import("../store.js").Invitation} Invitation */

const BOT = "bot ";

/**
 * Begin an invitation: `seats` has "me", "link", or a bot. Returns its address.
 * @param {string} game @param {readonly string[]} seats @param {boolean} asksNext
 */
export async function invite(game, seats, asksNext) {
  const id = toHex(random(8));
  /** @type {Record<string, string>} */
  const secrets = {};
  /** @type {(string | null)[]} */
  const taken = [];
  for (const seat of seats) {
    if (seat === "me" || seat === "here") {
      const { secret, hash } = await newSecret();
      secrets[hash] = secret;
      taken.push(hash);
    } else {
      taken.push(seat === "link" ? null : BOT + seat);
    }
  }
  keepInvitation(id, { game, asksNext, seats: taken, secrets, isMine: true, changed: Date.now() });
  return `#/invitation/${id}`;
}

/**
 * Open an invitation of one's own by its id, one of somebody else whole, or a reply.
 * @param {string} kind @param {string} word
 */
export async function open(kind, word) {
  if (kind === "reply") {
    const { id, hash } = read(word);
    const invitation = invitationOf(id);
    if (!invitation?.isMine) {
      throw new Error(t("reply-elsewhere"));
    }
    const free = invitation.seats.indexOf(null);
    if (!invitation.seats.includes(hash)) {
      if (free < 0) {
        throw new Error(t("no-seat-free"));
      }
      invitation.seats[free] = hash;
      keepInvitation(id, invitation);
    }
    history.replaceState(null, "", `#/invitation/${id}`);
    return host(id, invitation);
  }
  const own = invitationOf(word);
  if (own?.isMine) {
    return host(word, own);
  }
  const { id, game, asksNext, seats } = own
    ? { id: word, game: own.game, asksNext: own.asksNext, seats: own.seats }
    : read(word);
  return guest(id, game, asksNext, seats);
}

/** @param {string} word */
function read(word) {
  try {
    return unpacked(word);
  } catch {
    throw new Error(t("not-a-link"));
  }
}

/** @param {string} id @param {Invitation} invitation */
async function host(id, invitation) {
  const { phrases } = await roomOf(invitation.game);
  const { game, asksNext, seats, secrets } = invitation;
  const free = seats.filter((seat) => seat === null).length;
  const shown = seats.map((seat) => (seat === null || seat.startsWith(BOT) ? seat : ""));
  const begin = async () => {
    const chosen = seats.map((seat) =>
      seat?.startsWith(BOT) ? { bot: seat.slice(BOT.length) } : { hash: seat ?? "" },
    );
    const session = await Session.begin({ game, seats: chosen, asksNext }, secrets);
    forgetInvitation(id);
    location.hash = `#/play/${session.id}`;
  };
  const element = h(
    "section",
    { class: "sheet invitation" },
    h("h1", {}, t("invitation", { game: phrases.title })),
    h(
      "ol",
      {},
      seats.map((seat, index) => h("li", {}, h("strong", {}, nameOfSeat(index)), " ", holder(seat, secrets))),
    ),
    free > 0
      ? [
          h("p", {}, t("invite-more", { free })),
          share(t("invitation-link"), linkTo(`invitation/${packed({ id, game, asksNext, seats: shown })}`)),
          h("p", {}, t("replies")),
          pasteLink(),
        ]
      : [
          h("p", {}, t("all-here")),
          h("button", { type: "button", class: "primary", onclick: begin }, t("deal")),
        ],
  );
  return { element, title: phrases.title };
}

/** @param {string | null} seat @param {Record<string, string>} secrets */
function holder(seat, secrets) {
  if (seat === null) {
    return t("free");
  }
  return seat.startsWith(BOT)
    ? t("bot", { name: seat.slice(BOT.length) })
    : seat in secrets
      ? t("you")
      : t("taken");
}

/** @param {string} id @param {string} game @param {boolean} asksNext @param {(string | null)[]} seats */
async function guest(id, game, asksNext, seats) {
  const { phrases } = await roomOf(game);
  const kept = invitationOf(id);
  const element = h("section", { class: "sheet invitation" });
  const reply = (/** @type {string} */ hash) => [
    h("p", {}, t("send-reply")),
    share(t("reply-link"), linkTo(`reply/${packed({ id, hash })}`)),
    h("p", {}, t("then-table")),
    pasteLink(),
  ];
  const sit = async () => {
    const { secret, hash } = await newSecret();
    keepInvitation(id, {
      game,
      asksNext,
      seats,
      secrets: { [hash]: secret },
      isMine: false,
      changed: Date.now(),
    });
    element.lastElementChild?.replaceChildren(...reply(hash));
  };
  const [hash] = Object.keys(kept?.secrets ?? {});
  element.append(
    h("h1", {}, t("invited", { game: phrases.title })),
    h("p", {}, t("invited-more", { players: seats.length, trust: t(asksNext ? "mode-next" : "mode-none") })),
    h(
      "div",
      {},
      hash ? reply(hash) : h("button", { type: "button", class: "primary", onclick: sit }, t("sit-down")),
    ),
  );
  return { element, title: phrases.title };
}
