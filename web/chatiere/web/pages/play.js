// A game being played at a sealed table: against bots, among people at one screen, or over links.

import { connection, Refusal, UNAUTHENTICATED } from "../api.js";
import { catFace } from "../art/cats.js";
import { h, s } from "../dom.js";
import { listBots, roomOf } from "../games.js";
import { pasteLink, seatLink, share, tableLink } from "../links.js";
import { namesOf } from "../lists.js";
import { wonText } from "../result.js";
import { nameOfSeat } from "../seat_names.js";
import { Session } from "../session.js";
import { pace, t } from "../settings.js";
import { toText } from "../shared/bytes.js";
import { ForkError } from "../shared/fork_error.js";
import { keyOf, roomOfTable } from "../store.js";
import { adviserOf, strengthsOf } from "../strengths.js";
import { tableLayout } from "../table_layout.js";
import { TableView } from "../table_view.js";
import { elsewhere, isClosedFor, whyOf } from "../trouble.js";
import { ending, newGameLink } from "./ending.js";

/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */
/** @typedef {import("../game.js").Action} Action */
/** @typedef {import("../rooms/live_table.js").LiveTable} LiveTable */
/** @typedef {import("../game.js").ViewerUpdate} ViewerUpdate */

// Plies whose events are told to a player who comes back.
const CAUGHT_UP_PLIES = 12;

/**
 * Open a table of this browser.
 * @param {string} _
 * @param {string} id
 */
export async function open(_, id) {
  const session = Session.open(id);
  if (!session) {
    throw new Error(t("no-table"));
  }
  const { game } = session.kept;
  const [room, listed] = await Promise.all([roomOf(game), listBots(game)]);
  const players = session.table.seats.length;
  const play = new Play(session, room, strengthsOf(listed, players), adviserOf(listed, players).bot);
  const live = roomOfTable(id);
  if (live !== undefined) {
    const { LiveTable } = await import("../rooms/live_table.js");
    play.join(
      new LiveTable(live, session, room.phrases.title, {
        onChange: () => play.goOn(),
        onError: (error) => play.fail(error, () => location.reload()),
      }),
    );
  }
  play.begin();
  return { element: play.element, title: room.phrases.title, leave: () => play.leave() };
}

/** The course of one table, as long as its page is shown. */
class Play {
  /** @type {number | undefined} the ply that is shown, in its course; undefined for none */
  #shown;
  /** @type {number | undefined} the seat that looks; undefined for a spectator */
  #viewer;
  /** The number of the course that is being followed: taking back begins another. */
  #course = 0;
  /** The number of the log: coming back begins another. */
  #log = 0;
  #isPaused = false;
  #isClosed = false;
  /** @type {LiveTable | undefined} */
  live;
  /** @type {OptionsJson | undefined} the options of the game, once a view has told them */
  options;
  /** @type {(() => void) | undefined} */
  #goOn;

