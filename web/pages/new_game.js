// A new game: who sits where.

import { h } from "../dom.js";
import { listBots, roomOf } from "../games.js";
import { nameOfSeat } from "../seat_names.js";
import { Session } from "../session.js";
import { t } from "../settings.js";
import { strengthsOf } from "../strengths.js";
import { showRules } from "../rules.js";
import { doing } from "../trouble.js";
import { invite } from "./invitation.js";

// Seats of people at this screen.
const PEOPLE = new Set(["me", "here"]);

/**
 * Ask for the players of a game.
 * @param {string} _
 * @param {string} game
 */
export async function open(_, game) {
  const [{ info, phrases }, bots] = await Promise.all([roomOf(game), listBots(game)]);
  const strengths = strengthsOf(bots);
  const least = info.minPlayers ?? 2;
  const most = info.maxPlayers ?? 2;
  const refusal = h("p", { class: "refusal", role: "alert" });
  const players = h(
    "select",
    { name: "players", onchange: () => showSeats() },
    Array.from({ length: most - least + 1 }, (_, index) =>
      h("option", { value: least + index }, String(least + index)),
    ),
  );
  const seats = h("ol", { class: "seats" });
  const trust = h(
    "fieldset",
    { class: "trust" },
    h("legend", {}, t("trust")),
    mode("none", t("mode-none"), true),
    mode("next", t("mode-next"), false),
  );
  const form = h(
    "form",
    { class: "sheet new-game", onsubmit: (/** @type {Event} */ event) => begin(event) },
    h("h1", {}, phrases.title),
    h(
      "p",
      {},
      h(
        "a",
        {
          href: `rules/${game}.html`,
          target: "_blank",
          onclick: (/** @type {Event} */ event) => showRules(event, game),
        },
        t("rules"),
      ),
    ),
    h("label", {}, h("span", {}, t("players")), players),
    seats,
    trust,
    refusal,
    h("button", { class: "primary" }, t("deal")),
  );

  function showSeats() {
    const before = chosen();
    seats.replaceChildren(
      ...Array.from({ length: Number(players.value) }, (_, seat) => {
        const select = h(
          "select",
          { name: `seat-${seat}`, onchange: () => showTrust() },
          h("optgroup", { label: t("people") }, [
            h("option", { value: "me" }, t("seat-me")),
            h("option", { value: "here" }, t("seat-here")),
            h("option", { value: "link" }, t("seat-link")),
          ]),
          h(
            "optgroup",
            { label: t("bots") },
            strengths.map(({ bot, label }) => h("option", { value: bot }, label)),
          ),
        );
        select.value = before[seat] ?? (seat === 0 ? "me" : ((strengths[1] ?? strengths[0])?.bot ?? "me"));
        return h("li", {}, h("label", {}, h("span", {}, nameOfSeat(seat)), select));
      }),
    );
    showTrust();
  }

  function chosen() {
    return Array.from(seats.querySelectorAll("select"), ({ value }) => value);
  }

  function showTrust() {
    trust.hidden = !chosen().includes("link");
  }

  /** @param {Event} event */
  function begin(event) {
    event.preventDefault();
    return doing(event, refusal, async () => {
      const wanted = chosen();
      if (!wanted.includes("link")) {
        const session = await Session.beginHere(
          game,
          wanted.map((seat) => (PEOPLE.has(seat) ? undefined : seat)),
        );
        location.hash = `#/play/${session.id}`;
      } else if (isSecureContext) {
        location.hash = await invite(game, wanted, new FormData(form).get("trust") === "next");
      } else {
        refusal.textContent = t("needs-https");
      }
    });
  }

  showSeats();
  return { element: form, title: phrases.title };
}

/**
 * @param {string} value
 * @param {string} label
 * @param {boolean} checked
 */
function mode(value, label, checked) {
  return h("label", {}, h("input", { type: "radio", name: "trust", value, checked }), h("span", {}, label));
}
