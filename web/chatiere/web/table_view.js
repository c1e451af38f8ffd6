// A table on the screen: the drawing, what can be done, the score and the log.

import { seatMark } from "./art/cards.js";
import { h, s } from "./dom.js";
import { listOf } from "./lists.js";
import { follow, pick } from "./picks.js";
import { scoreTable } from "./result.js";
import { Scene } from "./scene.js";
import { nameOfSeat } from "./seat_names.js";
import { isAnimated, t } from "./settings.js";

/** @typedef {import("./game.js").Action} Action */
/** @typedef {import("./game.js").Context} Context */
/** @typedef {import("./game.js").Event} Event */
/** @typedef {import("./game.js").ViewerUpdate} ViewerUpdate */
/** @typedef {import("./games.js").Room} Room */
/** @typedef {{me: number | undefined, canAct: boolean, bots?: readonly (string | undefined)[]}} Viewer */

// The least that a drawing is made for.
const NARROW = 320;
const LOW = 360;
// The least height that is left to the bar under the drawing, so that drawings seldom change from turn to turn, but in low windows,
// where it is one line.
const BAR = 108;
const LOW_WINDOW = 500;
// The distance from the edges of the window.
const MARGIN = 8;
// How large drawings are shown, larger ones only where this width is left to them.
const SCALES = [1.75, 1.6, 1.45, 1.3, 1.15, 1, 0.92, 0.85, 0.78, 0.72, 0.66, 0.6, 0.55, 0.5, 0.45, 0.4];
const ROOMY = 960;
const ROUNDING = 2;
/** @type {Viewer} */
const NOBODY = { me: undefined, canAct: false };

/** The view of one table, which shows its updates. */
export class TableView {
  /** @type {ViewerUpdate | undefined} */
  #update;
  #viewer = NOBODY;
  /** @type {string[]} */
  #picked = [];
  /** @type {Action | undefined} the action that is pointed at */
  #hinted;
  /** @type {object} */
  #ui = {};
  /** @type {import("./picks.js").Option[]} */
  #options = [];
  /** @type {Map<number, string[]>} the marks of what each seat has last put on the table, as far as it has been told */
  #moves = new Map();
  /** @type {readonly import("./game.js").Item[]} the things that are shown */
  #items = [];

  /**
   * `onAction`: an action was chosen; `onAttempt`: one was tried that is not legal; `onMoment`: a ply of the log is wanted.
   * @param {Room} room
   * @param {{onAction: (action: Action) => void, onAttempt: (action: Action) => void, onMoment: (ply: number) => void}} listeners
   */
  constructor(room, { onAction, onAttempt, onMoment }) {
    this.room = room;
    this.onAction = onAction;
    this.onAttempt = onAttempt;
    this.onMoment = onMoment;
    this.scene = new Scene({
      onPick: (key) => this.#onPick(key),
      onIdle: (key) => this.#answer(key),
      onCancel: () => this.#cancel(),
      captionOf: (key) => this.#captionOf(key),
    });
    this.prompt = h("p", { class: "prompt", role: "status", tabindex: "-1" });
    this.refusal = h("p", { class: "refusal", role: "alert", hidden: true });
    this.buttons = h("div", { class: "choices" });
    this.all = h("details", { class: "all-actions", hidden: true, ontoggle: () => this.#listAll() });
    this.bar = h("section", { class: "bar" }, this.prompt, this.refusal, this.buttons, this.all);
    this.scores = h("section", { class: "scores" });
    this.log = h("div", { class: "log", role: "log", tabindex: "0", onkeydown: moveInLog });
    this.summary = h("section", { class: "unseen" });
    // The part of the page that the drawing has been made for, and how large it is shown there.
    this.space = { width: 0, height: 0, window: 0 };
    this.scale = 1;
    /** True if nothing can be done with what is shown. */
    this.isHeld = false;
    const resized = new ResizeObserver(() => {
      // The bar may have grown meanwhile, by what is picked: that alone changes nothing.
      if (this.scene.element.clientWidth !== this.space.width || innerHeight !== this.space.window) {
        this.#keepWords(() => {
          this.#fit();
          this.#draw(false);
        });
      }
    });
    resized.observe(this.scene.element);
    resized.observe(this.scene.window);
  }

