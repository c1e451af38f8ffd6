// What a link to a table leads to: the table is kept in this browser, and shown.

import { Refusal } from "../api.js";
import { unpacked } from "../bytes.js";
import { Fork, Session } from "../session.js";
import { t } from "../settings.js";
import { forgetInvitation, keepPromise, listInvitations } from "../store.js";
import { readTable } from "../sealed_table.js";
import * as play from "./play.js";

/**
 * Open a shared link, `table/TABLES`, or a private one, `seat/SEAT/TABLES`.
 * @param {string} kind @param {...string} words
 */
export async function open(kind, ...words) {
  const tables = (words.at(-1) ?? "").split(".");
  const invitations = listInvitations();
  /** @type {Record<string, string>} */
  const secrets = Object.assign({}, ...invitations.map((each) => each.secrets));
  let session;
  try {
    if (kind === "seat") {
      const { seat, secret, promises } = unpacked(words[0] ?? "");
      const { id, seats } = readTable(tables[0] ?? "");
      secrets[seats[seat]?.hash ?? ""] = secret;
      for (const [ply, hash] of promises) {
        await keepPromise(id, seat, ply, hash);
      }
    }
    session = await Session.receive(tables, secrets);
    for (const invitation of invitations) {
      if (session.table.seats.some(({ hash = "" }) => hash in invitation.secrets)) {
        forgetInvitation(invitation.id);
      }
    }
  } catch (error) {
    if (error instanceof Refusal) {
      throw error;
    }
    throw error instanceof Fork ? new Error(t("fork", { ply: error.ply })) : new Error(t("not-a-link"));
  }
  // The address of the table itself: a link with a secret does not stay in the history.
  history.replaceState(null, "", `#/play/${session.id}`);
  return play.open("play", session.id);
}
