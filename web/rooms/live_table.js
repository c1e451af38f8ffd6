// The room's part of a live table's page, and the notifications that tell players that it is their turn.

import { button, h } from "../dom.js";
import { give } from "../feedback.js";
import { linkTo, share } from "../links.js";
import { namesOf } from "../lists.js";
import { callSeats, nameOfSeat } from "../seat_names.js";
import { Session } from "../session.js";
import { locale, t } from "../settings.js";
import { Clock } from "./clock.js";
import { Emotes } from "./emotes.js";
import { Room } from "./room.js";
import { SeatMenu } from "./seat_menu.js";

/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */

/** The time that each browser has to make a bot's move before the next browser makes it, in milliseconds. */
const TURN_OF_BOTS = 5000;

/** The room's part of a table's page. */
export class LiveTable {
  #newest;
  #session;
  #told = -1;
  /** @type {number | undefined} the seat to decide */
  #decider;
  /** True if this browser's player has to decide. */
  isTurn = false;

  /**
   * @param {string} id the room's id
   * @param {Session} session
   * @param {string} title the game's title
   * @param {readonly import("../strengths.js").Strength[]} strengths
   * @param {{onChange: () => void, onError: (error: unknown) => void}} listeners
   */
  constructor(id, session, title, strengths, { onChange, onError }) {
    const room = new Room(id);
    this.room = room;
    this.#session = session;
    this.title = `${title} · Chatière`;
    this.#newest = room.known.tables.at(-1);
    const { game, players } = room.known;
    this.people = h("ul");
    this.clock = new Clock(room, () => this.#show());
    this.emotes = new Emotes({ onSend: (emote) => room.send(emote) });
    this.allow = button(t("notify-me"), () => this.#allow(), { hidden: true });
    this.menu = new SeatMenu(this, strengths, { onChange, onError });
    this.close = button(t("close-game"), () => this.#close(), { hidden: true });
    const link = linkTo(`room/${room.id}/${game}/${players}`);
    this.element = h(
      "section",
      { class: "live" },
      h("h2", {}, t("people-here")),
      h("div", { role: "status" }, this.people),
      this.menu.element,
      h("p", { class: "choices" }, this.allow, this.close),
      h(
        "details",
        {},
        h("summary", {}, t("room-links")),
        share(t("room-link"), link),
        share(t("watch-link"), `${link}/watch`),
      ),
    );
    room.addEventListener("change", () => {
      this.#show();
      const newest = room.known.tables.at(-1);
      if (newest !== this.#newest) {
        location.hash = `#/play/${newest}`;
      } else {
        onChange();
      }
    });
    room.addEventListener("emote", (event) => {
      const { person, emote } = /** @type {CustomEvent} */ (event).detail;
      const seat = this.#seatOf(person);
      if (seat !== undefined) {
        this.emotes.show(seat, emote);
      }
    });
    room.addEventListener("error", (event) => onError(/** @type {CustomEvent} */ (event).detail));
  }

  /** Follow the room. */
  begin() {
    this.#show();
    this.room.enter();
  }

  /** Stop everything that runs, when the player leaves the page. */
  leave() {
    this.room.leave();
    callSeats([]);
    this.clock.stop();
    this.tellTurn(false);
  }

  /** The table as stored in this browser. */
  get session() {
    return Session.open(this.#session.id) ?? this.#session;
  }

  /** True if this browser has a seat. Spectators are never notified. */
  get #isPlayer() {
    return this.session.mine.length > 0;
  }

  /**
   * Return the seat of a person. A person keeps a seat that is lent to a bot.
   * @param {string} person
   */
  #seatOf(person) {
    const { session } = this;
    const { seats } = session.table;
    const found = seats.findIndex(
      ({ secretSha256 }, seat) => person === (secretSha256 ?? session.absentee(seat)),
    );
    return found < 0 ? undefined : found;
  }

  /** True if this browser's player is the host: the first person at the table, who started the game. */
  get isHost() {
    const host = this.session.table.seats.find(({ bot }) => bot === undefined);
    return host?.secretSha256 === this.room.known.person;
  }

  /** True if the host has closed the game. */
  get isClosed() {
    return this.room.isClosed(this.session.table);
  }

  /** The time at which the newest table arrived, as text. */
  get since() {
    return new Date(this.room.since(this.session.table)).toLocaleTimeString(locale(), {
      timeStyle: "short",
    });
  }

  /**
   * The time that this browser gives other browsers to make a bot's move, in milliseconds. The first connected player's
   * browser makes the move, or the next one if that browser has gone. Undefined for a spectator.
   */
  get patience() {
    const { people, person } = this.room.known;
    const players = this.session.table.seats.flatMap(({ secretSha256 }) => secretSha256 ?? []);
    const rank = players.filter((each) => each === person || people.includes(each)).indexOf(person);
    return rank < 0 ? undefined : rank * TURN_OF_BOTS;
  }

  /**
   * Return the button that starts a new game with the same people, or null for a spectator.
   * @param {(error: unknown) => void} onError
   * @param {OptionsJson | undefined} options
   */
  rematchButton(onError, options) {
    const again = () => this.rematch(options).catch(onError);
    return this.patience === undefined ? null : button(t("rematch"), again, { class: "primary" });
  }

  /**
   * Start a new game with the same people. Bots take the places of people who are away, if the player agrees.
   * @param {OptionsJson | undefined} [options] by default, the options of the room
   */
  async rematch(options = this.room.known.settings?.options) {
    const { session } = this;
    const { game, person, secret, people } = this.room.known;
    const { seats, allowsReplacement } = session.table;
    const isHere = (/** @type {string | undefined} */ each) => each === person || people.includes(each ?? "");
    const away = seats.flatMap(({ bot, secretSha256 }, seat) =>
      bot !== undefined || isHere(secretSha256) ? [] : [seat],
    );
    if (away.length > 0 && !confirm(t("rematch-sure", { names: namesOf(away) }))) {
      return;
    }
    const same = seats.map(({ bot = this.menu.bot, secretSha256 }, seat) => {
      const hash = secretSha256 ?? session.absentee(seat);
      return hash !== undefined && isHere(hash) ? { hash } : { bot };
    });
    const asksNext = session.table.asksNext && same.filter((each) => "hash" in each).length > 1;
    const terms = { game, seats: same, asksNext, options, allowsReplacement };
    this.room.show(await Session.begin(terms, { [person]: secret }));
  }

  /**
   * Show in the browser's tab whether it is the player's turn, and notify the player if the turn has just begun.
   * @param {boolean} isTurn
   * @param {number} [ply] the ply of the decision
   * @param {number} [seat] the seat to decide; absent if the game is over
   */
  tellTurn(isTurn, ply = -1, seat = undefined) {
    this.isTurn = isTurn;
    this.#decider = seat;
    this.#showClock();
    this.menu.show();
    document.title = isTurn ? `● ${t("your-turn-short")} · ${this.title}` : this.title;
    document.querySelector("link[rel=icon]")?.setAttribute("href", isTurn ? "icon_turn.svg" : "icon.svg");
    if (isTurn && ply !== this.#told) {
      this.#told = ply;
      give("turn");
      if (document.hidden && canNotify() && Notification.permission === "granted") {
        new Notification(t("your-turn-short"), { body: this.title, tag: this.session.id });
      }
    }
  }

  #show() {
    const { names, people, person, isConnected, isGuests } = this.room.known;
    const { onlookers } = this.room;
    const { session } = this;
    const { seats } = session.table;
    const absentees = seats.map((_, seat) => session.absentee(seat));
    callSeats(seats.map(({ secretSha256 }, seat) => names[secretSha256 ?? absentees[seat] ?? ""]));
    const players = seats.flatMap(({ secretSha256 }, seat) => {
      if (secretSha256 === undefined) {
        const absentee = absentees[seat];
        const state = people.includes(absentee ?? "") ? "bot-plays" : "stands-in";
        return absentee === undefined ? [] : `${nameOfSeat(seat)} (${t(state)})`;
      }
      const state = secretSha256 === person ? "you" : people.includes(secretSha256) ? "here" : "away";
      // Without a connection it is unknown who else is there.
      return isConnected || state === "you" ? `${nameOfSeat(seat)} (${t(state)})` : nameOfSeat(seat);
    });
    const isPlayer = (/** @type {string} */ each) =>
      absentees.includes(each) || seats.some(({ secretSha256 }) => secretSha256 === each);
    const lookers = people.flatMap((each) => (isPlayer(each) ? [] : (names[each] ?? [])));
    const all = [...lookers, onlookers > 0 && t("onlookers", { count: onlookers })]
      .filter(Boolean)
      .join(", ");
    const lines = [
      ...players,
      ...(all ? [t("looking-on-are", { names: all })] : []),
      ...(isConnected ? [] : [t("connecting")]),
    ];
    if (lines.join("\n") !== Array.from(this.people.children, (line) => line.textContent).join("\n")) {
      this.people.replaceChildren(...lines.map((line) => h("li", {}, line)));
    }
    this.allow.hidden = !this.#isPlayer || !canNotify() || Notification.permission !== "default";
    this.close.hidden = !this.isHost || this.isClosed || session.kept.isOver;
    this.#showClock();
    this.menu.show();
    // If guests started the first game, its players are not the room's people, and cannot send emotes.
    this.emotes.offer(isGuests ? undefined : this.#seatOf(person));
  }

  /** Show the time of the person to decide. Bots have no clock. */
  #showClock() {
    const { table } = this.session;
    const isPerson = table.seats[this.#decider ?? -1]?.secretSha256 !== undefined;
    const seat = isPerson && !this.isClosed ? this.#decider : undefined;
    this.clock.show(seat, this.isTurn, this.room.since(table));
  }

  async #allow() {
    await Notification.requestPermission();
    this.#show();
  }

  async #close() {
    if (confirm(t("close-sure"))) {
      await this.room.close(this.session.id);
    }
  }
}

/** Return true if the browser can show notifications. The page must be loaded over HTTPS or from the same machine. */
function canNotify() {
  return "Notification" in window && isSecureContext;
}
