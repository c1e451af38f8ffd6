// The page that replays a record ply by ply: a sample, a file, or the record of a game played here.

import { button, h } from "../dom.js";
import { kitOf, listBots } from "../games.js";
import { share } from "../links.js";
import { keepRecord, positionsOf, STRETCH } from "../kept_records.js";
import { opened } from "../open_hands.js";
import { optionsTold } from "../options.js";
import { plySlider } from "../ply_slider.js";
import { nameOfSeat } from "../seat_names.js";
import { t } from "../settings.js";
import { readRecord } from "../shared/records.js";
import { adviserOf } from "../strengths.js";
import { tableLayout } from "../table_layout.js";
import { TableView } from "../table_view.js";
import { whyOf } from "../trouble.js";
import { PlayOn } from "./play_on.js";
import { isRecordWord, recordIn, recordLink } from "./record_link.js";
import { Review } from "./review.js";
import { shownGame, shownRecord } from "./shown_record.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */
/** @import { ReplayResponseJson } from "#api/chatiere/v1/game_service_pb.js" */
/** @typedef {import("./shown_record.js").OwnGame} OwnGame */

const PAUSE = 900;
// The viewers that are not seats: a spectator, and a viewer who sees all hands.
const SPECTATOR = "all";
const OPEN = "open";
// Elements that use the arrow keys themselves.
const HAS_KEYS = "input, select, textarea, .stage, .log";

/**
 * Open a record.
 * @param {string} _
 * @param {string} name the name of a sample's game, a record in the form used in links, or "own" for the record given
 *   to `show`
 * @param {string} [ply] the first ply to show, or "play" to play the record from its beginning
 * @param {string} [seat] the viewer
 */
export async function open(_, name, ply = "0", seat = SPECTATOR) {
  const record = await recordOf(name);
  const kit = await kitOf(record.game ?? "");
  const { minPlayers = 0, maxPlayers = 0 } = kit.info;
  const { players = 0 } = record;
  if (!(players >= minPlayers && players <= maxPlayers)) {
    throw new Error(t("not-a-record", { why: `players: ${players}` }));
  }
  const view = new TableView(kit, {
    onAction: (action) => replay.act(action),
    onAttempt: (action) => replay.act(action),
    onMoment: (ply) => replay.go(ply),
  });
  const replay = new Replay(name, record, view, kit, name === "own" ? shownGame() : undefined);
  await replay.begin(Number(ply) || 0, seat);
  keepRecord(record);
  if (ply === "play") {
    replay.toggle();
  }
  return {
    element: tableLayout(view, { below: replay.controls, aside: replay.aside }),
    title: kit.phrases.title,
    leave: () => replay.leave(),
  };
}

/** The replay of a record. */
class Replay {
  /** @type {Map<number, Promise<ReplayResponseJson>>} */
  #stretches = new Map();
  /** The ply that is shown, and the ply that the player wants to see. */
  #shown = 0;
  #wanted = 0;
  #isShowing = false;
  #isOpen = true;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {PlayOn | undefined} the game that continues from a position of the record */
  #game;

