// A game being played at a sealed table: against bots, among people at one screen, or over links.

import { Refusal } from "../api.js";
import { catFace } from "../art/cats.js";
import { h, s } from "../dom.js";
import { listBots, roomOf } from "../games.js";
import { pasteLink, seatLink, share, tableLink } from "../links.js";
import { nameOfSeat } from "../seat_names.js";
import { Fork, Session } from "../session.js";
import { pace, t } from "../settings.js";
import { strengthsOf } from "../strengths.js";
import { tableLayout } from "../table_layout.js";
import { TableView } from "../table_view.js";
import { show as showRecord } from "./record.js";

/** @typedef {import("../game.js").Action} Action @typedef {import("../game.js").ViewerUpdate} ViewerUpdate */

// Plies whose events are told to a player who comes back.
const TOLD = 12;

/**
 * Open a table of this browser.
 * @param {string} _ @param {string} id
 */
export async function open(_, id) {
  const session = Session.open(id);
  if (!session) {
    throw new Error(t("no-table"));
  }
  const room = await roomOf(session.kept.game);
  const strongest = strengthsOf(await listBots(room.name)).at(-1)?.bot ?? "";
  const play = new Play(session, room, strongest);
  play.begin();
  return { element: play.element, title: room.phrases.title, leave: () => play.leave() };
}

/** What happens at one table, as long as its page is shown. */
class Play {
  /** @type {number | undefined} the seat that looks; undefined for a spectator */
  #viewer;
  /** Which course of the game is being followed: taking back begins another. */
  #course = 0;
  #isPaused = false;
  #isBusy = false;
  /** @type {(() => void) | undefined} */
  #goOn;

