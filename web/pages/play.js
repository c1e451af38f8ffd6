// A game at a sealed table: against bots, among people at one screen, or over links.

import { amendmentText, nameOfBot } from "../amendments.js";
import { connection, Refusal, UNAUTHENTICATED } from "../api.js";
import { button, h } from "../dom.js";
import { kitOf, listBots } from "../games.js";
import { pasteLink, share, tableLink } from "../links.js";
import { namesOf } from "../lists.js";
import { wonText } from "../result.js";
import { nameOfSeat } from "../seat_names.js";
import { Session } from "../session.js";
import { pace, t } from "../settings.js";
import { toText } from "../shared/bytes.js";
import { ForkError } from "../shared/fork_error.js";
import { keyOf, roomOfTable } from "../store.js";
import { adviserOf, strengthsOf } from "../strengths.js";
import { TableView } from "../table_view.js";
import { elsewhere, isClosedFor, whyOf } from "../trouble.js";
import { seatToDecide } from "../views.js";
import { hideUntilHere } from "./curtain.js";
import { ending, newGameLink } from "./ending.js";
import { PlayFrame } from "./play_frame.js";

/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */
/** @typedef {import("../game.js").Action} Action */
/** @typedef {import("../rooms/live_table.js").LiveTable} LiveTable */
/** @typedef {import("../game.js").ViewerUpdate} ViewerUpdate */

// The number of plies whose events a returning player sees in the log.
const CAUGHT_UP_PLIES = 12;

/**
 * Open a table of this browser.
 * @param {string} name "practise" for a practice game, after the guided game
 * @param {string} id
 */
export async function open(name, id) {
  const session = Session.open(id);
  if (!session) {
    throw new Error(t("no-table"));
  }
  const { game } = session.kept;
  const [kit, listed] = await Promise.all([kitOf(game), listBots(game)]);
  const players = session.table.seats.length;
  const strengths = strengthsOf(listed, players);
  const play = new Play(session, kit, strengths, adviserOf(listed, players).bot);
  const live = roomOfTable(id);
  if (live !== undefined) {
    const { LiveTable } = await import("../rooms/live_table.js");
    play.join(
      new LiveTable(live, session, kit.phrases.title, strengths, {
        onChange: () => play.goOn(),
        onError: (error) => play.fail(error, () => location.reload()),
      }),
    );
  }
  if (name === "practise") {
    play.frame.showPractice();
  }
  play.begin();
  return { element: play.frame.element, title: kit.phrases.title, leave: () => play.leave() };
}

/** The game at one table, until its page is left. */
class Play {
  /** @type {number | undefined} the ply shown; undefined before the first one */
  #shown;
  /** @type {number | undefined} the seat that views the table; undefined for a spectator */
  #viewer;
  /**
   * A counter that stops outdated calls. A call that starts to follow the game again, for example after a take-back,
   * increases the counter. Older calls stop when they see that the counter has changed.
   */
  #course = 0;
  /** A counter that stops outdated calls which fill the log. Each call that refills the log increases it. */
  #log = 0;
  #isPaused = false;
  #isClosed = false;
  /** @type {LiveTable | undefined} */
  live;
  /** @type {OptionsJson | undefined} the game's options, which the first view contains */
  options;
  /** @type {(() => void) | undefined} ends the current wait */
  #goOn;

  /**
   * @param {Session} session
   * @param {import("../games.js").GameKit} kit
   * @param {readonly import("../strengths.js").Strength[]} strengths
   * @param {string} adviser the bot that gives hints
   */
  constructor(session, kit, strengths, adviser) {
    this.session = session;
    this.strengths = strengths;
    this.adviser = adviser;
    this.view = new TableView(kit, {
      onAction: (action) => this.#act(action),
      onAttempt: (action) => this.#attempt(action),
      onMoment: (ply) => this.#showMoment(ply),
    });
    this.frame = new PlayFrame(this.view, {
      onHint: () => this.#hint(),
      onUndo: () => this.#undo(),
      onPause: () => this.#pause(),
      onLinks: () => this.#showLinks(),
    });
    this.onStorage = (/** @type {StorageEvent} */ event) => this.#onStorage(event);
  }

  /**
   * Connect the game to its room.
   * @param {LiveTable} live
   */
  join(live) {
    this.live = live;
    this.view.scores.after(live.element);
    this.frame.notice.before(live.menu.absence, live.menu.proposal);
    this.frame.tools.hint.before(live.clock.element, live.emotes.opener);
    this.view.bar.append(live.emotes.panel, live.emotes.bubbles, live.clock.warning);
  }

