// The view of a table: the drawing, the buttons and the score, with the log.

import { seatMark } from "./art/cards.js";
import { icon } from "./art/shapes.js";
import { captionOf, clicked, explained, optionsOf, promptOf } from "./clicks.js";
import { button, h } from "./dom.js";
import { give } from "./feedback.js";
import { listOf } from "./lists.js";
import { follow } from "./picks.js";
import { scoreTable } from "./result.js";
import { fittingScale, sizeAt } from "./scales.js";
import { Scene } from "./scene.js";
import { nameOfSeat } from "./seat_names.js";
import { isAnimated, t } from "./settings.js";
import { TableLog } from "./table_log.js";
import { sentence } from "./texts.js";
import { ifSlow } from "./trouble.js";
import { contextOf, seatToDecide } from "./views.js";

/** @typedef {import("./game.js").Action} Action */
/** @typedef {import("./game.js").Context} Context */
/** @typedef {import("./game.js").Event} Event */
/** @typedef {import("./game.js").ViewerUpdate} ViewerUpdate */
/** @typedef {import("./games.js").GameKit} GameKit */
/**
 * The player who looks at the table.
 * @typedef {object} Viewer
 * @property {number | undefined} me the viewer's seat, or undefined for a spectator
 * @property {boolean} canAct true if the viewer may act now
 * @property {readonly (string | undefined)[]} [bots] the bot at each seat, or undefined for a person
 */

// The minimum height of the bar under the drawing, in pixels. It is reserved so that the drawing's size seldom changes
// from turn to turn. In low windows the bar is a single line, and its actual height counts.
const BAR = 108;
const LOW_WINDOW = 500;
// The margin at the edges of the window, in pixels.
const MARGIN = 8;
// The scales at which drawings are shown. Scales above 1 are used only if at least ROOMY pixels of width remain.
const SCALES = [1.75, 1.6, 1.45, 1.3, 1.15, 1, 0.92, 0.85, 0.78, 0.72, 0.66, 0.6, 0.55, 0.5, 0.45, 0.4];
const ROOMY = 960;
/** @type {Viewer} */
const NOBODY = { me: undefined, canAct: false };

/** The view of one table. It shows the table's updates. */
export class TableView {
  /** @type {ViewerUpdate | undefined} */
  #update;
  #viewer = NOBODY;
  /** @type {string[]} */
  #picked = [];
  /** @type {Action | undefined} the suggested action */
  #hinted;
  /** @type {readonly string[] | undefined} the keys of the action that is under way */
  #sent;
  /** Stops the wait for a slow response. */
  #isThere = () => {};
  /** @type {object} */
  #ui = {};
  /** @type {import("./picks.js").Option[]} */
  #options = [];
  /**
   * @type {Map<number, string[]>} the marks of the items that each seat's last move put on the table, as far as the log
   *   goes back
   */
  #moves = new Map();
  /** @type {readonly import("./game.js").Item[]} the items shown */
  #items = [];

