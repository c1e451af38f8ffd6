// The form for a new game: the players and the options.

import { call } from "../api.js";
import { button, h } from "../dom.js";
import { kitOf, listBots } from "../games.js";
import { OptionsForm } from "../options.js";
import { newRoom } from "../rooms/room.js";
import { nameOfSeat } from "../seat_names.js";
import { Session } from "../session.js";
import { t } from "../settings.js";
import { unpacked } from "../shared/bytes.js";
import { strengthsOf } from "../strengths.js";
import { rulesLink } from "../rules.js";
import { doing } from "../trouble.js";
import { invite } from "./invitation.js";

/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */

// The choices for people at this screen.
const PEOPLE = new Set(["me", "here"]);

/**
 * Return the form for a new game.
 * @param {string} _
 * @param {string} game
 * @param {string} [seats] the initial choices for the seats
 * @param {string} [trust] the initial choice of trust
 * @param {string} [options] the initial options, packed
 */
export async function open(_, game, seats = "", trust = "none", options) {
  const [kit, listed] = await Promise.all([kitOf(game), listBots(game)]);
  const { title } = kit.phrases;
  const asked = new NewGame(kit, listed);
  const chosen = options === undefined ? undefined : /** @type {OptionsJson} */ (unpacked(options));
  asked.fill(seats === "" ? [] : decodeURIComponent(seats).split(" "), trust, chosen);
  return { element: asked.form, title };
}

/** The form for a new game. */
class NewGame {
  /**
   * @param {import("../games.js").GameKit} kit
   * @param {import("../strengths.js").ListedBots} listed
   */
  constructor(kit, listed) {
    const { name: game, phrases, info } = kit;
    const { minPlayers = 2, maxPlayers = 2 } = info;
    this.game = game;
    this.options = new OptionsForm(kit);
    this.listed = listed;
    this.refusal = h("p", { class: "refusal", role: "alert" });
    const numbers = Array.from({ length: maxPlayers - minPlayers + 1 }, (_, index) => minPlayers + index);
    this.players = h(
      "select",
      { name: "players", onchange: () => this.#showSeats() },
      numbers.map((value) => h("option", { value }, String(value))),
    );
    this.seats = h("ol", { class: "seats" });
    this.trust = trustChoice();
    this.form = h(
      "form",
      { class: "sheet new-game", onsubmit: (/** @type {Event} */ event) => this.#begin(event) },
      h("h1", {}, phrases.title),
      h("p", {}, rulesLink(game)),
      h("label", {}, h("span", {}, t("players")), this.players),
      this.seats,
      this.options.element,
      this.trust,
      this.refusal,
      h(
        "p",
        { class: "choices" },
        h("button", { class: "primary" }, t("deal")),
        button(t("invite-live"), (event) => this.#invite(event), { class: "invite" }),
      ),
    );
    this.#showSeats();
  }

  /**
   * Fill in the form. Values that the form does not offer are ignored.
   * @param {readonly string[]} seats
   * @param {string} trust
   * @param {OptionsJson | undefined} options
   */
  fill(seats, trust, options) {
    const known = Array.from(this.players.options, ({ value }) => value);
    if (known.includes(String(seats.length))) {
      this.players.value = String(seats.length);
      this.#showSeats();
    }
    this.options.fill(options);
    this.seats.querySelectorAll("select").forEach((select, seat) => {
      if (Array.from(select.options).some(({ value }) => value === seats[seat])) {
        select.value = seats[seat] ?? "";
      }
    });
    this.form.querySelector(`[name=trust][value=${CSS.escape(trust)}]`)?.setAttribute("checked", "");
    this.#showTrust();
  }

  #showSeats() {
    // Keep choices by position, because another number of players may give the same strength another bot.
    const before = Array.from(this.seats.querySelectorAll("select"), ({ selectedIndex }) => selectedIndex);
    const players = Number(this.players.value);
    const strengths = strengthsOf(this.listed, players);
    const usual = (strengths[1] ?? strengths[0])?.bot ?? "me";
    this.seats.replaceChildren(
      ...Array.from({ length: players }, (_, seat) => {
        const select = this.#chooser(seat, strengths);
        select.value = seat === 0 ? "me" : usual;
        select.selectedIndex = before[seat] ?? select.selectedIndex;
        return h("li", {}, h("label", {}, h("span", {}, nameOfSeat(seat)), select));
      }),
    );
    this.options.show(players);
    this.#showTrust();
  }

  /**
   * @param {number} seat
   * @param {readonly import("../strengths.js").Strength[]} strengths
   */
  #chooser(seat, strengths) {
    return h(
      "select",
      { name: `seat-${seat}`, onchange: () => this.#showTrust() },
      h("optgroup", { label: t("people") }, [
        h("option", { value: "me" }, t("seat-me")),
        h("option", { value: "here" }, t("seat-here")),
        h("option", { value: "link" }, t("seat-link")),
      ]),
      h(
        "optgroup",
        { label: t("bots") },
        strengths.map(({ bot, name }) => h("option", { value: bot }, name)),
      ),
    );
  }

  #chosen() {
    return Array.from(this.seats.querySelectorAll("select"), ({ value }) => value);
  }

  #showTrust() {
    this.trust.hidden = !this.#chosen().includes("link");
  }

  /** @param {Event} event */
  #begin(event) {
    event.preventDefault();
    return doing(event, this.refusal, async () => {
      const wanted = this.#chosen();
      if (!wanted.includes("link")) {
        const bots = wanted.map((seat) => (PEOPLE.has(seat) ? undefined : seat));
        location.hash = `#/play/${(await Session.beginHere(this.game, bots, this.options.value)).id}`;
      } else {
        const asksNext = new FormData(this.form).get("trust") === "next";
        location.hash = await invite(this.game, wanted, asksNext, await this.#checkedOptions());
      }
    });
  }

  /** Return the options for a game that begins later. Throws Refusal if no game can begin with them. */
  async #checkedOptions() {
    const options = this.options.value;
    if (options) {
      await call("GameService/NewGame", { game: this.game, players: Number(this.players.value), options });
    }
    return options;
  }

  /**
   * Create a room for the game. All other players enter the room with the same link.
   * @param {Event} event
   */
  #invite(event) {
    return doing(event, this.refusal, async () => {
      if (this.form.reportValidity()) {
        const players = Number(this.players.value);
        const id = await newRoom(this.game, players, this.options.value);
        location.hash = `#/room/${id}/${this.game}/${players}`;
      }
    });
  }
}

/**
 * Return the radio buttons that ask how much the players trust each other. With "none", moves are visible immediately.
 * With "next", the next player has to acknowledge the table after each move.
 * @param {string} [more] a further sentence for the first choice
 */
export function trustChoice(more = "") {
  return h(
    "fieldset",
    { class: "trust" },
    h("legend", {}, t("trust")),
    mode("none", `${t("mode-none")} ${more}`.trim(), true),
    mode("next", t("mode-next"), false),
  );
}

/**
 * @param {string} value
 * @param {string} label
 * @param {boolean} checked
 */
function mode(value, label, checked) {
  return h("label", {}, h("input", { type: "radio", name: "trust", value, checked }), h("span", {}, label));
}