  /** The names of the bots by seat; undefined for people. */
  get names() {
    return this.session.table.seats.map(({ bot }) => bot && nameOfBot(bot, this.strengths));
  }

  /** Show the table, and follow the game. */
  begin() {
    this.#sit();
    addEventListener("storage", this.onStorage);
    this.live?.begin();
    this.#follow({ isNew: false });
  }

  /**
   * Choose the seat that views the table if only one player is at this screen, and show which seats were given to
   * another player.
   */
  #sit() {
    const { mine } = this.session;
    if (this.#viewer === undefined || !mine.includes(this.#viewer)) {
      this.#viewer = mine.length > 1 ? undefined : mine[0];
    }
    this.frame.showSeats(this.session, this.strengths, (this.live?.clock.seconds ?? 0) > 0);
  }

  /**
   * Look at a table. For a table made by an amendment, the amendment's text replaces the events.
   * @param {number | undefined} seat
   * @param {number} [ply] the newest one by default
   * @returns {Promise<ViewerUpdate>}
   */
  async #look(seat, ply = this.session.table.ply) {
    const update = await this.session.look(seat, ply);
    const amendment = this.session.amendmentAt(ply);
    if (!amendment) {
      return update;
    }
    const label = amendmentText(amendment, this.strengths, this.live?.room.known.names);
    return { ...update, events: [{ label }] };
  }

  /** Stop everything that runs, when the player leaves the page. */
  leave() {
    removeEventListener("storage", this.onStorage);
    this.#course += 1;
    this.#goOn?.();
    this.live?.leave();
  }

  /**
   * Follow a change that another window of this browser made.
   * @param {StorageEvent} event
   */
  #onStorage({ key }) {
    if (key === keyOf(this.session.id)) {
      this.goOn();
    }
  }

  /** Show the changes in this browser's storage. */
  goOn() {
    const found = Session.open(this.session.id);
    if (found && toText(found.table.bytes) !== toText(this.session.table.bytes)) {
      this.#goOnFrom(found);
    } else if (this.live?.isClosed && !this.#isClosed) {
      this.#follow({ isNew: false });
    }
  }

  /**
   * Follow the game from new tables. A few new plies are shown one by one.
   * @param {Session} session
   */
  async #goOnFrom(session) {
    this.session = session;
    this.#sit();
    const course = ++this.#course;
    const isOld = () => course !== this.#course;
    const shown = this.#shown ?? Infinity;
    this.view.hold(true);
    try {
      await session.acknowledge();
      const { ply: last } = session.table;
      if (last > shown && last <= shown + CAUGHT_UP_PLIES && session.isOpen(last)) {
        for (let ply = shown + 1; !isOld(); ply++) {
          const update = await this.#look(this.#viewer, ply);
          if (!isOld() && ply === last) {
            this.#follow({ isNew: true, update });
          } else if (!isOld()) {
            this.#show(update, { canAct: false, isNew: true, ply });
          }
        }
        return;
      }
    } catch (error) {
      // This browser may not have the table of a skipped ply, or the service may not open it for this viewer.
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
   * Follow the game from the newest table until a person has to act.
   * @param {{isNew: boolean, update?: ViewerUpdate | undefined}} from `update` is the newest table's view if it is
   *   known, `isNew` is true if its events have just happened
   */
  async #follow({ isNew, update }) {
    const course = ++this.#course;
    const isOld = () => course !== this.#course;
    this.view.hold(true);
    try {
      let [known, isFresh] = [update, isNew];
      while (await this.#isOpenNow(isOld)) {
        const looked = known ?? (await this.#look(this.#viewer));
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
   * Acknowledge the newest table, and wait if other players also have to.
   * @param {() => boolean} isOld returns true once `#course` has changed, so that this call has to stop
   * @returns true if the table is open
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
   * Let the player of a seat sit down at the screen.
   * @param {number} seat
   * @param {{update: ViewerUpdate, isNew: boolean} | undefined} last the update that the previous player has not seen
   *   yet
   * @param {() => boolean} isOld returns true once `#course` has changed, so that this call has to stop
   * @returns the seat's view; undefined if the player did not sit down
   */
  async #seated(seat, last, isOld) {
    if (last && this.#viewer !== undefined) {
      this.#show(last.update, { canAct: false, isNew: last.isNew });
    }
    return (await this.#handOver(seat, isOld)) ? this.#look(seat) : undefined;
  }

  /**
   * After a short pause, return true if a bot has to move. Otherwise wait for another player, or end the game.
   * @param {ViewerUpdate} update
   * @param {boolean} isMine true if a person at this screen has to move
   * @param {() => boolean} isOld returns true once `#course` has changed, so that this call has to stop
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
        this.frame.tell(this.live.rematchButton((error) => this.fail(error), this.options));
      }
      return false;
    }
    if (this.session.table.seats[seat]?.bot === undefined) {
      if (!isMine) {
        const name = nameOfSeat(seat);
        const { live } = this;
        this.#wait(seat, live ? t("awaits-since", { name, time: live.since }) : t("awaits-move", { name }));
      }
      return false;
    }
    await this.#breath(this.frame.notice.hidden ? 1 : 4);
    return !isOld() && (this.live === undefined || (await this.#movesBots(this.live, isOld)));
  }

  /**
   * Return true if this browser should make a bot's move. It first gives other browsers time to do so.
   * @param {LiveTable} live `patience` is that time, in milliseconds; undefined to never make the move
   * @param {() => boolean} isOld returns true once `#course` has changed, so that this call has to stop
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
    this.frame.notice.hidden = true;
    this.#shown = ply;
    this.frame.showTools(this.session, {
      canAct,
      isOver: update.view?.end !== undefined,
      isLive: this.live !== undefined,
    });
    this.live?.tellTurn(canAct, ply, seatToDecide(update));
    this.view.show(update, { me: this.#viewer, canAct, bots: this.names }, { isNew, ply });
    const { game, phrases } = this.view.kit;
    const moments = isNew ? (update.events ?? []).filter((event) => game.isMoment?.(event)) : [];
    if (moments.length > 0) {
      this.frame.tell(
        h(
          "ul",
          { class: "moments" },
          moments.map((event) => h("li", {}, phrases.write(event))),
        ),
      );
    }
  }

  /**
   * Take the game's options from a view. All views of a game have the same options. Throws Error if the options differ
   * from the settings of the game's room.
   * @param {ViewerUpdate} update
   */
  async #takeOptions({ view }) {
    const { field } = this.view.kit;
    const options = view?.[field]?.options;
    if (this.options === undefined && options !== undefined) {
      const { optionsTold } = await import("../options.js");
      const { kit } = this.view;
      const { table } = this.session;
      const chosen = { [field]: options };
      if (this.live && !this.live.room.isAsSettled(kit, table, chosen)) {
        throw new Error(t("terms-differ"));
      }
      this.options = chosen;
      this.frame.told.replaceChildren(optionsTold(kit, table.players, chosen) ?? "");
    }
  }

  /** If no table is shown and the newest table is not open, show the table before it. */
  async #showLast() {
    const { ply } = this.session.table;
    if (!this.view.isShown && this.session.isOpen(ply - 1)) {
      await this.#showPly(ply - 1);
    }
  }

  /** @param {number} ply */
  async #showPly(ply) {
    const update = await this.#look(this.#viewer, ply);
    const viewer = { me: this.#viewer, canAct: false, bots: this.names };
    this.view.show(update, viewer, { isNew: false, ply });
  }

  /**
   * Show the table as it was at a ply. The game waits until the player returns to it.
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
        this.frame.tell(button(t("to-now"), back, { class: "primary" }));
        this.view.prompt.textContent = t("moment", { ply, last });
        this.frame.tools.hint.hidden = true;
      }
    } catch (error) {
      this.fail(error, () => this.#follow({ isNew: false }));
    }
  }

  /**
   * Add the events that a returning player has missed to the beginning of the log, as far as this browser has their
   * tables.
   */
  async #catchUp() {
    const viewer = this.#viewer;
    const log = ++this.#log;
    const { view } = this;
    const { ply } = this.session.table;
    const first = Math.max(0, ply - CAUGHT_UP_PLIES);
    view.log.clear();
    const events = await Promise.all(
      Array.from({ length: ply - first + 1 }, async (_, index) => {
        try {
          return (await this.#look(viewer, first + index)).events ?? [];
        } catch {
          // This browser may not have the table, or the service may not open it for this viewer.
          return [];
        }
      }),
    );
    // Another player may be at the screen now.
    if (log === this.#log && viewer === this.#viewer) {
      view.tellBefore(events, first);
    }
  }

  /**
   * Hide the table until the player of another seat is at the screen.
   * @param {number} seat
   * @param {() => boolean} isOld returns true once `#course` has changed, so that this call has to stop
   * @returns {Promise<boolean>} true if the player is there
   */
  async #handOver(seat, isOld) {
    if (this.#viewer !== undefined) {
      await this.#ask(t("hand-over", { name: nameOfSeat(seat) }), t("hide-table"));
    }
    if (isOld()) {
      return false;
    }
    this.view.clear();
    this.frame.notice.hidden = true;
    this.#viewer = seat;
    this.#showLinks();
    await hideUntilHere(seat, isOld, (close) => (this.#goOn = close));
    return !isOld();
  }

  /**
   * @param {string} text
   * @param {string} label
   */
  #ask(text, label) {
    return new Promise((resolve) => {
      this.#goOn = () => resolve(undefined);
      const confirm = button(label, () => resolve(undefined), { class: "primary" });
      this.frame.tell(h("p", {}, text), confirm);
      confirm.focus();
    });
  }

  /**
   * Wait a little, so that people can follow the bots' moves. If the game is paused, wait until it is resumed.
   * @param {number} times a multiple of the usual pause
   */
  async #breath(times) {
    await new Promise((resolve) => {
      this.#goOn = () => resolve(undefined);
      setTimeout(() => this.#isPaused || resolve(undefined), times * pace());
    });
  }

  /** @param {Action} action */
  async #act(action) {
    try {
      const update = await this.session.move(this.#viewer, { id: action.id });
      await this.#follow({ isNew: true, update });
    } catch (error) {
      this.view.hold(false);
      const first = this.live && error instanceof ForkError ? Session.open(this.session.id) : undefined;
      if (first) {
        // Another window has made a different move. Continue from it.
        this.#goOnFrom(first);
      } else {
        this.fail(error);
      }
    }
  }

  /**
   * Try an illegal action, so that the service explains why it is illegal.
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
    this.frame.tools.hint.disabled = true;
    const isThere = this.view.sayIfSlow();
    try {
      const { action = {} } = await this.session.suggest(this.#viewer ?? 0, this.adviser);
      if (course === this.#course) {
        this.view.hint(action);
      }
    } catch (error) {
      this.fail(error);
    } finally {
      isThere();
      this.frame.tools.hint.disabled = false;
    }
  }

  #undo() {
    this.session.undo();
    this.#follow({ isNew: false });
  }

  #pause() {
    this.#isPaused = !this.#isPaused;
    this.frame.tools.pause.textContent = this.#isPaused ? t("go-on") : t("pause");
    if (!this.#isPaused) {
      this.#goOn?.();
    }
  }

  /**
   * Wait for other players.
   * @param {number | undefined} turn the deciding seat at an open table
   * @param {string} text the prompt to show while waiting
   */
  #wait(turn, text) {
    if (!this.live) {
      this.frame.tell(...this.#sending(turn), pasteLink());
    }
    this.view.rest(text);
    this.frame.tools.hint.hidden = true;
  }

  /**
   * Return the link that other players need, with their names; an empty list if no player needs it.
   * @param {number} [turn] the deciding seat; absent if the game is over
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
    import("../yours/results.js").then(({ keepTable }) => keepTable(this.session, update));
    const won = wonText(update.score?.winners ?? [], this.#me);
    const why = this.view.prompt.textContent ?? "";
    this.view.prompt.textContent = `${won}. ${why}`;
    this.live?.tellTurn(false);
    this.frame.tell(
      ...ending(this, update, { won, why, me: this.#me }),
      ...(this.live ? [] : this.#sending()),
    );
    this.frame.notice.classList.add("end");
    this.frame.notice.scrollIntoView({ block: "nearest" });
    this.#openHands();
  }

  /** Show all hands. This requires the game's record, and so all of the game's tables must be in this browser. */
  async #openHands() {
    const course = this.#course;
    try {
      const [{ record }, { openEnd }] = await Promise.all([
        this.session.record(),
        import("../open_hands.js"),
      ]);
      const update = record && (await openEnd(record, this.view.kit.field, this.#viewer));
      if (update && course === this.#course) {
        this.view.open(update);
      }
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof RangeError)) {
        throw error;
      }
    }
  }

  /** The seat of the only player at this screen; undefined if there are several players or none. */
  get #me() {
    return this.session.mine.length === 1 ? this.session.mine[0] : undefined;
  }

  #showLinks() {
    this.frame.showLinks(this.session, { viewer: this.#viewer, isLive: this.live !== undefined });
  }

  /**
   * Show an error.
   * @param {unknown} error
   * @param {() => void} [again] repeats the failed step
   */
  fail(error, again) {
    if (error instanceof Refusal && error.status === UNAUTHENTICATED) {
      connection.dispatchEvent(new CustomEvent("refused", { detail: error }));
      return;
    }
    this.view.refuse(error instanceof RangeError ? t("tables-missing") : whyOf(error));
    if (isClosedFor(error)) {
      this.frame.tell(elsewhere(newGameLink(this.session, this.options)));
    } else if (again) {
      this.frame.tell(button(t("try-again"), again));
    }
  }
}
