// A guided first game: positions of a real game, in which the learner makes the moves that the guide explains.

import { call, Refusal } from "../api.js";
import { button, h } from "../dom.js";
import { checkGame, kitOf, listBots } from "../games.js";
import { Session } from "../session.js";
import { filled, language, loadWords, t } from "../settings.js";
import { readRecord } from "../shared/records.js";
import { strengthsOf } from "../strengths.js";
import { said } from "../lessons/sheet.js";
import { tableLayout } from "../table_layout.js";
import { TableView } from "../table_view.js";
import { loadTexts } from "../texts.js";
import { whyOf } from "../trouble.js";

/** @typedef {import("../game.js").Action} Action */
/** @typedef {import("../games.js").GameKit} GameKit */
/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */
/** @import { PositionJson } from "#api/chatiere/v1/game_pb.js" */
/**
 * A step of a guided game. Its text has the key `step-N`, from 1.
 * @typedef {object} Step
 * @property {number} ply the ply to show
 * @property {boolean} [acts] true if the learner has to make the record's next move
 */

// The learner's seat.
const ME = 0;

/**
 * Open the guided first game of a game.
 * @param {string} _
 * @param {string} [name] the service's name of the game
 */
export async function open(_, name = "") {
  checkGame(name);
  const [kit, { steps }, texts, record] = await Promise.all([
    kitOf(name),
    import(`../lessons/${name}/steps.js`),
    loadTexts(`lessons/${name}`, language()),
    fetch(`lessons/${name}/first.chatiere`).then(async (response) => readRecord(await response.text())),
    loadWords("lessons"),
  ]);
  const include = { viewers: [ME], legalActions: true, score: true };
  const { positions = [] } = await call("GameService/Replay", { record, include });
  const guided = new Guided(kit, { steps, texts, record, positions });
  guided.go(0);
  return { element: guided.element, title: said("learn") };
}

/** A guided game, until its page is left. */
class Guided {
  #at = 0;
  #isBusy = false;

  /**
   * @param {GameKit} kit
   * @param {{steps: readonly Step[], texts: Readonly<Record<string, import("../texts.js").Text>>, record: GameRecordJson, positions: PositionJson[]}} lesson
   */
  constructor(kit, lesson) {
    this.lesson = lesson;
    this.view = new TableView(kit, {
      onAction: (action) => this.#act(action),
      onAttempt: (action) => this.#attempt(action),
      onMoment: () => undefined,
    });
    this.count = h("p", { class: "count" });
    this.text = h("p", {});
    // Screen readers read it when it changes.
    this.told = h("div", { role: "status" }, this.count, this.text);
    this.back = button(said("step-back"), () => this.go(this.#at - 1));
    this.next = button(said("step-next"), () => this.go(this.#at + 1));
    this.show = button(t("show-me"), () => this.view.hint(this.#wanted));
    this.practise = button(t("practise"), () => this.#practise(), { class: "primary" });
    this.play = h("a", { class: "button", href: `#/new/${kit.name}` }, t("play"));
    const buttons = h("p", { class: "choices" }, this.back, this.next, this.show, this.practise, this.play);
    this.guide = h("section", { class: "sheet guided" }, this.told, buttons);
    this.element = tableLayout(this.view, { above: this.guide });
  }

  /** The current step. */
  get #step() {
    return /** @type {Step} */ (this.lesson.steps[this.#at]);
  }

  /** The action that the learner should choose. */
  get #wanted() {
    const { positions, record } = this.lesson;
    const { ply } = this.#step;
    const id = record.actions?.[ply] ?? 0;
    return positions[ply]?.legalActions?.find((action) => (action.id ?? 0) === id) ?? {};
  }

  /**
   * Show a step.
   * @param {number} number from 0
   */
  go(number) {
    const { steps, texts, positions } = this.lesson;
    const isForward = number > this.#at;
    this.#at = number;
    const { ply, acts = false } = this.#step;
    const isLast = number === steps.length - 1;
    const update = positions[ply]?.updates?.[0] ?? {};
    // The size of the table depends on the height of this text.
    this.count.textContent = said("step-of", { step: String(number + 1), steps: String(steps.length) });
    this.text.textContent = filled(texts[`step-${number + 1}`] ?? "");
    this.view.log.clear();
    this.view.tell(update.events ?? [], ply);
    this.view.show(update, { me: ME, canAct: acts }, { isNew: false, ply });
    if (!acts && !isLast) {
      this.view.prompt.textContent = said("step-look");
    }
    this.guide.dataset["ply"] = String(ply);
    this.back.hidden = number === 0;
    this.next.hidden = acts || isLast;
    this.show.hidden = !acts;
    this.practise.hidden = !isLast;
    this.play.hidden = !isLast;
    // Keep the keyboard's focus on the button for the next step.
    if (isForward) {
      (acts ? this.show : isLast ? this.practise : this.next).focus({ preventScroll: true });
    }
  }

  /** @param {Action} action */
  #act({ id = 0 }) {
    if (id === (this.#wanted.id ?? 0)) {
      this.go(this.#at + 1);
    } else {
      this.view.refuse(said("step-other"));
    }
  }

  /** Begin a game against the weakest bot, in which a button shows good moves. */
  async #practise() {
    const { name } = this.view.kit;
    const { players = 2 } = this.lesson.record;
    const [weakest] = strengthsOf(await listBots(name), players);
    const bots = Array.from({ length: players }, (_, seat) =>
      seat === ME ? undefined : (weakest?.bot ?? "random"),
    );
    const { id } = await Session.beginHere(name, bots);
    location.hash = `#/practise/${id}`;
  }

  /**
   * Try an illegal action, so that the service explains why it is illegal.
   * @param {Action} action
   */
  async #attempt(action) {
    if (this.#isBusy) {
      return;
    }
    this.#isBusy = true;
    const at = this.#at;
    try {
      await call("GameService/Apply", { state: this.lesson.positions[this.#step.ply]?.state ?? {}, action });
    } catch (error) {
      if (!(error instanceof Refusal)) {
        throw error;
      }
      if (at === this.#at) {
        this.view.refuse(whyOf(error));
      }
    } finally {
      this.view.hold(false);
      this.#isBusy = false;
    }
  }
}
