// A game against bots that continues from a position: of a record, or of the game of the day. It is not sealed.

import { call } from "../api.js";
import { h } from "../dom.js";
import { wonText } from "../result.js";
import { nameOfSeat } from "../seat_names.js";
import { pace, t } from "../settings.js";
import { whyOf } from "../trouble.js";

/** @import { ActionJson, PositionJson, ViewerUpdateJson } from "#api/chatiere/v1/game_pb.js" */

/** A game that continues from a position, until it is over or left. */
export class PlayOn {
  /** @type {PositionJson} */
  #position = {};
  #isOpen = true;
  #ply;

  /**
   * @param {import("../table_view.js").TableView} view
   * @param {{
   *   seat: number, ply: number, bot: import("../strengths.js").Strength, players: number, parts?: HTMLElement[],
   *   seed?: number, onMove?: (id: number) => void, onOver?: (update: ViewerUpdateJson) => void,
   * }} how `seat` is the player's seat, `bot` plays all other seats, `parts` are elements after the notice. With `seed`,
   *   bots choose the same actions whenever the player does. `onMove` is called after each decision
   */
  constructor(view, { seat, ply, bot, players, parts = [], seed, onMove, onOver }) {
    this.view = view;
    this.seed = seed;
    this.onMove = onMove;
    this.onOver = onOver;
    this.seat = seat;
    this.bot = bot;
    this.names = Array.from({ length: players }, (_, each) => (each === seat ? undefined : bot.name));
    this.#ply = ply;
    this.notice = h("p", { role: "status" }, t("playing-on", { name: nameOfSeat(seat) }));
    this.element = h("div", { class: "playing-on" }, this.notice, parts);
  }

  /**
   * Begin with a state.
   * @param {PositionJson["state"]} state
   */
  async begin(state) {
    await this.#doing(async () => {
      const { position = {} } = await call("GameService/GetPosition", { state, include: this.#include() });
      await this.#follow(position, false);
    });
  }

  /** Stop everything that runs, when the player returns to the record or leaves the page. */
  leave() {
    this.#isOpen = false;
    this.view.hold(false);
  }

  /**
   * Make a move of the player, or show why it is illegal.
   * @param {ActionJson} action
   */
  async act(action) {
    await this.#doing(async () => {
      await this.#follow(await this.#apply({ action }), true);
    });
  }

  /**
   * Try an illegal action, so that the service explains why it is illegal.
   * @param {ActionJson} action
   */
  async attempt(action) {
    await this.#doing(async () => {
      await call("GameService/Apply", { state: this.#position.state, action });
    });
  }

  #include() {
    return { viewers: [this.seat], legalActions: true };
  }

  /**
   * Run a function that makes calls. The player cannot act until it ends.
   * @param {() => Promise<void>} work
   */
  async #doing(work) {
    this.view.hold(true);
    try {
      await work();
    } catch (error) {
      if (this.#isOpen) {
        this.view.refuse(whyOf(error));
      }
    } finally {
      this.view.hold(false);
    }
  }

  /** @param {{action?: ActionJson, outcome?: number}} move */
  async #apply({ action, outcome }) {
    // The service does not need phrases and labels.
    const made = action && (action.id === undefined ? { action } : { action: { id: action.id } });
    const request = { state: this.#position.state, ...(made ?? { outcome }), include: this.#include() };
    const { position = {} } = await call("GameService/Apply", request);
    this.#ply += action ? 1 : 0;
    if (action?.id !== undefined) {
      this.onMove?.(action.id);
    }
    return position;
  }

  /**
   * Show a position, and let bots and chance move until the player has to act.
   * @param {PositionJson} begun
   * @param {boolean} isNew true if the position's events have just happened
   */
  async #follow(begun, isNew) {
    for (let [position, isNext] = [begun, isNew]; this.#isOpen; isNext = true) {
      this.#position = position;
      const { kind, seat = 0 } = position.turn ?? {};
      const update = position.updates?.[0] ?? {};
      const canAct = kind === "TURN_KIND_DECISION" && seat === this.seat;
      this.view.show(update, { me: this.seat, canAct, bots: this.names }, { isNew: isNext, ply: this.#ply });
      if (kind === "TURN_KIND_OVER") {
        this.notice.textContent = wonText(update.score?.winners ?? [], this.seat);
        this.onOver?.(update);
      }
      if (canAct || kind === "TURN_KIND_OVER") {
        return;
      }
      this.view.hold(true);
      if (kind === "TURN_KIND_CHANCE") {
        position = await this.#apply({ outcome: drawn(position.chanceOutcomes ?? []) });
      } else {
        const seed = this.seed === undefined ? {} : { seed: String(this.seed + this.#ply) };
        const request = { state: position.state, bot: this.bot.bot, ...seed };
        const [{ action = {} }] = await Promise.all([call("BotService/Suggest", request), breath()]);
        position = this.#isOpen ? await this.#apply({ action }) : position;
      }
    }
  }
}

function breath() {
  return new Promise((resolve) => setTimeout(resolve, pace()));
}

/**
 * Choose an outcome at random, with probabilities in proportion to the weights.
 * @param {readonly {outcome?: number, weight?: number | string}[]} outcomes
 */
function drawn(outcomes) {
  const total = outcomes.reduce((sum, { weight = 0 }) => sum + Number(weight), 0);
  let left = Math.random() * total;
  const found = outcomes.find(({ weight = 0 }) => (left -= Number(weight)) < 0);
  return (found ?? outcomes.at(-1))?.outcome ?? 0;
}