  /**
   * Let nobody act until the next update, as a move is under way, or there is a newer table than the one that is shown.
   * @param {boolean} isHeld
   */
  hold(isHeld) {
    this.isHeld = isHeld;
    this.scene.element.setAttribute("aria-busy", String(isHeld));
  }

  /**
   * Show an update. `viewer`: who sees it, and whether it is that player's to act now.
   * @param {ViewerUpdate} update
   * @param {Viewer} viewer
   * @param {{isNew: boolean, ply: number}} how whether its events have just happened; which ply it is
   */
  show(update, viewer, { isNew, ply }) {
    const hadFocus = this.scene.hasFocus || this.bar.contains(document.activeElement);
    this.#update = update;
    this.#viewer = viewer;
    this.#picked = [];
    this.#hinted = undefined;
    this.hold(false);
    this.refuse(undefined);
    if (isNew) {
      this.tell(update.events ?? [], ply);
    } else {
      this.#moves.clear();
    }
    this.#moves = new Map([...this.#moves, ...this.#movesIn(update.events ?? [])]);
    this.all.open = false;
    this.all.replaceChildren(h("summary", {}, t("all-actions", { count: update.legalActions?.length ?? 0 })));
    this.#fit();
    this.#draw(isNew && isAnimated());
    this.#showScores();
    if (hadFocus) {
      // The item that had the focus may be gone.
      if (viewer.canAct && !this.scene.focusFirst()) {
        this.buttons.querySelector("button")?.focus();
      } else if (!viewer.canAct && !this.scene.hasFocus) {
        this.prompt.focus();
      }
    }
  }