  /**
   * @param {string} name
   * @param {GameRecordJson} record
   * @param {TableView} view
   * @param {import("../games.js").GameKit} kit
   * @param {OwnGame} [own] present if the record is of a game of this browser's player
   */
  constructor(name, record, view, kit, own) {
    this.kit = kit;
    this.review = new Review(record, kit.phrases, { own, onMove: (ply, seat) => this.#look(ply, seat) });
    this.name = name;
    this.record = record;
    this.view = view;
    this.last = record.actions?.length ?? 0;
    this.players = record.players ?? 0;
    this.slider = plySlider(this.last, t("ply"), (ply) => this.go(ply));
    this.count = h("output", {});
    this.play = button(t("replay"), () => this.toggle());
    this.viewer = h(
      "select",
      { onchange: () => this.go(this.#wanted) },
      h("option", { value: SPECTATOR }, t("spectator")),
      h("option", { value: OPEN }, t("open-hands")),
      Array.from({ length: this.players }, (_, each) => h("option", { value: each }, nameOfSeat(each))),
    );
    this.on = button(t("play-on"), () => this.#playOn());
    const steps = [
      h("div", {}, this.#step(-1, "◀", t("back")), this.play, this.#step(1, "▶", t("forward")), this.count),
      this.slider,
    ];
    this.controls = h("section", { class: "replay" });
    this.parts = [
      h("div", { class: "slider" }, steps),
      h("div", { class: "view" }, h("label", {}, h("span", {}, t("seen-by")), this.viewer), this.on),
    ];
    this.controls.append(...this.parts);
    const told = optionsTold(kit, this.players, record.options);
    this.aside = [...(told ? [told] : []), this.review.element, linkOf(record)];
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.#key(event);
  }

  /**
   * Show a ply. Throws Refusal if the record cannot be replayed.
   * @param {number} ply
   * @param {string} seat the viewer
   */
  async begin(ply, seat) {
    this.viewer.value = seat;
    addEventListener("keydown", this.onKey);
    this.#shown = Math.min(this.last, ply);
    await this.#position(this.#shown);
    await this.go(this.#shown);
  }

  /** Stop everything that runs, when the player leaves the page. */
  leave() {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    removeEventListener("keydown", this.onKey);
    this.review.leave();
    this.#game?.leave();
  }

  /**
   * Make a move in a game that continues from the record.
   * @param {import("../game.js").Action} action
   */
  act(action) {
    this.#game?.act(action);
  }

  /** Continue the game from the position shown. The player has the viewer's seat. A spectator gets the seat to move. */
  async #playOn() {
    this.#stop();
    try {
      const ply = this.#shown;
      const [{ state, turn }, listed] = await Promise.all([
        this.#position(ply),
        listBots(this.record.game ?? ""),
      ]);
      const bot = adviserOf(listed, this.players);
      if (this.#isOpen && !this.#game) {
        const seat = this.#seat() ?? turn?.seat ?? 0;
        const onEnd = () => this.#backToRecord();
        const parts = [button(t("back-to-record"), onEnd)];
        this.#game = new PlayOn(this.view, { seat, ply, bot, players: this.players, parts });
        this.controls.replaceChildren(this.#game.element);
        this.view.log.clear();
        // The review's text would be a hint.
        this.review.element.hidden = true;
        this.view.prompt.focus();
        await this.#game.begin(state);
      }
    } catch (error) {
      this.view.refuse(whyOf(error));
    }
  }

  #backToRecord() {
    this.#game?.leave();
    this.#game = undefined;
    this.controls.replaceChildren(...this.parts);
    this.review.element.hidden = false;
    this.on.focus();
    this.go(this.#shown);
  }

  /** Return the viewer's seat, or undefined if the viewer is not a seat. */
  #seat() {
    const chosen = Number(this.viewer.value);
    return chosen < this.players ? chosen : undefined;
  }

  /**
   * Go to a ply. Show it as a seat sees it unless all hands are open.
   * @param {number} ply
   * @param {number} [seat]
   */
  #look(ply, seat) {
    if (seat !== undefined && this.viewer.value !== OPEN) {
      this.viewer.value = String(seat);
    }
    this.go(ply);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event;
    const isTaken = target instanceof Element && target.closest(HAS_KEYS) !== null;
    const to = { ArrowLeft: this.#wanted - 1, ArrowRight: this.#wanted + 1, Home: 0, End: this.last }[key];
    if (to !== undefined && !isTaken && !(altKey || ctrlKey || metaKey || shiftKey)) {
      event.preventDefault();
      this.go(to);
    }
  }

  /**
   * @param {number} by
   * @param {string} text
   * @param {string} label
   */
  #step(by, text, label) {
    const onclick = () => this.go(this.#wanted + by);
    return button(text, onclick, { "aria-label": label, title: label });
  }

  /**
   * Go to a ply.
   * @param {number} target
   */
  async go(target) {
    if (this.#game) {
      return;
    }
    this.#wanted = Math.max(0, Math.min(this.last, target));
    this.slider.value = String(this.#wanted);
    this.count.textContent = t("ply-of", { ply: this.#wanted, last: this.last });
    // While a call is under way, only the latest target counts.
    if (this.#isShowing) {
      return;
    }
    this.#isShowing = true;
    try {
      const wish = () => `${this.#wanted} ${this.viewer.value}`;
      for (let followed = ""; followed !== wish() && this.#isOpen && !this.#game;) {
        followed = wish();
        await this.#show(this.#wanted);
      }
      if (this.#isOpen) {
        history.replaceState(null, "", `#/record/${this.name}/${this.#shown}/${this.viewer.value}`);
      }
    } catch (error) {
      this.view.refuse(whyOf(error));
      this.#stop();
    } finally {
      this.#isShowing = false;
    }
  }

  /** @param {number} ply */
  async #show(ply) {
    const { updates = [] } = await this.#position(ply);
    if (this.#game) {
      return;
    }
    const me = this.#seat();
    const isOpen = this.viewer.value === OPEN;
    const update = isOpen ? opened(updates, this.kit.field, me) : (updates[me ?? this.players] ?? {});
    const isNext = ply === this.#shown + 1;
    if (!isNext) {
      this.view.log.clear();
      this.view.tell(update.events ?? [], ply);
    }
    this.view.show(update, { me, canAct: false }, { isNew: isNext, ply });
    this.#shown = ply;
    this.review.show(ply, me, isOpen);
  }

  /** @param {number} ply */
  async #position(ply) {
    const first = ply - (ply % STRETCH);
    const asked = this.#stretches.get(first) ?? positionsOf(this.record, first);
    this.#stretches.set(first, asked);
    try {
      const { positions = [] } = await asked;
      return positions[ply - first] ?? {};
    } catch (error) {
      this.#stretches.delete(first);
      throw error;
    }
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.play.textContent = t("replay");
  }

  /** Play the record, or stop playing it. */
  toggle() {
    if (this.#timer !== undefined) {
      this.#stop();
      return;
    }
    const next = async () => {
      this.#timer = setTimeout(next, PAUSE);
      await this.go(this.#wanted === this.last ? 0 : this.#wanted + 1);
      if (this.#wanted === this.last || !this.#isOpen) {
        this.#stop();
      }
    };
    this.#timer = setTimeout(next, 0);
    this.play.textContent = t("pause");
  }
}

/** @param {string} name */
async function recordOf(name) {
  return name === "own"
    ? shownRecord()
    : isRecordWord(name)
      ? recordIn(name)
      : readRecord(await sample(name));
}

/**
 * Return the section with the link to a record.
 * @param {GameRecordJson} record
 */
function linkOf(record) {
  const link = recordLink(record);
  const content = link === undefined ? h("p", {}, t("too-long-for-link")) : share(t("record-link"), link);
  return h("section", { class: "links" }, h("details", {}, h("summary", {}, t("share")), content));
}

/** @param {string} name */
async function sample(name) {
  const response = await fetch(`samples/${name}.chatiere`);
  if (!response.ok) {
    throw new Error(t("no-record"));
  }
  return response.text();
}
