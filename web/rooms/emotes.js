// Emotes at a live table: the panel from which a player sends them, and the bubbles that show the emotes of all players.

import { catFace } from "../art/cats.js";
import { icon } from "../art/shapes.js";
import { button, h } from "../dom.js";
import { give } from "../feedback.js";
import { nameOfSeat } from "../seat_names.js";
import { areEmotesShown, choose, t } from "../settings.js";

/** @import { EmoteJson } from "#api/chatiere/v1/room_service_pb.js" */

/**
 * The emotes, with the text and the mood of each.
 * @type {readonly {emote: EmoteJson, text: Parameters<typeof t>[0], mood: import("../art/cats.js").Mood}[]}
 */
const EMOTES = [
  { emote: "EMOTE_HELLO", text: "emote-hello", mood: "happy" },
  { emote: "EMOTE_WELL_PLAYED", text: "emote-well-played", mood: "calm" },
  { emote: "EMOTE_THANKS", text: "emote-thanks", mood: "happy" },
  { emote: "EMOTE_LAUGH", text: "emote-laugh", mood: "happy" },
  { emote: "EMOTE_SURPRISE", text: "emote-surprise", mood: "startled" },
  { emote: "EMOTE_OOPS", text: "emote-oops", mood: "cross" },
  { emote: "EMOTE_THINKING", text: "emote-thinking", mood: "sleepy" },
  { emote: "EMOTE_GOODBYE", text: "emote-goodbye", mood: "calm" },
];
// The time for which a bubble is shown, in milliseconds.
const SHOWN = 5000;
// The service's limit: the maximum number of emotes of a person in a period, and the period in milliseconds.
const MOST = 4;
const PERIOD = 10_000;
const SIZE = 40;

/** The emotes of a live table. */
export class Emotes {
  /** @type {number[]} the times at which this browser sent emotes in the last period */
  #sent = [];
  /** @type {Map<number, HTMLElement>} the bubble of each seat */
  #bubbles = new Map();
  /** @type {number | undefined} the seat whose player sees the buttons */
  #offered;

  /** @param {{onSend: (emote: EmoteJson) => void}} listeners */
  constructor({ onSend }) {
    this.onSend = onSend;
    this.bubbles = h("div", { class: "bubbles", role: "status" });
    this.buttons = h("div", { class: "choices" });
    const shown = h("input", {
      type: "checkbox",
      name: "emotes",
      checked: areEmotesShown(),
      onchange: () => this.#mute(shown.checked),
    });
    this.panel = h(
      "section",
      { class: "emotes sheet", id: "emotes", popover: "auto", "aria-label": t("emotes") },
      this.buttons,
      h("label", {}, shown, h("span", {}, t("emotes-shown"))),
    );
    this.opener = h(
      "button",
      { type: "button", popovertarget: "emotes", "aria-label": t("emotes"), title: t("emotes") },
      icon(28, catFace(0, 28, "happy")),
    );
  }

  /**
   * Offer the emotes to the player of a seat.
   * @param {number | undefined} seat undefined for a person who cannot send emotes
   */
  offer(seat) {
    if (seat === this.#offered) {
      // Keep the buttons, because one of them may have the focus.
      return;
    }
    this.#offered = seat;
    const buttons = EMOTES.map(({ emote, text, mood }) =>
      button([icon(SIZE, catFace(seat ?? 0, SIZE, mood)), t(text)], () => this.#send(emote), {
        "data-emote": emote,
      }),
    );
    this.buttons.replaceChildren(...(seat === undefined ? [] : buttons));
  }

  /** @param {EmoteJson} emote */
  #send(emote) {
    const now = Date.now();
    this.#sent = this.#sent.filter((time) => time > now - PERIOD);
    if (this.#sent.length < MOST) {
      this.#sent.push(now);
      this.onSend(emote);
    }
    this.panel.hidePopover();
  }

  /** @param {boolean} isShown */
  #mute(isShown) {
    choose("emotes", isShown ? "on" : "off");
    if (!isShown) {
      this.bubbles.replaceChildren();
    }
  }

  /**
   * Show a seat's emote, in place of its previous one, unless the viewer has hidden emotes or the emote is unknown.
   * @param {number} seat
   * @param {EmoteJson | undefined} emote
   */
  show(seat, emote) {
    const found = EMOTES.find((each) => each.emote === emote);
    if (!found || !areEmotesShown()) {
      return;
    }
    const bubble = h(
      "p",
      {},
      icon(SIZE, catFace(seat, SIZE, found.mood)),
      h("span", {}, h("strong", {}, nameOfSeat(seat)), " ", t(found.text)),
    );
    this.#bubbles.get(seat)?.remove();
    this.#bubbles.set(seat, bubble);
    this.bubbles.append(bubble);
    setTimeout(() => bubble.remove(), SHOWN);
    give("emote");
  }
}