  /** @param {Session} session @param {import("../games.js").Room} room @param {string} strongest */
  constructor(session, room, strongest) {
    this.session = session;
    this.strongest = strongest;
    this.view = new TableView(room, {
      onAction: (action) => this.#act(action),
      onAttempt: (action) => this.#attempt(action),
    });
    const button = (
      /** @type {string} */ name,
      /** @type {string} */ label,
      /** @type {() => void} */ onclick,
    ) => h("button", { type: "button", "data-tool": name, hidden: true, onclick }, label);
    this.tools = {
      hint: button("hint", t("ask-hint"), () => this.#hint()),
      undo: button("undo", t("undo"), () => this.#undo()),
      pause: button("pause", t("pause"), () => this.#pause()),
    };
    this.news = h("div", { class: "news", hidden: true });
    this.links = h("div", {});
    const seats = session.table.seats;
    const aside = [
      h("section", { class: "links" }, h("details", {}, h("summary", {}, t("links")), this.links)),
    ];
    this.view.bar.append(
      h("div", { class: "tools", role: "group", "aria-label": t("tools") }, ...Object.values(this.tools)),
    );
    this.element = tableLayout(this.view, {
      title: room.phrases.title,
      game: room.name,
      below: this.news,
      aside,
    });
    this.bots = seats.map(({ bot }) => bot);
  }

  /** Show the table, and follow the game. */
  begin() {
    const { mine } = this.session;
    this.#viewer = mine.length > 1 ? undefined : mine[0];
    this.#follow({ isNew: false });
  }

  /** Stop, as the page is left. */
  leave() {
    this.#course += 1;
    this.#goOn?.();
  }

  /**
   * Follow the game from the newest table until a person has to do something.
   * @param {{isNew: boolean, update?: ViewerUpdate | undefined}} from what is known already of the newest table
   */
  async #follow({ isNew, update }) {
    const course = ++this.#course;
    const isOld = () => course !== this.#course;
    try {
      for (let known = update, isFresh = isNew; ;) {
        await this.session.acknowledge();
        if (isOld()) {
          return;
        }
        this.#showLinks();
        if (this.session.awaited.length > 0) {
          await this.#showLast();
          this.#wait(
            this.session.awaited,
            t("awaits-acknowledgement", { names: names(this.session.awaited) }),
          );
          return;
        }
        const seat = await this.#seatToDecide(known);
        if (isOld()) {
          return;
        }
        const isMine = seat !== undefined && this.session.mine.includes(seat);
        if (isMine && seat !== this.#viewer) {
          if (known && this.#viewer !== undefined) {
            this.#show(known, { canAct: false, isNew: isFresh });
          }
          await this.#handOver(seat);
          if (isOld()) {
            return;
          }
          known = undefined;
        }
        if (!known) {
          await this.#catchUp();
          known = await this.session.look(this.#viewer);
          isFresh = false;
          if (isOld()) {
            return;
          }
        }
        this.#show(known, { canAct: isMine, isNew: isFresh });
        if (seat === undefined) {
          this.#end(known);
          return;
        }
        if (this.bots[seat] === undefined) {
          if (!isMine) {
            this.#wait([seat], t("awaits-move", { name: nameOfSeat(seat) }));
          }
          return;
        }
        await this.#breath(this.news.hidden ? 1 : 4);
        if (isOld()) {
          return;
        }
        known = await this.session.move(this.#viewer);
        isFresh = true;
      }
    } catch (error) {
      if (!isOld()) {
        this.#fail(error);
      }
    }
  }

  /** @param {ViewerUpdate | undefined} known */
  async #seatToDecide(known) {
    const update = known ?? (await this.session.look(undefined));
    const turn = update.view?.turn;
    return turn?.kind === "TURN_KIND_DECISION" ? (turn.seat ?? 0) : undefined;
  }

  /** @param {ViewerUpdate} update @param {{canAct: boolean, isNew: boolean}} how */
  #show(update, { canAct, isNew }) {
    this.news.hidden = true;
    this.view.show(update, { me: this.#viewer, canAct, bots: this.bots }, { isNew });
    const { game, phrases } = this.view.room;
    const moments = isNew ? (update.events ?? []).filter((event) => game.isMoment?.(event)) : [];
    if (moments.length > 0) {
      this.#tell(
        h(
          "ul",
          { class: "moments" },
          moments.map((event) => h("li", {}, phrases.write(event))),
        ),
      );
    }
    const isOver = update.view?.end !== undefined;
    const people = this.session.table.seats.some(({ bot }) => bot === undefined);
    this.tools.hint.hidden = !canAct;
    this.tools.undo.hidden = !this.session.canUndo;
    this.tools.pause.hidden = people || isOver;
  }

  /** Show the table before one that is not open yet, if nothing is shown. */
  async #showLast() {
    const { ply } = this.session.table;
    if (!this.view.isShown && this.session.isOpen(ply - 1)) {
      const update = await this.session.look(this.#viewer, ply - 1);
      this.view.show(update, { me: this.#viewer, canAct: false, bots: this.bots }, { isNew: false });
    }
  }

  /** Tell what a player has missed, as far as the tables of this browser show it. */
  async #catchUp() {
    this.view.log.replaceChildren();
    const { ply } = this.session.table;
    for (let each = Math.max(0, ply - TOLD); each <= ply; each++) {
      if (this.session.isOpen(each)) {
        this.view.tell((await this.session.look(this.#viewer, each)).events ?? []);
      }
    }
  }

  /**
   * Hide the table until the player of another seat is at the screen.
   * @param {number} seat
   */
  async #handOver(seat) {
    const name = nameOfSeat(seat);
    if (this.#viewer !== undefined) {
      await this.#ask(t("hand-over", { name }), t("hide-table"));
    }
    this.view.clear();
    this.#viewer = seat;
    const dialog = h(
      "dialog",
      { class: "curtain", oncancel: (/** @type {Event} */ event) => event.preventDefault() },
      s("svg", { viewBox: "-60 -60 120 120", "aria-hidden": "true" }, catFace(seat, 120, "sleepy")),
      h("p", {}, t("curtain", { name })),
      h("form", { method: "dialog" }, h("button", { class: "primary" }, t("i-am", { name }))),
    );
    document.body.append(dialog);
    dialog.showModal();
    await new Promise((resolve) => {
      dialog.addEventListener("close", resolve);
      this.#goOn = () => dialog.close();
    });
    dialog.remove();
  }

  /** @param {string} text @param {string} label */
  #ask(text, label) {
    return new Promise((resolve) => {
      this.#goOn = () => resolve(undefined);
      const button = h(
        "button",
        { type: "button", class: "primary", onclick: () => resolve(undefined) },
        label,
      );
      this.#tell(h("p", {}, text), button);
      button.focus();
    });
  }

  /** Wait a little, so that people can follow what bots do. @param {number} times */
  async #breath(times) {
    await new Promise((resolve) => {
      this.#goOn = () => resolve(undefined);
      if (!this.#isPaused) {
        setTimeout(resolve, times * pace());
      }
    });
  }

  /** @param {Action} action */
  async #act(action) {
    // A second click must not make a second move.
    if (this.#isBusy) {
      return;
    }
    this.#hold(true);
    try {
      const update = await this.session.move(this.#viewer, { id: action.id });
      this.#hold(false);
      await this.#follow({ isNew: true, update });
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#hold(false);
    }
  }

  /** @param {boolean} isBusy */
  #hold(isBusy) {
    this.#isBusy = isBusy;
    this.view.isHeld = isBusy;
  }

  /**
   * Try what is not among the legal actions, to be told why.
   * @param {Action} action
   */
  async #attempt(action) {
    if (!this.#isBusy) {
      try {
        await this.session.move(this.#viewer, action);
        await this.#follow({ isNew: false });
      } catch (error) {
        this.#fail(error);
      }
    }
  }

  async #hint() {
    const course = this.#course;
    this.tools.hint.disabled = true;
    try {
      const { action } = await this.session.suggest(this.#viewer ?? 0, this.strongest);
      if (course === this.#course) {
        this.view.hint(action);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.tools.hint.disabled = false;
    }
  }

  #undo() {
    this.session.undo();
    this.#follow({ isNew: false });
  }

  #pause() {
    this.#isPaused = !this.#isPaused;
    this.tools.pause.textContent = this.#isPaused ? t("go-on") : t("pause");
    if (!this.#isPaused) {
      this.#goOn?.();
    }
  }

  /** @param {readonly number[]} seats @param {string} text */
  #wait(seats, text) {
    const where = seats.length > 1 ? t("send-all") : t("send-to", { name: nameOfSeat(seats[0] ?? 0) });
    this.#tell(
      h("p", {}, text),
      h("p", {}, where),
      share(t("table-link"), tableLink(this.session)),
      pasteLink(),
    );
    this.view.rest(text);
    this.tools.hint.hidden = true;
  }

  /** @param {ViewerUpdate} update */
  #end(update) {
    this.session.end();
    const winners = update.score?.winners ?? [];
    const { game, seats } = { game: this.session.kept.game, seats: this.session.table.seats };
    const again = seats.every(({ bot }, seat) => bot !== undefined || seat in this.session.kept.seats);
    const record = async () => {
      try {
        return await this.session.record();
      } catch (error) {
        this.#fail(error);
        return undefined;
      }
    };
    const watch = async () => {
      const found = await record();
      if (found) {
        showRecord(found.record);
      }
    };
    const save = async () => {
      const found = await record();
      if (found) {
        const url = URL.createObjectURL(new Blob([JSON.stringify(found)], { type: "application/json" }));
        h("a", { href: url, download: `${game}-${this.session.id.slice(0, 8)}.json` }).click();
        URL.revokeObjectURL(url);
      }
    };
    this.#tell(
      s("svg", { viewBox: "-40 -40 80 80", "aria-hidden": "true" }, catFace(winners[0] ?? 0, 80, "happy")),
      h(
        "h2",
        {},
        winners.length > 1 ? t("winners", { names: names(winners) }) : t("winner", { name: names(winners) }),
      ),
      h(
        "p",
        { class: "choices" },
        again && h("a", { class: "button primary", href: `#/new/${game}` }, t("again")),
        h("button", { type: "button", onclick: watch }, t("see-record")),
        h("button", { type: "button", onclick: save }, t("save-record")),
        h("a", { class: "button", href: "#/" }, t("home")),
      ),
    );
    this.news.classList.add("end");
  }

  /** @param {...(Node | string | null)} content */
  #tell(...content) {
    this.news.hidden = false;
    this.news.classList.remove("end");
    this.news.replaceChildren(...content.filter((each) => each !== null));
  }

  #showLinks() {
    const { session } = this;
    this.links.replaceChildren(
      share(t("table-link"), tableLink(session)),
      ...session.mine.map((seat) =>
        share(t("seat-link-private", { name: nameOfSeat(seat) }), seatLink(session, seat), {
          isPrivate: true,
        }),
      ),
      pasteLink(),
    );
  }

  /** @param {unknown} error */
  #fail(error) {
    if (error instanceof Refusal) {
      this.view.refuse(error.localized);
    } else if (error instanceof Fork) {
      this.view.refuse(t("fork", { ply: error.ply }));
    } else if (error instanceof RangeError) {
      this.view.refuse(t("tables-missing"));
    } else {
      throw error;
    }
  }
}

/** @param {readonly number[]} seats */
function names(seats) {
  return seats.map(nameOfSeat).join(", ");
}
