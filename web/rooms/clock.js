// The clock of a live table. It shows how much time the current player has left. When the time is over, the player can still
// move, but the other players can let a bot play.

import { h } from "../dom.js";
import { nameOfSeat } from "../seat_names.js";
import { locale, t } from "../settings.js";

/** The times for a decision that a host can choose, in seconds. */
export const TIMES = [30, 60, 120, 300];
// The time left at which the player is warned, in seconds.
const WARNING = 10;

/**
 * Return a time for a decision as text.
 * @param {number} seconds
 */
export function timeText(seconds) {
  const [unit, value] = seconds % 60 === 0 ? ["minute", seconds / 60] : ["second", seconds];
  return new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "long" }).format(value);
}

/** The clock of a table. */
export class Clock {
  #room;
  /** @type {number | undefined} the seat of the person who has to decide */
  #seat;
  #isMine = false;
  #since = 0;
  #wasOver = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #tick;

  /**
   * @param {import("./room.js").Room} room
   * @param {() => void} onOver called when a player's time is over
   */
  constructor(room, onOver) {
    this.#room = room;
    this.onOver = onOver;
    this.element = h("span", { class: "clock", role: "timer", hidden: true });
    this.warning = h("p", { class: "unseen", role: "status" });
  }

  /** The time for a decision, in seconds; 0 if there is no clock. */
  get seconds() {
    return this.#room.known.clock ?? 0;
  }

  /**
   * Show the time of the person who has to decide.
   * @param {number | undefined} seat the person's seat; undefined if no person has to decide
   * @param {boolean} isMine true if this person plays at this browser
   * @param {number} since the beginning of the decision, by the service's time in milliseconds since 1970
   */
  show(seat, isMine, since) {
    this.#isMine = isMine;
    this.#since = since;
    if (seat !== this.#seat) {
      this.#seat = seat;
      this.warning.textContent = "";
    }
    this.#show();
  }

  /** Stop the clock, when the player leaves the page. */
  stop() {
    clearTimeout(this.#tick);
  }

  /**
   * Return true if the time of a seat's player is over. Without a connection, this is unknown.
   * @param {number} seat
   */
  isOver(seat) {
    return seat === this.#seat && this.seconds > 0 && this.#room.known.isConnected && this.#left <= 0;
  }

  /** The time left, in seconds. */
  get #left() {
    const { offset = 0 } = this.#room.known;
    return Math.ceil((this.#since - offset - Date.now()) / 1000) + this.seconds;
  }

  #show() {
    clearTimeout(this.#tick);
    const { seconds } = this;
    const seat = this.#seat;
    this.element.hidden = seconds === 0 || seat === undefined;
    if (seconds === 0 || seat === undefined) {
      return;
    }
    const left = Math.max(0, Math.min(seconds, this.#left));
    const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    this.element.textContent = text;
    this.element.setAttribute("aria-label", t("time-left", { name: nameOfSeat(seat), time: text }));
    this.element.classList.toggle("late", left <= WARNING);
    if (left === 0 || left > WARNING || !this.#isMine) {
      this.warning.textContent = "";
    } else if (this.warning.textContent === "") {
      this.warning.textContent = t("seconds-left", { count: left });
    }
    const isOver = this.isOver(seat);
    if (isOver !== this.#wasOver) {
      this.#wasOver = isOver;
      this.onOver();
    }
    if (left > 0) {
      this.#tick = setTimeout(() => this.#show(), 1000);
    }
  }
}
