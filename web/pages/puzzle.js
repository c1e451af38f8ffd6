// A puzzle: a position from a game of strong bots. One action is clearly the best, judged by the knowledge of the seat
// to act.

import { call, Refusal } from "../api.js";
import { dayIn, puzzleOfDay, today } from "../days.js";
import { button, h } from "../dom.js";
import { GAMES } from "../game.js";
import { checkGame, kitOf, listGames } from "../games.js";
import { nameOfSeat } from "../seat_names.js";
import { language, loadWords, textIn } from "../settings.js";
import { tableLayout } from "../table_layout.js";
import { TableView } from "../table_view.js";
import { whyOf } from "../trouble.js";
import { recordIn, recordWord } from "./record_link.js";

/** @typedef {import("../game.js").Action} Action */
/** @typedef {import("../games.js").GameKit} GameKit */
/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */
/** @import { PositionJson } from "#api/chatiere/v1/game_pb.js" */
/**
 * A puzzle, as written by `chatiere puzzles`.
 * @typedef {object} Puzzle
 * @property {string} record the moves up to the puzzle's position, in the form used in links
 * @property {number} seat the seat to act
 * @property {[id: number, value: number][]} actions the legal actions from the best to the worst, with the seat's
 *   expected return
 * @property {number} wrong the share of quick choices that are wrong
 * @property {number[]} line the most frequent wrong choice, and the best moves after it
 */

// The shares of wrong quick choices from which a puzzle is medium and hard.
const EASY = 1 / 3;
const HARD = 2 / 3;

/**
 * Return text of the puzzles in the player's language.
 * @param {keyof typeof import("../puzzles/words.js").words.en} key
 * @param {Record<string, string | number>} [values]
 */
function said(key, values) {
  return textIn("puzzles", key, values);
}

/**
 * Open a puzzle of a game.
 * @param {string} _
 * @param {string} [name] the service's name of the game
 * @param {string} [place] the number of the puzzle, from 0, or "on" for the puzzle of a day
 * @param {string} [on] the day; by default today
 */
export async function open(_, name = "", place = "on", on = "") {
  checkGame(name);
  const [kit, games, puzzles] = await Promise.all([kitOf(name), listGames(), puzzlesOf(name)]);
  const day = place === "on" ? dayIn(on) : undefined;
  const number = day === undefined ? Number(place) : puzzleOfDay(day, puzzles.length);
  const puzzle = puzzles[number];
  if (!puzzle) {
    throw new Error(said("none"));
  }
  const record = recordIn(puzzle.record);
  const include = { viewers: [puzzle.seat], legalActions: true, score: true };
  const { positions = [] } = await call("GameService/Replay", { record, include });
  const titles = new Map(games.map((each) => [each.name, each.title]));
  const others = GAMES.filter((each) => each !== name).map((each) =>
    h("li", {}, h("a", { href: `#/puzzle/${each}` }, titles.get(each))),
  );
  const shown = new Shown(kit, puzzle, record, positions, {
    day,
    count: said(difficultyOf(puzzle), { number: number + 1, count: puzzles.length }),
    next: `#/puzzle/${name}/${(number + 1) % puzzles.length}`,
    others: h("section", { class: "other-puzzles" }, h("h2", {}, said("others")), h("ul", {}, others)),
  });
  shown.begin();
  return { element: shown.element, title: `${said("title")} · ${kit.phrases.title}` };
}

/**
 * @param {string} game
 * @returns {Promise<Puzzle[]>}
 */
async function puzzlesOf(game) {
  const [response] = await Promise.all([fetch(`puzzles/${game}.json`), loadWords("puzzles")]);
  if (!response.ok) {
    throw new Error(said("none"));
  }
  return (await response.json()).puzzles;
}

/** @param {Puzzle} puzzle */
function difficultyOf({ wrong }) {
  return wrong < EASY ? "easy" : wrong < HARD ? "medium" : "hard";
}

/** A puzzle, until its page is left. */
class Shown {
  #isBusy = false;
  /** The number of moves tried, or 0 once the player has looked at the answer. */
  #tries = 1;

