// A room before its game. Players enter by the link, type a name and take a seat. The host starts the game.

import { qrCode } from "../art/qr.js";
import { seatMark } from "../art/cards.js";
import { icon } from "../art/shapes.js";
import { button, h } from "../dom.js";
import { kitOf, listBots } from "../games.js";
import { isLoopback, linkTo, share } from "../links.js";
import { optionsTold } from "../options.js";
import { TIMES, timeText } from "../rooms/clock.js";
import { isWithoutRooms, knownRoom, Room } from "../rooms/room.js";
import { rulesLink } from "../rules.js";
import { nameOfSeat } from "../seat_names.js";
import { Session } from "../session.js";
import { choose, playerName, t } from "../settings.js";
import { strengthsOf } from "../strengths.js";
import { doing, whyOf } from "../trouble.js";
import { trustChoice } from "./new_game.js";

const LONGEST_NAME = 24;
/** The last word of the link for spectators. */
const WATCHING = "watch";

/**
 * Open the room of a link.
 * @param {string} _
 * @param {string} id
 * @param {string} game
 * @param {string} players the number of players
 * @param {string} [watching] WATCHING for a spectator
 */
export async function open(_, id, game, players, watching) {
  const number = Number(players);
  if (!/^[\w-]{22}$/.test(id) || !number) {
    throw new Error(t("not-a-link"));
  }
  const [kit, bots] = await Promise.all([kitOf(game), listBots(game)]);
  const { minPlayers = 2, maxPlayers = 2 } = kit.info;
  if (!(number >= minPlayers && number <= maxPlayers)) {
    throw new Error(t("not-a-link"));
  }
  await knownRoom(id, game, number);
  const page = new RoomPage(new Room(id), kit, number, strengthsOf(bots, number), watching === WATCHING);
  page.begin();
  return { element: page.element, title: kit.phrases.title, leave: () => page.room.leave() };
}

/** The page of a room. */
class RoomPage {
  /** @type {Set<string>} the persons whose seats this browser's player has freed */
  #freed = new Set();
  told = h("div", {});
  clock = h("p", { role: "status" });

  /**
   * @param {Room} room
   * @param {import("../games.js").GameKit} kit
   * @param {number} players
   * @param {readonly import("../strengths.js").Strength[]} strengths
   * @param {boolean} isWatching
   */
  constructor(room, kit, players, strengths, isWatching) {
    this.room = room;
    this.kit = kit;
    this.players = players;
    this.isWatching = isWatching;
    const { isHost } = room.known;
    const game = kit.info.name;
    this.refusal = h("p", { class: "refusal", role: "alert" });
    this.state = h("p", { role: "status" });
    this.seats = h("ol", { class: "seats" });
    this.people = h("p", { role: "status" });
    this.filler = h(
      "select",
      { name: "filler", onchange: () => this.#show() },
      // Select the second weakest bot, like the form for a new game.
      strengths.map(({ bot, name }, index) => h("option", { value: bot, selected: index === 1 }, name)),
    );
    this.chooser = this.#clockChooser();
    this.deal = this.#dealForm();
    const link = linkTo(`room/${room.id}/${game}/${players}`);
    this.links = h(
      "div",
      { hidden: true },
      h("p", {}, t("room-more")),
      isLoopback() && h("p", { class: "refusal" }, t("loopback")),
      h(
        "div",
        { class: "invite" },
        share(t("room-link"), link),
        h("figure", { role: "img", "aria-label": t("qr-code") }, qrCode(link)),
      ),
    );
    this.watching = h("div", { hidden: true }, share(t("watch-link"), `${link}/${WATCHING}`));
    this.form = this.#nameForm();
    const { title } = kit.phrases;
    this.element = h(
      "section",
      { class: "sheet room" },
      h("h1", {}, isWatching ? title : t(isHost ? "room-mine" : "room-theirs", { game: title })),
      this.links,
      isWatching && h("p", {}, t("looking-on")),
      h("p", {}, rulesLink(game ?? "")),
      this.told,
      this.clock,
      this.form,
      this.state,
      this.seats,
      this.people,
      this.refusal,
      this.deal,
      this.watching,
    );
  }

  /** Follow the room. */
  begin() {
    this.room.addEventListener("change", () => this.#show());
    this.room.addEventListener("error", (event) => {
      const { detail } = /** @type {CustomEvent} */ (event);
      this.refusal.textContent = isWithoutRooms(detail) ? t("no-rooms") : whyOf(detail);
    });
    this.#show();
    this.room.enter();
  }

  /** Return the form that starts the game. */
  #dealForm() {
    const set = (/** @type {Event} */ event) => event.target === this.chooser && this.#setClock(event);
    return h(
      "form",
      {
        class: "deal",
        hidden: true,
        onchange: set,
        onsubmit: (/** @type {Event} */ event) => this.#deal(event),
      },
      h("label", {}, h("span", {}, t("fill-with")), this.filler),
      this.room.known.isHost && h("label", {}, h("span", {}, t("clock")), this.chooser),
      trustChoice(t("mode-replacement")),
      h("button", { class: "primary" }, t("deal")),
    );
  }

  /** Return the host's choice of the time for a decision. */
  #clockChooser() {
    return h(
      "select",
      { name: "clock" },
      [0, ...TIMES].map((time) =>
        h(
          "option",
          { value: time, selected: time === (this.room.known.clock ?? 0) },
          time === 0 ? t("clock-none") : timeText(time),
        ),
      ),
    );
  }

