// A table that is played live: what its page shows of the room, and how the player hears that it is his turn.

import { h } from "../dom.js";
import { linkTo, share } from "../links.js";
import { callSeats, nameOfSeat } from "../seat_names.js";
import { Session } from "../session.js";
import { choose, isHeard, locale, t } from "../settings.js";
import { Room } from "./room.js";

/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */

/** The milliseconds that a browser leaves each of those before it for a bot's move. */
const TURN_OF_BOTS = 5000;
const TONE = 660;
const TONE_SECONDS = 0.25;

/** The part of a table's page that knows its room. */
export class LiveTable {
  #newest;
  #told = -1;

  /**
   * @param {string} id the room's
   * @param {Session} session
   * @param {string} title the game's
   * @param {{onChange: () => void, onError: (error: unknown) => void}} listeners
   */
  constructor(id, session, title, { onChange, onError }) {
    const room = new Room(id);
    this.room = room;
    this.session = session;
    this.title = `${title} · Chatière`;
    this.#newest = room.known.tables.at(-1);
    const { game, players } = room.known;
    this.people = h("ul");
    this.sound = h("input", {
      type: "checkbox",
      name: "sound",
      checked: isHeard(),
      onchange: () => choose("sound", this.sound.checked ? "on" : "off"),
    });
    this.allow = h("button", { type: "button", hidden: true, onclick: () => this.#allow() }, t("notify-me"));
    this.close = h("button", { type: "button", hidden: true, onclick: () => this.#close() }, t("close-game"));
    const link = linkTo(`room/${room.id}/${game}/${players}`);
    this.element = h(
      "section",
      { class: "live" },
      h("h2", {}, t("people-here")),
      h("div", { role: "status" }, this.people),
      this.#isPlayer && h("label", {}, this.sound, h("span", {}, t("sound"))),
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
    room.addEventListener("error", (event) => onError(/** @type {CustomEvent} */ (event).detail));
  }

  /** Follow the room. */
  begin() {
    this.#show();
    this.room.enter();
  }

  /** Stop, as the page is left. */
  leave() {
    this.room.leave();
    callSeats([]);
    this.tellTurn(false);
  }

  /** True if this browser has a seat: who only looks on is never called. */
  get #isPlayer() {
    return this.session.mine.length > 0;
  }

  /** True if this browser's player has dealt the game. */
  get isHost() {
    return this.session.table.seats[0]?.secretSha256 === this.room.known.person;
  }

  /** True if the game is closed. */
  get isClosed() {
    return this.room.isClosed(this.session.table);
  }

  /** The time at which the newest table came, in words. */
  get since() {
    return new Date(this.room.known.since).toLocaleTimeString(locale(), {
      timeStyle: "short",
    });
  }

  /**
   * Return how many milliseconds this browser leaves others for a bot's move: one makes them, and the next one if that is
   * gone; undefined for who only looks on.
   */
  get patience() {
    const { people, person } = this.room.known;
    const players = this.session.table.seats.flatMap(({ secretSha256 }) => secretSha256 ?? []);
    const rank = players.filter((each) => each === person || people.includes(each)).indexOf(person);
    return rank < 0 ? undefined : rank * TURN_OF_BOTS;
  }

  /**
   * Return the button that deals a new game to the same people; null for who only looks on.
   * @param {(error: unknown) => void} onError
   * @param {OptionsJson | undefined} options
   */
  rematchButton(onError, options) {
    const again = () => this.#rematch(options).catch(onError);
    return this.patience === undefined
      ? null
      : h("button", { type: "button", class: "primary", onclick: again }, t("rematch"));
  }

  /** @param {OptionsJson | undefined} options */
  async #rematch(options) {
    const { game, person, secret } = this.room.known;
    const { seats, asksNext } = this.session.table;
    const same = seats.map(({ bot, secretSha256 = "" }) =>
      bot === undefined ? { hash: secretSha256 } : { bot },
    );
    this.room.show(await Session.begin({ game, seats: same, asksNext, options }, { [person]: secret }));
  }

  /**
   * Let the tab say whether it is the player's turn; call the player if it has just become so.
   * @param {boolean} isTurn
   * @param {number} [ply]
   */
  tellTurn(isTurn, ply = -1) {
    document.title = isTurn ? `● ${t("your-turn-short")} · ${this.title}` : this.title;
    document.querySelector("link[rel=icon]")?.setAttribute("href", isTurn ? "icon_turn.svg" : "icon.svg");
    if (isTurn && ply !== this.#told) {
      this.#told = ply;
      if (isHeard()) {
        ring();
      }
      if (document.hidden && canNotify() && Notification.permission === "granted") {
        new Notification(t("your-turn-short"), { body: this.title, tag: this.session.id });
      }
    }
  }

  #show() {
    const { names, people, person, isConnected } = this.room.known;
    const { onlookers } = this.room;
    const { seats, id } = this.session.table;
    callSeats(seats.map(({ secretSha256 = "" }) => names[secretSha256]));
    const players = seats.flatMap(({ secretSha256 }, seat) => {
      if (secretSha256 === undefined) {
        return [];
      }
      const state = secretSha256 === person ? "you" : people.includes(secretSha256) ? "here" : "away";
      // Without a connection nobody knows who else is there.
      return isConnected || state === "you" ? `${nameOfSeat(seat)} (${t(state)})` : nameOfSeat(seat);
    });
    const isPlayer = (/** @type {string} */ each) => seats.some(({ secretSha256 }) => secretSha256 === each);
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
    this.close.hidden = !this.isHost || this.isClosed || (Session.open(id)?.kept.isOver ?? true);
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

/** True if the browser can notify: pages by plain http from another machine can't. */
function canNotify() {
  return "Notification" in window && isSecureContext;
}

/** Sound a short tone. */
function ring() {
  const context = new AudioContext();
  const [tone, volume] = [context.createOscillator(), context.createGain()];
  tone.frequency.value = TONE;
  volume.gain.setValueAtTime(0.2, context.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + TONE_SECONDS);
  tone.connect(volume).connect(context.destination);
  tone.addEventListener("ended", () => context.close());
  tone.start();
  tone.stop(context.currentTime + TONE_SECONDS);
}