  /**
   * @param {GameKit} kit
   * @param {Puzzle} puzzle
   * @param {GameRecordJson} record
   * @param {readonly PositionJson[]} positions the positions of all plies up to the puzzle's
   * @param {{day: number | undefined, count: string, next: string, others: HTMLElement}} parts `day` is present if
   *   the puzzle was opened as the puzzle of this day
   */
  constructor(kit, puzzle, record, positions, { day, count, next, others }) {
    this.day = day;
    this.kit = kit;
    this.puzzle = puzzle;
    this.positions = positions;
    this.ply = positions.length - 1;
    this.view = new TableView(kit, {
      onAction: (action) => this.#try(action),
      onAttempt: (action) => this.#attempt(action),
      onMoment: () => undefined,
    });
    // Screen readers read it when it changes.
    this.told = h("p", { role: "status" });
    const [best] = this.#best;
    const { line, seat } = puzzle;
    const linkTo = (/** @type {number[]} */ moves, /** @type {number} */ ply) =>
      `#/record/${recordWord({ ...record, actions: [...(record.actions ?? []), ...moves] })}/${ply}/${seat}`;
    this.answer = button(said("answer"), () => {
      this.#tries = 0;
      this.#solve("answer-is");
    });
    this.again = button(said("again"), () => this.begin());
    this.why = h("a", { class: "button", href: linkTo([best], this.ply) }, said("why"));
    const natural = kit.phrases.write(this.#actionOf(line[0]));
    const whyNot = linkTo(line, this.ply + 1);
    this.whyNot = h("a", { class: "button", href: whyNot }, said("why-not", { action: natural }));
    const following = h("a", { class: "button", href: next }, said("next"));
    const back = day !== undefined && h("a", { class: "button", href: `#/today/${day}` }, said("today"));
    const buttons = h(
      "p",
      { class: "choices" },
      this.answer,
      this.again,
      this.why,
      this.whyNot,
      back,
      following,
    );
    const head = h("p", { class: "count" }, count);
    const above = h("section", { class: "sheet guided puzzle" }, head, this.told, buttons);
    this.element = tableLayout(this.view, { above, aside: [others] });
  }

  /** Ask for the best move. */
  begin() {
    const hadFocus = this.again === document.activeElement;
    this.#showPosition();
    this.told.textContent = said("ask", { name: nameOfSeat(this.puzzle.seat) });
    this.#offer(false);
    if (hadFocus) {
      this.answer.focus({ preventScroll: true });
    }
  }

  get #best() {
    return this.puzzle.actions[0] ?? [0, 0];
  }

  get #position() {
    return this.positions[this.ply] ?? {};
  }

  /** @param {number | undefined} wanted the id of a legal action */
  #actionOf(wanted) {
    return this.#position.legalActions?.find(({ id = 0 }) => id === wanted) ?? {};
  }

  #showPosition() {
    this.view.show(
      this.#position.updates?.[0] ?? {},
      { me: this.puzzle.seat, canAct: true },
      { isNew: false, ply: this.ply },
    );
    this.view.log.clear();
    this.positions.forEach(({ updates = [] }, ply) => this.view.tell(updates[0]?.events ?? [], ply));
  }

  /** @param {boolean} isAnswered */
  #offer(isAnswered) {
    this.answer.hidden = isAnswered;
    this.again.hidden = !isAnswered;
    this.why.hidden = !isAnswered;
    this.whyNot.hidden = !isAnswered;
  }

  /**
   * Convert a return to a share of the win.
   * @param {number} value the return
   */
  #chances(value) {
    const share = (value + 1) / (this.#position.updates?.[0]?.score?.totals?.length ?? 2);
    return Math.max(0, share).toLocaleString(language(), { style: "percent" });
  }

  /** @param {Action} action */
  async #try(action) {
    const { id = 0 } = action;
    const [best, value] = this.#best;
    if (id === best) {
      await this.#solve("right");
      return;
    }
    const [, own = -1] = this.puzzle.actions.find(([each]) => each === id) ?? [];
    this.#tries += 1;
    this.#showPosition();
    this.told.textContent = said("wrong", {
      action: this.kit.phrases.write(action),
      chances: this.#chances(own),
      best: this.#chances(value),
    });
  }

  /**
   * Make the best move.
   * @param {"right" | "answer-is"} key the text to show
   */
  async #solve(key) {
    const [best, value] = this.#best;
    const [, second = -1] = this.puzzle.actions[1] ?? [];
    const action = this.#actionOf(best);
    await this.#calling(async () => {
      const { seat } = this.puzzle;
      const include = { viewers: [seat], score: true };
      const request = { state: this.#position.state ?? {}, action: { id: best }, include };
      const { position = {} } = await call("GameService/Apply", request);
      const shown = { me: seat, canAct: false };
      this.view.show(position.updates?.[0] ?? {}, shown, { isNew: true, ply: this.ply + 1 });
      this.view.prompt.textContent = said("table-after");
      this.told.textContent = said(key, {
        action: this.kit.phrases.write(action),
        chances: this.#chances(value),
        next: this.#chances(second),
      });
      this.#offer(true);
      this.#keep();
      this.why.focus({ preventScroll: true });
    });
  }

  /** Store the result of today's puzzle. Only the first result counts. */
  async #keep() {
    const { day } = this;
    if (day !== undefined && day === today()) {
      const { keepDay } = await import("../yours/results.js");
      keepDay(day, this.kit.name, this.#tries);
    }
  }

  /**
   * Try an illegal action, so that the service explains why it is illegal.
   * @param {Action} action
   */
  async #attempt(action) {
    await this.#calling(() => call("GameService/Apply", { state: this.#position.state ?? {}, action }));
  }

  /**
   * Make one call at a time, and show the reason if it is refused.
   * @param {() => Promise<unknown>} work
   */
  async #calling(work) {
    if (this.#isBusy) {
      return;
    }
    this.#isBusy = true;
    this.answer.disabled = true;
    const isThere = this.view.sayIfSlow();
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Refusal)) {
        throw error;
      }
      this.view.refuse(whyOf(error));
    } finally {
      isThere();
      this.view.hold(false);
      this.answer.disabled = false;
      this.#isBusy = false;
    }
  }
}