  /**
   * Set the time for a decision. Until the service has accepted it, the host cannot deal.
   * @param {Event} event
   */
  async #setClock(event) {
    await doing(event, this.refusal, () => this.room.setClock(Number(this.chooser.value)));
    this.chooser.value = String(this.room.known.clock ?? 0);
  }

  #nameForm() {
    const name = h("input", {
      type: "text",
      name: "name",
      required: true,
      value: playerName(),
      autocomplete: "nickname",
    });
    const join = (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const role = event.submitter?.getAttribute("value") === "seat" ? "seat" : "onlooker";
      return doing(event, this.refusal, async () => {
        const wanted = name.value.trim();
        if (wanted === "" || [...wanted].length > LONGEST_NAME) {
          throw new Error(t("name-limits", { most: LONGEST_NAME }));
        }
        await this.room.join(wanted, role);
        choose("name", wanted);
        this.#show();
      });
    };
    this.sit = h("button", { class: "primary", value: "seat" }, t("sit-down"));
    return h(
      "form",
      { class: "name", onsubmit: join },
      h("label", {}, h("span", {}, t("your-name")), name),
      h(
        "p",
        { class: "choices" },
        this.sit,
        !this.room.known.isHost && h("button", { value: "onlooker" }, t("look-on")),
      ),
    );
  }

  /** The persons with a seat, in the order of their seats. */
  get #seated() {
    const { isHost, person, players } = this.room.known;
    const others = this.room.seated.filter((each) => !this.#freed.has(each));
    const all = isHost ? [person, ...others.filter((each) => each !== person)] : others;
    return all.slice(0, players);
  }

  #show() {
    const { role, game, players, tables, people, person, names } = this.room.known;
    const { onlookers, canDeal } = this.room;
    const [newest] = tables.slice(-1);
    const hasJoined = role !== undefined || this.isWatching;
    if (newest !== undefined && hasJoined) {
      location.replace(`#/play/${newest}`);
      return;
    }
    if (game !== this.kit.info.name || players !== this.players) {
      // The link was wrong.
      location.replace(`#/room/${this.room.id}/${game}/${players}${this.isWatching ? `/${WATCHING}` : ""}`);
      return;
    }
    const seated = this.#seated;
    const free = players - seated.length;
    const isTold = this.#isTold();
    this.form.hidden = hasJoined || !isTold;
    this.sit?.toggleAttribute("hidden", newest !== undefined || (free === 0 && !seated.includes(person)));
    this.deal.hidden = !(canDeal && hasJoined);
    this.links.hidden = this.deal.hidden;
    this.watching.hidden = this.deal.hidden;
    this.seats.replaceChildren(
      ...Array.from({ length: players }, (_, seat) => this.#seat(seat, seated[seat])),
    );
    const { clock = 0 } = this.room.known;
    this.#say(this.clock, clock > 0 ? t("clock-told", { time: timeText(clock) }) : "");
    this.#say(this.state, this.#stateText(free));
    const lookers = people.filter((each) => names[each] !== undefined && !seated.includes(each));
    const all = [
      ...lookers.map((each) => names[each] ?? ""),
      onlookers > 0 && t("onlookers", { count: onlookers }),
    ];
    const looking = all.filter(Boolean).join(", ");
    this.#say(this.people, looking && t("looking-on-are", { names: looking }));
  }

  /**
   * Show the game's options. Returns false until they are known, so that the form for a name does not appear and
   * disappear again.
   */
  #isTold() {
    const { settings, players, isConnected } = this.room.known;
    if (settings === undefined && !isConnected) {
      return false;
    }
    if (this.told.childElementCount === 0) {
      this.told.append(optionsTold(this.kit, players, settings?.options) ?? "");
    }
    return true;
  }

  /**
   * Set an element's text if it has changed. Screen readers read the text whenever it is set.
   * @param {HTMLElement} element
   * @param {string} text
   */
  #say(element, text) {
    if (element.textContent !== text) {
      element.textContent = text;
    }
  }

  /** @param {number} free */
  #stateText(free) {
    const { isHost, role, tables, isConnected } = this.room.known;
    if (!isConnected) {
      return t("connecting");
    }
    if (tables.length > 0) {
      return t("room-begun");
    }
    if (!isHost && this.room.canDeal) {
      return t("host-gone");
    }
    if (free > 0) {
      return t("seats-free", { count: free });
    }
    return isHost || (role === undefined && !this.isWatching) ? t("all-here") : t("awaits-deal");
  }

  /**
   * @param {number} seat
   * @param {string | undefined} holder
   */
  #seat(seat, holder) {
    const { isHost, person, names, people, tables } = this.room.known;
    const { canDeal } = this.room;
    const isMe = holder === person;
    const isAway = holder !== undefined && !isMe && !people.includes(holder);
    const free = () => {
      this.#freed.add(holder ?? "");
      this.#show();
    };
    const leave = (/** @type {Event} */ event) => doing(event, this.refusal, () => this.room.stand());
    const bot = this.filler.selectedOptions[0]?.textContent ?? "";
    return h(
      "li",
      {},
      icon(32, seatMark(seat, 32)),
      h("strong", {}, names[holder ?? ""] ?? nameOfSeat(seat)),
      holder === undefined && h("small", { class: "free" }, canDeal ? bot : t("free")),
      isMe && h("small", {}, t("you")),
      isAway && h("small", {}, t("away")),
      canDeal && holder !== undefined && !isMe && button(t("free-seat"), free),
      isMe && !isHost && tables.length === 0 && button(t("leave-seat"), leave),
    );
  }

  /** @param {Event} event */
  #deal(event) {
    event.preventDefault();
    return doing(event, this.refusal, async () => {
      const { game, players, settings, person, secret } = this.room.known;
      const seated = this.#seated;
      const bot = this.filler.value;
      const seats = Array.from({ length: players }, (_, seat) => {
        const hash = seated[seat];
        return hash === undefined ? { bot } : { hash };
      });
      const asksNext = new FormData(this.deal).get("trust") === "next";
      const terms = { game, seats, asksNext, options: settings?.options, allowsReplacement: !asksNext };
      this.room.show(await Session.begin(terms, { [person]: secret }));
    });
  }
}