  /**
   * @param {GameKit} kit
   * @param {{onAction: (action: Action) => void, onAttempt: (action: Action) => void, onMoment: (ply: number) => void}} listeners
   *   `onAction` is called when the player chooses an action, `onAttempt` when the player tries an illegal action,
   *   `onMoment` when the player selects a ply in the log
   */
  constructor(kit, { onAction, onAttempt, onMoment }) {
    this.kit = kit;
    this.onAction = onAction;
    this.onAttempt = onAttempt;
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
    this.log = new TableLog(kit, onMoment);
    this.summary = h("section", { class: "unseen" });
    // The space for which the last drawing was made, and the scale at which the drawing is shown.
    this.space = { width: 0, height: 0, window: 0 };
    this.scale = 1;
    /** True if the player cannot act on the table that is shown. */
    this.isHeld = false;
    const resized = new ResizeObserver(() => {
      // Ignore changes in the stage's height: a pick changes the height of the bar, which must not redraw the table.
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
   * Disable all actions until the next update, because a move is under way or a newer table exists.
   * @param {boolean} isHeld
   */
  hold(isHeld) {
    this.isHeld = isHeld;
    this.scene.element.setAttribute("aria-busy", String(isHeld));
    if (!isHeld && this.#sent) {
      this.#picked = this.#sent === this.#picked ? [] : this.#picked;
      this.#sent = undefined;
      this.#isThere();
      this.#draw(false);
    }
  }

  /**
   * Show that an action has been taken and is under way, and disable all actions until the response arrives.
   * @param {readonly string[]} keys the keys to show as picked
   * @param {EventTarget | null} pressed the button of the action
   * @param {() => void} send
   */
  #send(keys, pressed, send) {
    if (this.isHeld) {
      // A second click must not make a second move.
      return;
    }
    this.refuse(undefined);
    give("touch");
    this.#sent = keys;
    this.hold(true);
    for (const each of this.bar.querySelectorAll(".choices button, .all-actions button")) {
      each.setAttribute("aria-disabled", "true");
      each.classList.toggle("sent", each === pressed);
    }
    this.#isThere = this.sayIfSlow();
    this.#draw(isAnimated());
    send();
  }

  /**
   * Show that a request is being sent if its response takes long.
   * @returns the function to call when the response has arrived
   */
  sayIfSlow() {
    const said = this.prompt.textContent;
    const stop = ifSlow(() => (this.prompt.textContent = t("sending")));
    return () => {
      stop();
      this.prompt.textContent = this.prompt.textContent === t("sending") ? said : this.prompt.textContent;
    };
  }

  /**
   * Show an update.
   * @param {ViewerUpdate} update
   * @param {Viewer} viewer
   * @param {{isNew: boolean, ply: number}} how `isNew` is true if the update's events have just happened, `ply` is the
   *   update's ply
   */
  show(update, viewer, { isNew, ply }) {
    const hadFocus = this.scene.hasFocus || this.bar.contains(document.activeElement);
    this.#update = update;
    this.#viewer = viewer;
    this.#picked = [];
    this.#hinted = undefined;
    this.#sent = undefined;
    this.#isThere();
    this.hold(false);
    this.refuse(undefined);
    if (isNew) {
      give(update.view?.end === undefined ? "move" : "end");
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
      // The item with the focus may have disappeared.
      if (viewer.canAct && !this.scene.focusFirst()) {
        this.buttons.querySelector("button")?.focus();
      } else if (!viewer.canAct && !this.scene.hasFocus) {
        this.prompt.focus();
      }
    }
  }

  /**
   * Show all hands once the game is over.
   * @param {ViewerUpdate} update
   */
  open(update) {
    this.#update = update;
    this.#keepWords(() => {
      this.#fit();
      this.#draw(isAnimated());
    });
  }

