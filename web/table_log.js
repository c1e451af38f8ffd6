// The log of a table: a line for each event, with the mark of its seat.

import { seatMark } from "./art/cards.js";
import { group, icon } from "./art/shapes.js";
import { h } from "./dom.js";
import { listOf } from "./lists.js";
import { t } from "./settings.js";

/** @typedef {import("./game.js").Event} Event */

/** The log of one table. */
export class TableLog {
  /**
   * @param {import("./games.js").GameKit} kit
   * @param {(ply: number) => void} onMoment called with the ply of a line that the player selects
   */
  constructor({ phrases, game }, onMoment) {
    this.phrases = phrases;
    this.game = game;
    this.onMoment = onMoment;
    this.element = h("div", { class: "log", role: "log", tabindex: "0", onkeydown: moveFocus });
  }

  /** Remove all lines. */
  clear() {
    this.element.replaceChildren();
  }

  /**
   * Add the events of a ply to the end.
   * @param {readonly Event[]} events
   * @param {number} ply
   * @param {number | undefined} me the viewer's seat
   */
  add(events, ply, me) {
    this.element.append(...this.#linesOf(events, ply, me));
    this.element.scrollTop = this.element.scrollHeight;
  }

  /**
   * Add earlier events to the beginning.
   * @param {readonly (readonly Event[])[]} plies the events of each ply
   * @param {number} first the first of these plies
   * @param {number | undefined} me the viewer's seat
   */
  addBefore(plies, first, me) {
    this.element.prepend(...plies.flatMap((events, index) => this.#linesOf(events, first + index, me)));
    this.element.scrollTop = this.element.scrollHeight;
  }

  /**
   * Return the lines for the events of a ply. A deal takes one line.
   * @param {readonly Event[]} events
   * @param {number} ply
   * @param {number | undefined} me the viewer's seat
   */
  #linesOf(events, ply, me) {
    const { phrases, game } = this;
    const lines = [];
    for (let index = 0; index < events.length; index++) {
      const event = /** @type {Event} */ (events[index]);
      let dealt = phrases.dealtTo(event.phrase, me);
      if (dealt) {
        const cards = [];
        for (; dealt; dealt = phrases.dealtTo(events[++index]?.phrase, me)) {
          cards.push(...dealt);
        }
        index--;
        const text = cards.length > 0 ? t("dealt-own", { cards: listOf(cards) }) : t("dealt");
        lines.push(this.#line(text, ply, { seat: undefined, isMoment: false }));
      } else {
        const how = { seat: phrases.seatOf(event.phrase), isMoment: game.isMoment(event) };
        lines.push(this.#line(phrases.write(event), ply, how));
      }
    }
    return lines;
  }

  /**
   * @param {string} text
   * @param {number} ply
   * @param {{seat: number | undefined, isMoment: boolean}} how
   */
  #line(text, ply, { seat, isMoment }) {
    const mark = icon(16, seat === undefined ? group() : seatMark(seat, 16), "mark");
    // Only the arrow keys move the focus to the line. Tab skips it.
    const attributes = { type: "button", tabindex: "-1", "data-ply": ply, onclick: () => this.onMoment(ply) };
    return h("p", { class: isMoment ? "moment" : null }, mark, h("button", attributes, h("span", {}, text)));
  }
}

/**
 * Move the focus between the lines of a log with the arrow keys.
 * @param {KeyboardEvent} event
 */
function moveFocus(event) {
  const log = /** @type {HTMLElement} */ (event.currentTarget);
  const lines = [...log.querySelectorAll("button")];
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step !== undefined && lines.length > 0) {
    const at = lines.findIndex((line) => line === document.activeElement);
    const next = at < 0 ? lines.length - 1 : Math.max(0, Math.min(lines.length - 1, at + step));
    event.preventDefault();
    lines[next]?.focus();
  }
}