  /**
   * Show what the others held, once the game is over.
   * @param {ViewerUpdate} update
   */
  open(update) {
    this.#update = update;
    this.#keepWords(() => {
      this.#fit();
      this.#draw(isAnimated());
    });
  }

  /** Measure the part of the page that a drawing should fit into: its bar is below it or, in low windows, beside it. */
  #space() {
    const stage = this.scene.element.getBoundingClientRect();
    const isBeside = this.bar.getBoundingClientRect().left >= stage.right;
    const least = innerHeight <= LOW_WINDOW ? 0 : BAR;
    const below = Math.max(least, this.bar.offsetHeight) + 2 * MARGIN;
    const taken = isBeside ? 2 * MARGIN : stage.top + scrollY + below;
    return { width: this.scene.element.clientWidth, height: innerHeight - taken, window: innerHeight };
  }

  /** Choose how large drawings are shown: so that all of them is seen or, if they can't be that small, as much as can be. */
  #fit() {
    const context = this.#context();
    if (!context || !this.scene.element.isConnected) {
      return;
    }
    this.#tellTurn(context);
    this.space = this.#space();
    const { width, height } = this.space;
    let least = Infinity;
    for (const scale of SCALES.filter((each) => each <= 1 || width / each >= ROOMY)) {
      const beyond = this.room.game.draw({ ...context, ...this.#sizeAt(scale) }).height * scale - height;
      if (beyond < least) {
        least = beyond;
        this.scale = scale;
      }
      if (beyond <= ROUNDING) {
        break;
      }
    }
  }

  /**
   * Return the size of a drawing in its own pixels.
   * @param {number} scale
   */
  #sizeAt(scale) {
    const { width, height } = this.space;
    return { width: Math.max(NARROW, width / scale), height: Math.max(LOW, height / scale) };
  }

  /**
   * Draw what has become known besides, or in another size, and leave what is said as it is.
   * @param {() => void} draw
   */
  #keepWords(draw) {
    const said = this.prompt.textContent;
    draw();
    // Nothing is said before the first drawing.
    this.prompt.textContent = said || this.prompt.textContent;
  }

  /**
   * Return the totals and their parts.
   * @param {number | undefined} me
   */
  scoreTable(me) {
    const context = this.#context();
    return context ? scoreTable(context, this.room, me) : null;
  }

  /** Whether an update has been shown. */
  get isShown() {
    return this.#update !== undefined;
  }

  /**
   * Let nobody act until the next update, and say what is waited for.
   * @param {string} text
   */
  rest(text) {
    this.hold(false);
    this.#viewer = { ...this.#viewer, canAct: false };
    this.#picked = [];
    this.#hinted = undefined;
    this.#draw(false);
    this.prompt.textContent = text;
  }

  /** Show nothing until the next update, as another player may look at the screen. */
  clear() {
    this.#update = undefined;
    this.#ui = {};
    this.#moves.clear();
    this.scene.clear();
    this.refuse(undefined);
    this.prompt.textContent = "";
    for (const element of [this.buttons, this.all, this.log, this.summary, this.scores]) {
      element.replaceChildren();
    }
  }

  /**
   * Add the events of a ply to the log.
   * @param {readonly Event[]} events
   * @param {number} ply
   */
  tell(events, ply) {
    this.log.append(...this.#linesOf(events, ply));
    this.log.scrollTop = this.log.scrollHeight;
  }

  /**
   * Add events to the log that happened before those that it has. `plies`: those of each ply, from `first` on.
   * @param {readonly (readonly Event[])[]} plies
   * @param {number} first
   */
  tellBefore(plies, first) {
    this.log.prepend(...plies.flatMap((events, index) => this.#linesOf(events, first + index)));
    this.log.scrollTop = this.log.scrollHeight;
    this.#moves = new Map([...plies.flatMap((events) => [...this.#movesIn(events)]), ...this.#moves]);
    this.#keepWords(() => this.#draw(isAnimated()));
  }

  /**
   * Return the marks of what each seat has put on the table by some events.
   * @param {readonly Event[]} events
   */
  #movesIn(events) {
    /** @type {Map<number, string[]>} */
    const moves = new Map();
    for (const event of events) {
      const seat = this.room.phrases.seatOf(event.phrase);
      const marks = this.room.game.touched(event);
      if (seat !== undefined && marks.length > 0) {
        moves.set(seat, [...(moves.get(seat) ?? []), ...marks]);
      }
    }
    return moves;
  }

  /**
   * Return the lines of the log for the events of a ply. A deal is one line.
   * @param {readonly Event[]} events
   * @param {number} ply
   */
  #linesOf(events, ply) {
    const { phrases, game } = this.room;
    const lines = [];
    for (let index = 0; index < events.length; index++) {
      const event = /** @type {Event} */ (events[index]);
      let dealt = phrases.dealtTo(event.phrase, this.#viewer.me);
      if (dealt) {
        const cards = [];
        for (; dealt; dealt = phrases.dealtTo(events[++index]?.phrase, this.#viewer.me)) {
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
    const mark = s("svg", { class: "mark", viewBox: "-8 -8 16 16", "aria-hidden": "true" });
    if (seat !== undefined) {
      mark.append(seatMark(seat, 16));
    }
    // The arrow keys reach it.
    const attributes = { type: "button", tabindex: "-1", "data-ply": ply, onclick: () => this.onMoment(ply) };
    return h("p", { class: isMoment ? "moment" : null }, mark, h("button", attributes, h("span", {}, text)));
  }

  /**
   * Say why a move was refused; undefined: say nothing.
   * @param {string | undefined} reason
   */
  refuse(reason) {
    this.refusal.hidden = reason === undefined;
    this.refusal.textContent = reason ?? "";
  }

  /**
   * Point at an action.
   * @param {Action} action
   */
  hint(action) {
    this.#hinted = action;
    this.refuse(undefined);
    this.#draw(false);
  }

  /** @returns {Context | undefined} */
  #context() {
    const update = this.#update;
    const view = update?.view;
    if (!update || !view) {
      return undefined;
    }
    const { room } = this;
    return {
      view: view[room.field] ?? {},
      update,
      details: room.details,
      players: update.score?.totals?.length ?? 0,
      me: this.#viewer.me,
      turn: view.turn?.kind === "TURN_KIND_DECISION" ? (view.turn.seat ?? 0) : undefined,
      actions: this.#viewer.canAct ? (update.legalActions ?? []) : [],
      ...this.#sizeAt(this.scale),
      picked: this.#picked,
      candidates: new Set(),
      ui: this.#ui,
      redraw: () => this.#draw(isAnimated()),
      nameOf: (kind, number) => room.phrases.nameOf(kind, number),
      seatName: nameOfSeat,
      t: room.t,
    };
  }

  /** @param {Action} action */
  #isHinted({ id }) {
    return this.#hinted !== undefined && this.#hinted.id === id;
  }

  /** @param {boolean} glides */
  #draw(glides) {
    const before = this.#context();
    // As long as it is not on the page, its width is not known; it is drawn when that changes.
    if (!before || !this.scene.element.isConnected) {
      return;
    }
    const { game } = this.room;
    const { context, found } = this.#tellTurn(before);
    const drawing = game.draw(context);
    const marks = {
      candidates: found.candidates,
      picked: this.#picked,
      hinted: this.#options.find(({ action }) => this.#isHinted(action))?.picks.keys ?? [],
      tries: context.actions.length > 0,
      moved: this.#moved(),
    };
    this.#items = drawing.items;
    this.scene.show(drawing, marks, glides, this.room.phrases.title);
    this.scene.camera.name({ closer: t("closer"), farther: t("farther"), whole: t("whole") });
    this.summary.replaceChildren(
      h("h2", {}, t("table")),
      h(
        "ul",
        {},
        game.summary(context).map((line) => h("li", {}, line)),
      ),
    );
    this.log.setAttribute("aria-label", t("log"));
  }

  /**
   * Say what is to be done, with the buttons for it, and return what can be picked.
   * @param {Context} before
   */
  #tellTurn(before) {
    this.#options = before.actions.flatMap((action) => {
      const picks = this.room.game.picks(action, before);
      return picks ? [{ action, picks }] : [];
    });
    const found = follow(this.#options, this.#picked);
    const context = { ...before, candidates: found.candidates };
    this.prompt.textContent = this.#promptOf(context);
    this.#showButtons(context, found.complete);
    return { context, found };
  }

  /** Return the marks of what the others have last put on the table, and their seats. */
  #moved() {
    const others = [...this.#moves].filter(([seat]) => seat !== this.#viewer.me);
    return new Map(
      others.flatMap(([seat, marks]) => marks.map((mark) => /** @type {[string, number]} */ ([mark, seat]))),
    );
  }

  /** @param {Context} context */
  #promptOf(context) {
    const { end, prompt = {} } = context.update.view ?? {};
    if (end) {
      return this.room.phrases.write(end);
    }
    const { game, phrases } = this.room;
    if (this.#hinted) {
      return t("hint", { action: phrases.write(this.#hinted) });
    }
    if (context.actions.length > 0) {
      return game.prompt(context) ?? t("your-turn", { what: phrases.write(prompt) });
    }
    return context.turn === undefined ? "" : t("turn-of", { name: nameOfSeat(context.turn) });
  }

  /**
   * @param {Context} context
   * @param {readonly Action[]} complete
   */
  #showButtons(context, complete) {
    const plain = this.#options.filter(({ picks }) => picks.keys.length === 0).map(({ action }) => action);
    const hasPicked = this.#picked.length > 0;
    const shown = hasPicked ? [...complete, ...plain] : plain;
    // Passing or stopping is never the main thing to do while something can be picked.
    const classOf = (/** @type {Action} */ action) =>
      hasPicked && action === complete[0]
        ? "primary"
        : this.#isHinted(action)
          ? "hinted"
          : plain.includes(action) && plain.length < this.#options.length
            ? "quiet"
            : null;
    this.buttons.replaceChildren(
      ...shown.slice(0, 12).map((action) =>
        h(
          "button",
          {
            type: "button",
            class: classOf(action),
            "data-action": action.id,
            onclick: () => this.onAction(action),
          },
          this.room.phrases.write(action),
        ),
      ),
    );
    if (hasPicked) {
      this.buttons.append(h("button", { type: "button", onclick: () => this.#cancel() }, t("cancel")));
    }
    this.all.hidden = context.actions.length === 0;
  }

  #listAll() {
    if (this.all.open && this.all.childElementCount === 1) {
      const actions = this.#context()?.actions ?? [];
      this.all.append(
        h(
          "ul",
          {},
          actions.map((action) =>
            h(
              "li",
              {},
              h(
                "button",
                { type: "button", onclick: () => this.onAction(action) },
                this.room.phrases.write(action),
              ),
            ),
          ),
        ),
      );
    }
    if (this.all.open) {
      // It is below the table then, not over it.
      this.bar.scrollIntoView({ block: "nearest" });
    }
  }

  /** @param {string} key */
  #onPick(key) {
    const context = this.#context();
    if (!context || context.actions.length === 0 || this.isHeld) {
      return;
    }
    this.refuse(undefined);
    this.#hinted = undefined;
    const before = this.#picked;
    const picked = pick(this.#options, before, key);
    if (picked === undefined) {
      const part = this.room.game.attempt([...before, key], context);
      if (part) {
        this.onAttempt({ [this.room.field]: part });
      } else {
        this.#answer(this.#items.find((item) => item.pick === key)?.key);
      }
      return;
    }
    this.#picked = picked;
    const found = follow(this.#options, picked);
    const [action] = found.complete;
    if (action && picked.length > 0 && !found.hasMore && !this.room.game.confirms) {
      this.onAction(action);
    } else {
      this.#draw(isAnimated());
      this.#tellPutBack(before.filter((each) => each !== key && !picked.includes(each)));
    }
  }

  /**
   * Say what was put back, as it does not go with what was picked after it.
   * @param {readonly string[]} keys
   */
  #tellPutBack(keys) {
    const names = keys.flatMap((key) => this.#items.find((item) => item.pick === key)?.label ?? []);
    if (names.length > 0) {
      this.prompt.textContent = `${t("put-back", { names: listOf(names) })} ${this.prompt.textContent}`;
    }
  }

  /**
   * Return what a thing is called, and what it does.
   * @param {string} key
   */
  #captionOf(key) {
    const context = this.#context();
    const item = this.#items.find((each) => each.key === key);
    return context && item?.label
      ? { name: item.label, does: this.room.game.does(item, context) }
      : undefined;
  }

  /**
   * Say why something can't be picked: what it is and does, and what is to be done.
   * @param {string | undefined} key the thing; undefined: an empty place
   */
  #answer(key) {
    const context = this.#context();
    if (context && !this.isHeld) {
      const { name, does } = (key !== undefined && this.#captionOf(key)) || {
        name: undefined,
        does: undefined,
      };
      const why = name === undefined ? t("nothing-here") : t("not-now", { name });
      this.refuse([why, does, this.#promptOf(context)].filter(Boolean).join(" "));
    }
  }

  #cancel() {
    if (this.#picked.length > 0) {
      this.#picked = [];
      this.#draw(isAnimated());
    }
  }

  #showScores() {
    const context = this.#context();
    if (!context) {
      return;
    }
    const { score } = context.update;
    const scores = score?.detail?.[this.room.field]?.seats ?? [];
    const isOver = context.update.view?.end !== undefined;
    const rows = Array.from({ length: context.players }, (_, seat) => {
      const total = score?.totals?.[seat]?.total ?? "?";
      const bot = this.#viewer.bots?.[seat];
      const parts = this.room.game.breakdown(seat, scores[seat] ?? {}, context);
      return h(
        "li",
        { class: context.turn === seat ? "seat active" : "seat" },
        s("svg", { class: "face", viewBox: "-16 -16 32 32", "aria-hidden": "true" }, seatMark(seat, 32)),
        h(
          "span",
          { class: "who" },
          h("strong", {}, nameOfSeat(seat)),
          h("small", {}, seat === context.me ? t("you") : bot === undefined ? "" : t("bot", { name: bot })),
        ),
        h("span", { class: "total" }, String(total)),
        h(
          "dl",
          {},
          parts.map(([name, number]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(number)))),
        ),
        isOver && h("span", { class: "rank" }, t("rank", { rank: score?.ranks?.[seat] ?? "" })),
      );
    });
    this.scores.replaceChildren(h("h2", {}, t("score")), h("ol", {}, rows));
  }
}

/**
 * Go from line to line of a log by the arrow keys.
 * @param {KeyboardEvent} event
 */
function moveInLog(event) {
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
