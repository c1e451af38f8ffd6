// Opens the table of a link: stores the table in this browser, and shows it.

import { button, h } from "../dom.js";
import { knownRoom } from "../rooms/room.js";
import { Session, tableIn } from "../session.js";
import { t } from "../settings.js";
import { fromText, sha256, toText, unpacked } from "../shared/bytes.js";
import { ForkError } from "../shared/fork_error.js";
import { forgetInvitation, keepPromise, listInvitations } from "../store.js";
import { elsewhere, failed, isClosedFor } from "../trouble.js";
import * as play from "./play.js";

/** @typedef {{seat: number, secret: string, promises: [number, string][], room?: string}} PrivateSeat */

const HASH = /^[0-9a-f]{64}$/;

/**
 * Open a shared link, `table/TABLES`, or a private link, `seat/SEAT/TABLES`.
 * @param {string} kind
 * @param {...string} words
 */
export async function open(kind, ...words) {
  if (kind === "seat") {
    // A link with a secret must not stay in the history, even if opening it fails.
    history.replaceState(null, "", "#/seat");
  }
  const tables = (words.at(-1) ?? "").split(".");
  const own = kind === "seat" ? words[0] : undefined;
  try {
    const session = await keep(tables, own, false);
    history.replaceState(null, "", `#/play/${session.id}`);
    return await play.open("play", session.id);
  } catch (error) {
    if (error instanceof ForkError) {
      return fork(error.ply, tables, own);
    }
    if (isClosedFor(error)) {
      return closed(error, tables);
    }
    throw error instanceof RangeError ? new Error(t("not-a-link")) : error;
  }
}

/**
 * Store tables and this browser's seats. Throws RangeError if a string is not a table, ForkError and Refusal.
 * @param {readonly string[]} tables
 * @param {string | undefined} own the seat of a private link
 * @param {boolean} replaces true if these tables replace other tables of the same plies
 */
async function keep(tables, own, replaces) {
  const invitations = listInvitations();
  /** @type {Record<string, string>} */
  const secrets = Object.assign({}, ...invitations.map((each) => each.secrets));
  const newest = tableIn(tables.at(-1) ?? "");
  const seat = own === undefined ? undefined : await seatOf(own, newest.seats);
  if (seat) {
    secrets[newest.seats[seat.seat]?.secretSha256 ?? ""] = seat.secret;
  }
  const ours = invitations.filter((each) =>
    newest.seats.some(({ secretSha256 = "" }) => secretSha256 in each.secrets),
  );
  if (ours.some((each) => each.asksNext !== newest.asksNext || each.game !== newest.game)) {
    throw new Error(t("terms-differ"));
  }
  const session = await Session.receive(tables, secrets, replaces);
  if (seat) {
    for (const [ply, hash] of seat.promises) {
      await keepPromise(seat.seat, `${session.id} ${ply}`, hash);
    }
    if (seat.room !== undefined) {
      await knownRoom(seat.room, session.kept.game, newest.seats.length, {
        secret: seat.secret,
        table: session.id,
      });
    }
  }
  ours.forEach(({ id }) => forgetInvitation(id));
  return session;
}

/**
 * Return the page for a table that this server will never open. The page offers a new game.
 * @param {unknown} error
 * @param {readonly string[]} tables
 */
function closed(error, tables) {
  const { game } = tableIn(tables.at(-1) ?? "");
  return failed(error, elsewhere(`#/new/${game}`));
}

/**
 * Return the page for a second table of the same ply. If the players trust each other, one may have undone a decision.
 * @param {number} ply
 * @param {readonly string[]} tables
 * @param {string | undefined} own
 */
function fork(ply, tables, own) {
  const element = h("section", { class: "sheet failed" }, h("h1", {}, t("fork", { ply })));
  if (!tableIn(tables.at(-1) ?? "").asksNext) {
    const take = async () => {
      location.hash = `#/play/${(await keep(tables, own, true)).id}`;
    };
    element.append(
      h("p", {}, t("fork-friends")),
      h("p", {}, button(t("take-new"), take, { class: "primary" })),
    );
  }
  element.append(h("p", {}, h("a", { href: "#/" }, t("home"))));
  return { element, title: t("failed") };
}

/**
 * Read the seat of a private link, and check that it belongs to the table.
 * @param {string} text
 * @param {readonly import("../shared/sealed_table.js").Seat[]} seats
 * @returns {Promise<PrivateSeat>}
 */
async function seatOf(text, seats) {
  const { seat, secret, promises, room } = privateSeat(text);
  const hash = toText(await sha256(fromText(secret)));
  if (hash !== seats[seat]?.secretSha256) {
    throw new RangeError("not a seat of this table");
  }
  return { seat, secret, promises, ...(room !== undefined && { room }) };
}

/**
 * Read a string that `seatLink` has written. Throws RangeError if it is damaged.
 * @param {string} text
 * @returns {PrivateSeat}
 */
function privateSeat(text) {
  const { seat, secret, promises, room } = /** @type {Partial<Record<keyof PrivateSeat, unknown>>} */ (
    own(text) ?? {}
  );
  const isPromise = (/** @type {unknown} */ each) =>
    Array.isArray(each) && Number.isSafeInteger(each[0]) && HASH.test(String(each[1]));
  if (
    typeof seat !== "number" ||
    typeof secret !== "string" ||
    !Array.isArray(promises) ||
    !promises.every(isPromise) ||
    !(room === undefined || typeof room === "string")
  ) {
    throw new RangeError("not a seat");
  }
  return { seat, secret, promises, ...(room !== undefined && { room }) };
}

/** @param {string} text */
function own(text) {
  try {
    return unpacked(text);
  } catch {
    throw new RangeError("not a link");
  }
}