  /**
   * @param {Session} session
   * @param {import("../games.js").Room} room
   * @param {readonly import("../strengths.js").Strength[]} strengths
   * @param {string} adviser the bot that gives hints
   */
  constructor(session, room, strengths, adviser) {
    this.session = session;
    this.adviser = adviser;
    this.view = new TableView(room, {
      onAction: (action) => this.#act(action),
      onAttempt: (action) => this.#attempt(action),
      onMoment: (ply) => this.#showMoment(ply),
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
    this.notice = h("div", { class: "notice", hidden: true });
    this.links = h("details", { ontoggle: () => this.#showLinks() }, h("summary", {}, t("links")));
    this.told = h("div", {});
    const { seats } = session.table;
    const isLookingOn = session.mine.length === 0 && seats.some(({ bot }) => bot === undefined);
    const aside = [
      isLookingOn && h("section", {}, h("p", {}, t("looking-on"))),
      this.told,
      h("section", { class: "links" }, this.links),
    ];
    this.view.bar.append(
      h("div", { class: "tools", role: "group", "aria-label": t("tools") }, ...Object.values(this.tools)),
    );
    this.element = tableLayout(this.view, {
      title: room.phrases.title,
      game: room.name,
      below: this.notice,
      aside,
    });
    this.bots = seats.map(({ bot }) => bot);
    this.names = seats.map(({ bot }) => strengths.find((each) => each.bot === bot)?.name ?? bot);
    this.onStorage = (/** @type {StorageEvent} */ event) => this.#onStorage(event);
  }

  /**
   * Play live.
   * @param {LiveTable} live
   */
  join(live) {
    this.live = live;
    this.view.scores.after(live.element);
  }

  /** Show the table, and follow the game. */
  begin() {
    const { mine } = this.session;
    this.#viewer = mine.length > 1 ? undefined : mine[0];
    addEventListener("storage", this.onStorage);
    this.live?.begin();
    this.#follow({ isNew: false });
  }

  /** Stop, as the page is left. */
  leave() {
    removeEventListener("storage", this.onStorage);
    this.#course += 1;
    this.#goOn?.();
    this.live?.leave();
  }

  /**
   * Follow what another window of this browser does at the table.
   * @param {StorageEvent} event
   */
  #onStorage({ key }) {
    if (key === keyOf(this.session.id)) {
      this.goOn();
    }
  }

  /** Follow what is new in this browser's storage. */
  goOn() {
    const found = Session.open(this.session.id);
    if (found && toText(found.table.bytes) !== toText(this.session.table.bytes)) {
      this.#goOnFrom(found);
    } else if (this.live?.isClosed && !this.#isClosed) {
      this.#follow({ isNew: false });
    }
  }

  /**
   * Follow the game from tables that have come: tell the plies one by one, if they are few.
   * @param {Session} session
   */
  async #goOnFrom(session) {
    this.session = session;
    const course = ++this.#course;
    const isOld = () => course !== this.#course;
    const shown = this.#shown ?? Infinity;
    this.view.hold(true);
    try {
      await session.acknowledge();
      const { ply: last } = session.table;
      if (last > shown && last <= shown + CAUGHT_UP_PLIES && session.isOpen(last)) {
        for (let ply = shown + 1; !isOld(); ply++) {
          const update = await session.look(this.#viewer, ply);
          if (!isOld() && ply === last) {
            this.#follow({ isNew: true, update });
          } else if (!isOld()) {
            this.#show(update, { canAct: false, isNew: true, ply });
          }
        }
        return;
      }
    } catch (error) {
      // A ply between may be missing here, or not be open in the form that came here.
      if (!(error instanceof RangeError || error instanceof Refusal)) {
        this.fail(error, () => this.#follow({ isNew: false }));
        return;
      }
    }
    if (!isOld()) {
      this.#follow({ isNew: false });
    }
  }

  /**
   * Follow the game from the newest table until a person has to do something.
   * @param {{isNew: boolean, update?: ViewerUpdate | undefined}} from what is known already of the newest table
   */
  async #follow({ isNew, update }) {
    const course = ++this.#course;
    const isOld = () => course !== this.#course;
    this.view.hold(true);
    try {
      let [known, isFresh] = [update, isNew];
      while (await this.#isOpenNow(isOld)) {
        const looked = known ?? (await this.session.look(this.#viewer));
        const seat = seatToDecide(looked);
        await this.#takeOptions(looked);
        if (isOld()) {
          return;
        }
        const isMine = seat !== undefined && this.session.mine.includes(seat);
        const isSeated = !isMine || seat === this.#viewer;
        const shown = isSeated
          ? looked
          : await this.#seated(seat, known && { update: known, isNew: isFresh }, isOld);
        if (!shown || isOld()) {
          return;
        }
        const isKnown = known !== undefined && isSeated;
        if (!isKnown) {
          this.#catchUp();
        }
        this.#show(shown, { canAct: isMine && !this.live?.isClosed, isNew: isKnown && isFresh });
        if (await this.#isBotsTurn(shown, isMine, isOld)) {
          known = await this.session.move(this.#viewer);
          isFresh = true;
        } else {
          return;
        }
      }
    } catch (error) {
      if (!isOld()) {
        this.fail(error, () => this.#follow({ isNew: false }));
      }
    }
  }

  /**
   * Acknowledge the newest table; return whether it is open then. Where others have to acknowledge it, wait for them.
   * @param {() => boolean} isOld
   */
  async #isOpenNow(isOld) {
    await this.session.acknowledge();
    if (isOld()) {
      return false;
    }
    this.live?.room.show(this.session);
    this.#showLinks();
    const { missing } = this.session;
    if (missing.length > 0) {
      await this.#showLast();
      this.#wait(undefined, t("awaits-acknowledgement", { names: namesOf(missing) }));
    }
    return missing.length === 0;
  }

  /**
   * Let the player of a seat sit down at the screen, and look; return undefined if that player does not.
   * @param {number} seat
   * @param {{update: ViewerUpdate, isNew: boolean} | undefined} last what the player before has yet to see
   * @param {() => boolean} isOld
   */
  async #seated(seat, last, isOld) {
    if (last && this.#viewer !== undefined) {
      this.#show(last.update, { canAct: false, isNew: last.isNew });
    }
    return (await this.#handOver(seat, isOld)) ? this.session.look(seat) : undefined;
  }

  /**
   * Return whether a bot is to decide now, after a breath. Where another player is, wait; where nobody is, the game has ended.
   * @param {ViewerUpdate} update
   * @param {boolean} isMine
   * @param {() => boolean} isOld
   */
  async #isBotsTurn(update, isMine, isOld) {
    const seat = seatToDecide(update);
    if (seat === undefined) {
      this.#end(update);
      return false;
    }
    if (this.live?.isClosed) {
      this.#isClosed = true;
      this.view.rest(t("closed"));
      if (this.live.isHost) {
        this.#tell(this.live.rematchButton((error) => this.fail(error), this.options));
      }
      return false;
    }
    if (this.bots[seat] === undefined) {
      if (!isMine) {
        const name = nameOfSeat(seat);
        const { live } = this;
        this.#wait(seat, live ? t("awaits-since", { name, time: live.since }) : t("awaits-move", { name }));
      }
      return false;
    }
    await this.#breath(this.notice.hidden ? 1 : 4);
    return !isOld() && (this.live === undefined || (await this.#movesBots(this.live, isOld)));
  }

  /**
   * Return whether this browser is the one to make a bot's move, after leaving it to others.
   * @param {LiveTable} live
   * @param {() => boolean} isOld
   */
  async #movesBots({ patience }, isOld) {
    if (patience === undefined) {
      return false;
    }
    await new Promise((resolve) => {
      this.#goOn = () => resolve(undefined);
      setTimeout(resolve, patience);
    });
    return !isOld();
  }

  /**
   * @param {ViewerUpdate} update
   * @param {{canAct: boolean, isNew: boolean, ply?: number}} how
   */
  #show(update, { canAct, isNew, ply = this.session.table.ply }) {
    this.notice.hidden = true;
    this.#shown = ply;
    this.#showTools(canAct, update.view?.end !== undefined);
    this.live?.tellTurn(canAct, ply);
    this.view.show(update, { me: this.#viewer, canAct, bots: this.names }, { isNew, ply });
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
  }

  /**
   * Tell the options of the game, which are the same in all its views. Throws Error if its room told others.
   * @param {ViewerUpdate} update
   */
  async #takeOptions({ view }) {
    const { field } = this.view.room;
    const options = view?.[field]?.options;
    if (this.options === undefined && options !== undefined) {
      const { optionsTold, playAlike } = await import("../options.js");
      const { room } = this.view;
      const { players } = this.session.table;
      const chosen = { [field]: options };
      const agreed = this.live?.room.known.terms?.options;
      if (agreed !== undefined && !playAlike(room, players, agreed, chosen)) {
        throw new Error(t("terms-differ"));
      }
      this.options = chosen;
      this.told.replaceChildren(optionsTold(room, players, chosen) ?? "");
    }
  }

  /**
   * @param {boolean} canAct
   * @param {boolean} isOver
   */
  #showTools(canAct, isOver) {
    const people = this.session.table.seats.some(({ bot }) => bot === undefined);
    this.tools.hint.hidden = !canAct;
    this.tools.undo.hidden = this.live !== undefined || !this.session.canUndo;
    this.tools.pause.hidden = people || isOver;
  }

  /** Show the table before one that is not open yet, if nothing is shown. */
  async #showLast() {
    const { ply } = this.session.table;
    if (!this.view.isShown && this.session.isOpen(ply - 1)) {
      await this.#showPly(ply - 1);
    }
  }

  /** @param {number} ply */
  async #showPly(ply) {
    const update = await this.session.look(this.#viewer, ply);
    const viewer = { me: this.#viewer, canAct: false, bots: this.names };
    this.view.show(update, viewer, { isNew: false, ply });
  }

  /**
   * Show the table as it was at a ply, until the player wants to go back to the game, which waits.
   * @param {number} ply
   */
  async #showMoment(ply) {
    if (this.view.isHeld) {
      return;
    }
    const course = ++this.#course;
    this.#goOn?.();
    this.#shown = undefined;
    this.view.hold(true);
    try {
      await this.#showPly(ply);
      if (course === this.#course) {
        const { ply: last } = this.session.table;
        const back = () => this.#follow({ isNew: false });
        this.#tell(h("button", { type: "button", class: "primary", onclick: back }, t("to-now")));
        this.view.prompt.textContent = t("moment", { ply, last });
        this.tools.hint.hidden = true;
      }
    } catch (error) {
      this.fail(error, () => this.#follow({ isNew: false }));
    }
  }

  /**
   * Tell what a player has missed, as far as the tables of this browser show it, above what has been told since.
   */
  async #catchUp() {
    const viewer = this.#viewer;
    const log = ++this.#log;
    const { view, session } = this;
    const { ply } = session.table;
    const first = Math.max(0, ply - CAUGHT_UP_PLIES);
    view.log.replaceChildren();
    const events = await Promise.all(
      Array.from({ length: ply - first + 1 }, async (_, index) => {
        try {
          return (await session.look(viewer, first + index)).events ?? [];
        } catch {
          // A table may be missing here, or not have been acknowledged in the form that came here.
          return [];
        }
      }),
    );
    // Another player may be there by now.
    if (log === this.#log && viewer === this.#viewer) {
      view.tellBefore(events, first);
    }
  }

  /**
   * Hide the table until the player of another seat is at the screen; return whether that player is.
   * @param {number} seat
   * @param {() => boolean} isOld
   */
  async #handOver(seat, isOld) {
    const name = nameOfSeat(seat);
    if (this.#viewer !== undefined) {
      await this.#ask(t("hand-over", { name }), t("hide-table"));
    }
    if (isOld()) {
      return false;
    }
    this.view.clear();
    this.notice.hidden = true;
    this.#viewer = seat;
    this.#showLinks();
    const dialog = h(
      "dialog",
      { class: "curtain", oncancel: (/** @type {Event} */ event) => event.preventDefault() },
      s("svg", { viewBox: "-60 -60 120 120", "aria-hidden": "true" }, catFace(seat, 120, "sleepy")),
      h("p", {}, t("curtain", { name })),
      h("form", { method: "dialog" }, h("button", { class: "primary", value: "here" }, t("i-am", { name }))),
    );
    document.body.append(dialog);
    // By a second Escape a browser closes a dialog, whatever the page wants.
    while (dialog.returnValue !== "here" && !isOld()) {
      dialog.showModal();
      await new Promise((resolve) => {
        dialog.addEventListener("close", resolve, { once: true });
        this.#goOn = () => dialog.close();
      });
    }
    dialog.remove();
    return !isOld();
  }

  /**
   * @param {string} text
   * @param {string} label
   */
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

  /**
   * Wait a little, so that people can follow what bots do, and as long as they want a pause.
   * @param {number} times
   */
  async #breath(times) {
    await new Promise((resolve) => {
      this.#goOn = () => resolve(undefined);
      setTimeout(() => this.#isPaused || resolve(undefined), times * pace());
    });
  }

  /** @param {Action} action */
  async #act(action) {
    // A second click must not make a second move.
    if (this.view.isHeld) {
      return;
    }
    this.view.hold(true);
    try {
      const update = await this.session.move(this.#viewer, { id: action.id });
      await this.#follow({ isNew: true, update });
    } catch (error) {
      this.view.hold(false);
      const first = this.live && error instanceof ForkError ? Session.open(this.session.id) : undefined;
      if (first) {
        // Another window was faster.
        this.#goOnFrom(first);
      } else {
        this.fail(error);
      }
    }
  }

  /**
   * Try what is not among the legal actions, to be told why.
   * @param {Action} action
   */
  async #attempt(action) {
    try {
      await this.session.move(this.#viewer, action);
      await this.#follow({ isNew: false });
    } catch (error) {
      this.fail(error);
    }
  }

  async #hint() {
    const course = this.#course;
    this.tools.hint.disabled = true;
    try {
      const { action = {} } = await this.session.suggest(this.#viewer ?? 0, this.adviser);
      if (course === this.#course) {
        this.view.hint(action);
      }
    } catch (error) {
      this.fail(error);
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

  /**
   * Wait for others.
   * @param {number | undefined} turn the seat to decide, at an open table
   * @param {string} text
   */
  #wait(turn, text) {
    if (!this.live) {
      this.#tell(...this.#sending(turn), pasteLink());
    }
    this.view.rest(text);
    this.tools.hint.hidden = true;
  }

  /**
   * Return the link that others need, and whom to send it to; nothing if nobody does.
   * @param {number} [turn] the seat to decide; absent: none has to
   */
  #sending(turn) {
    const { seats } = this.session.toSend(turn);
    return seats.length > 0
      ? [h("p", {}, t("send-to", { name: namesOf(seats) })), share(t("table-link"), tableLink(this.session))]
      : [];
  }

  /** @param {ViewerUpdate} update */
  #end(update) {
    this.session.end();
    const won = wonText(update.score?.winners ?? [], this.#me);
    const why = this.view.prompt.textContent ?? "";
    this.view.prompt.textContent = `${won}. ${why}`;
    this.live?.tellTurn(false);
    this.#tell(...ending(this, update, { won, why, me: this.#me }), ...(this.live ? [] : this.#sending()));
    this.notice.classList.add("end");
    this.notice.scrollIntoView({ block: "nearest" });
    this.#openHands();
  }

  /** Show what all held, if all tables of the game are here: else its record can't be had. */
  async #openHands() {
    const course = this.#course;
    try {
      const [{ record }, { openEnd }] = await Promise.all([
        this.session.record(),
        import("../open_hands.js"),
      ]);
      const update = record && (await openEnd(record, this.view.room.field, this.#viewer));
      if (update && course === this.#course) {
        this.view.open(update);
      }
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof RangeError)) {
        throw error;
      }
    }
  }

  /** The seat of the one player at this screen; undefined if there are several, or none. */
  get #me() {
    return this.session.mine.length === 1 ? this.session.mine[0] : undefined;
  }

  /** @param {...(Node | string | null)} content */
  #tell(...content) {
    this.notice.hidden = false;
    this.notice.classList.remove("end");
    this.notice.replaceChildren(...content.filter((each) => each !== null));
  }