  /** Measure the space for a drawing. The bar, and the slider of a record, are below it or, in low windows, next to it. */
  #space() {
    const stage = this.scene.element.getBoundingClientRect();
    /** @type {HTMLElement | null | undefined} */
    const slider = this.bar.parentElement?.querySelector(".slider");
    const isBeside = this.bar.getBoundingClientRect().left >= stage.right;
    const least = innerHeight <= LOW_WINDOW ? 0 : BAR;
    const controls = slider ? slider.offsetHeight + MARGIN : 0;
    const below = Math.max(least, this.bar.offsetHeight + controls) + 2 * MARGIN;
    const taken = isBeside ? 2 * MARGIN : stage.top + scrollY + below;
    return { width: this.scene.element.clientWidth, height: innerHeight - taken, window: innerHeight };
  }

  /**
   * Choose the largest scale at which the whole drawing fits, or else the scale at which the largest part is visible.
   */
  #fit() {
    const context = this.#context();
    if (!context || !this.scene.element.isConnected) {
      return;
    }
    if (!this.#sent) {
      this.#tellTurn(context);
    }
    this.space = this.#space();
    const scales = SCALES.filter((each) => each <= 1 || this.space.width / each >= ROOMY);
    this.scale = fittingScale(this.space, scales, (scale) => {
      const size = sizeAt(this.space, scale);
      return this.kit.game.draw({ ...context, ...size }).height * scale;
    });
  }

  /**
   * Redraw the table without changing the prompt.
   * @param {() => void} draw
   */
  #keepWords(draw) {
    const said = this.prompt.textContent;
    draw();
    // There is no prompt before the first drawing.
    this.prompt.textContent = said || this.prompt.textContent;
  }

  /**
   * Return the table of the total scores and their parts.
   * @param {number | undefined} me
   */
  scoreTable(me) {
    const context = this.#context();
    return context ? scoreTable(context, this.kit, me) : null;
  }

  /** True if an update has been shown. */
  get isShown() {
    return this.#update !== undefined;
  }

  /**
   * Disable all actions until the next update, and show a message that says why.
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

  /** Clear the view until the next update, so that the next player at the screen sees no secrets. */
  clear() {
    this.#update = undefined;
    this.#ui = {};
    this.#moves.clear();
    this.scene.clear();
    this.refuse(undefined);
    this.prompt.textContent = "";
    for (const element of [this.buttons, this.all, this.log.element, this.summary, this.scores]) {
      element.replaceChildren();
    }
  }

  /**
   * Add the events of a ply to the log.
   * @param {readonly Event[]} events
   * @param {number} ply
   */
  tell(events, ply) {
    this.log.add(events, ply, this.#viewer.me);
  }

  /**
   * Add earlier events to the beginning of the log.
   * @param {readonly (readonly Event[])[]} plies the events of each ply
   * @param {number} first the first of these plies
   */
  tellBefore(plies, first) {
    this.log.addBefore(plies, first, this.#viewer.me);
    this.#moves = new Map([...plies.flatMap((events) => [...this.#movesIn(events)]), ...this.#moves]);
    this.#keepWords(() => this.#draw(isAnimated()));
  }

  /**
   * Return the marks of the items that events have put on the table, by seat.
   * @param {readonly Event[]} events
   */
  #movesIn(events) {
    /** @type {Map<number, string[]>} */
    const moves = new Map();
    for (const event of events) {
      const seat = this.kit.phrases.seatOf(event.phrase);
      const marks = this.kit.game.touched(event);
      if (seat !== undefined && marks.length > 0) {
        moves.set(seat, [...(moves.get(seat) ?? []), ...marks]);
      }
    }
    return moves;
  }

  /**
   * Show why a move was refused.
   * @param {string | undefined} reason the reason; undefined to remove the text
   */
  refuse(reason) {
    if (reason !== undefined && this.#sent) {
      this.hold(false);
    }
    this.refusal.hidden = reason === undefined;
    this.refusal.textContent = reason ?? "";
  }

  /**
   * Show a suggested action, until a move is made.
   * @param {Action} action
   */
  hint(action) {
    this.#hinted = action;
    this.#picked = [];
    this.refuse(undefined);
    this.#draw(false);
  }

  /** @returns {Context | undefined} */
  #context() {
    const update = this.#update;
    return (
      update?.view && {
        ...contextOf(this.kit, update, sizeAt(this.space, this.scale)),
        me: this.#viewer.me,
        turn: seatToDecide(update),
        actions: this.#viewer.canAct ? (update.legalActions ?? []) : [],
        picked: this.#picked,
        ui: this.#ui,
        redraw: () => this.#draw(isAnimated()),
      }
    );
  }

  /** @param {Action} action */
  #isHinted({ id }) {
    return this.#hinted !== undefined && this.#hinted.id === id;
  }

  /** @param {boolean} glides */
  #draw(glides) {
    const before = this.#context();
    // Before the element is on the page, its width is unknown. The observer draws it later.
    if (!before || !this.scene.element.isConnected) {
      return;
    }
    const { game } = this.kit;
    const { context, found } = this.#sent
      ? { context: before, found: { candidates: before.candidates } }
      : this.#tellTurn(before);
    const drawing = game.draw(context);
    const marks = {
      candidates: found.candidates,
      picked: this.#sent ?? this.#picked,
      hinted: this.#hints(),
      tries: context.actions.length > 0 && !this.#sent,
      moved: this.#moved(),
    };
    this.#items = drawing.items;
    this.scene.show(drawing, marks, glides, this.kit.phrases.title);
    this.scene.camera.name({ closer: t("closer"), farther: t("farther"), whole: t("whole") });
    this.summary.replaceChildren(
      h("h2", {}, t("table")),
      h(
        "ul",
        {},
        game.summary(context).map((line) => h("li", {}, line)),
      ),
    );
    this.log.element.setAttribute("aria-label", t("log"));
  }

  /**
   * Update the prompt and the buttons, and return the items that can be picked.
   * @param {Context} before
   */
  #tellTurn(before) {
    this.#options = optionsOf(this.kit, before);
    const found = follow(this.#options, this.#picked);
    const context = { ...before, candidates: found.candidates };
    this.prompt.textContent = this.#promptOf(context);
    this.#showButtons(context, found.complete);
    return { context, found };
  }

  /** Return the keys of the suggested action that are still to be picked, with their places in the order of picks. */
  #hints() {
    const keys = this.#hinted && !this.#sent ? this.#keysOf(this.#hinted) : [];
    const left = [...this.#picked];
    /** @type {Map<string, string[]>} */
    const hints = new Map();
    keys.forEach((key, index) => {
      const at = left.indexOf(key);
      if (at >= 0) {
        left.splice(at, 1);
      } else {
        hints.set(key, [...(hints.get(key) ?? []), keys.length > 1 ? String(index + 1) : ""]);
      }
    });
    return hints;
  }

  /** Return the marks of the items that the other seats' last moves have put on the table, with the seats. */
  #moved() {
    const others = [...this.#moves].filter(([seat]) => seat !== this.#viewer.me);
    return new Map(
      others.flatMap(([seat, marks]) => marks.map((mark) => /** @type {[string, number]} */ ([mark, seat]))),
    );
  }

  /** @param {Context} context */
  #promptOf(context) {
    const prompt = promptOf(this.kit, context);
    if (!this.#hinted) {
      return prompt;
    }
    const hint = t("hint", { action: this.kit.phrases.write(this.#hinted) });
    return this.#picked.length > 0 ? `${sentence(hint)} ${prompt}` : hint;
  }

  /**
   * @param {Context} context
   * @param {readonly Action[]} complete
   */
  #showButtons(context, complete) {
    const plain = this.#options.filter(({ picks }) => picks.keys.length === 0).map(({ action }) => action);
    const hasPicked = this.#picked.length > 0;
    const shown = hasPicked ? [...complete, ...plain] : plain;
    // While something can be picked, the buttons of other actions (for example to pass) are less prominent.
    const classOf = (/** @type {Action} */ action) =>
      hasPicked && action === complete[0]
        ? "primary"
        : this.#isHinted(action)
          ? "hinted"
          : plain.includes(action) && plain.length < this.#options.length
            ? "quiet"
            : null;
    this.buttons.replaceChildren(
      ...shown
        .slice(0, 12)
        .map((action) => this.#actionButton(action, { class: classOf(action), "data-action": action.id })),
    );
    if (hasPicked) {
      this.buttons.append(button(t("cancel"), () => this.#cancel()));
    }
    this.all.hidden = context.actions.length === 0;
  }

  /**
   * @param {Action} action
   * @param {import("./dom.js").Attributes} [attributes]
   */
  #actionButton(action, attributes) {
    const send = (/** @type {MouseEvent} */ { currentTarget }) =>
      this.#send(this.#keysOf(action), currentTarget, () => this.onAction(action));
    return button(this.kit.phrases.write(action), send, attributes);
  }

  /**
   * Return the keys to pick for an action.
   * @param {Action} action
   */
  #keysOf({ id }) {
    return this.#options.find(({ action }) => action.id === id)?.picks.keys ?? [];
  }

  #listAll() {
    if (this.all.open && this.all.childElementCount === 1) {
      const actions = this.#context()?.actions ?? [];
      this.all.append(
        h(
          "ul",
          {},
          actions.map((action) => h("li", {}, this.#actionButton(action))),
        ),
      );
    }
    if (this.all.open) {
      // In this case the bar is below the table, perhaps outside the window.
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
    const before = this.#picked;
    const click = clicked(this.kit, context, this.#options, key);
    if (click === undefined) {
      this.#answer(this.#items.find((item) => item.pick === key)?.key);
    } else if ("told" in click) {
      this.refuse(click.told);
    } else if ("tried" in click) {
      this.#send([...before, key], null, () => this.onAttempt(click.tried));
    } else if ("action" in click) {
      this.#picked = click.picked;
      this.#send(click.picked, null, () => this.onAction(click.action));
    } else {
      const { picked } = click;
      give("touch");
      this.#picked = picked;
      this.#draw(isAnimated());
      this.#tellPutBack(before.filter((each) => each !== key && !picked.includes(each)));
    }
  }

  /**
   * Report the picks that were undone because they cannot be combined with a later pick.
   * @param {readonly string[]} keys
   */
  #tellPutBack(keys) {
    const names = keys.flatMap((key) => this.#items.find((item) => item.pick === key)?.label ?? []);
    if (names.length > 0) {
      this.prompt.textContent = `${t("put-back", { names: listOf(names) })} ${this.prompt.textContent}`;
    }
  }

  /**
   * Return the name and the explanation of an item.
   * @param {string} key
   */
  #captionOf(key) {
    const context = this.#context();
    return (
      context &&
      captionOf(
        this.kit,
        context,
        this.#items.find((each) => each.key === key),
      )
    );
  }

  /**
   * Explain why an item cannot be picked.
   * @param {string | undefined} key the item, or undefined for an empty place
   */
  #answer(key) {
    const context = this.#context();
    if (context && !this.isHeld) {
      const item = this.#items.find((each) => each.key === key);
      this.refuse(explained(this.kit, context, item));
    }
  }

  #cancel() {
    if (this.#picked.length > 0 && !this.isHeld) {
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
    const scores = score?.detail?.[this.kit.field]?.seats ?? [];
    const isOver = context.update.view?.end !== undefined;
    const rows = Array.from({ length: context.players }, (_, seat) => {
      const total = score?.totals?.[seat]?.total ?? "?";
      const bot = this.#viewer.bots?.[seat];
      const parts = this.kit.game.breakdown(seat, scores[seat] ?? {}, context);
      return h(
        "li",
        { class: context.turn === seat ? "seat active" : "seat" },
        icon(32, seatMark(seat, 32), "face"),
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