  #showLinks() {
    const { session } = this;
    const { asksNext, seats } = session.table;
    const made = seats.flatMap(({ isMadeByService }, seat) => (isMadeByService ? [seat] : []));
    const viewer = this.#viewer;
    // A closed section holds no secret.
    const shown = this.links.open
      ? [
          h("p", {}, t(asksNext ? "mode-next" : "mode-none")),
          made.length > 0 && h("p", {}, t("made-by-service", { names: namesOf(made) })),
          share(t("table-link"), tableLink(session)),
          viewer !== undefined &&
            share(t("seat-link-private", { name: nameOfSeat(viewer) }), seatLink(session, viewer), {
              isPrivate: true,
            }),
          pasteLink(),
        ]
      : [];
    this.links.replaceChildren(
      h("summary", {}, t("links")),
      ...shown.flatMap((each) => (each === false ? [] : [each])),
    );
  }

  /**
   * Say what went wrong.
   * @param {unknown} error
   * @param {() => void} [again] what can be tried again
   */
  fail(error, again) {
    if (error instanceof Refusal && error.status === UNAUTHENTICATED) {
      connection.dispatchEvent(new CustomEvent("refused", { detail: error }));
      return;
    }
    this.view.refuse(error instanceof RangeError ? t("tables-missing") : whyOf(error));
    if (isClosedFor(error)) {
      this.#tell(elsewhere(newGameLink(this.session, this.options)));
    } else if (again) {
      this.#tell(h("button", { type: "button", onclick: again }, t("try-again")));
    }
  }
}

/** @param {ViewerUpdate} update */
function seatToDecide({ view }) {
  return view?.turn?.kind === "TURN_KIND_DECISION" ? (view.turn.seat ?? 0) : undefined;
}
