// A record in a frame of another page. It is smaller than the page and needs no storage, because browsers may deny
// storage to frames.

import { button, h } from "../dom.js";
import { GAMES, loadGame } from "../game.js";
import { gameKit } from "../kit.js";
import { LANGUAGES } from "../languages.js";
import { stillTable } from "../lessons/still.js";
import { plySlider } from "../ply_slider.js";
import { isRecordWord, recordInWord } from "../record_word.js";
import { fittingScale, sizeAt } from "../scales.js";
import { nameOfSeat } from "../seat_names.js";
import { filledIn, loadTexts } from "../texts.js";
import { contextOf } from "../views.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */
/** @import { ReplayResponseJson } from "#api/chatiere/v1/game_service_pb.js" */
/** @typedef {import("../game.js").ViewerUpdate} ViewerUpdate */
/** @typedef {import("../games.js").GameKit} GameKit */

// The number of positions in one request.
const STRETCH = 4;
// The scales at which drawings are shown.
const SCALES = [1, 0.85, 0.7, 0.6, 0.5, 0.4];

// The parts of the address: a record in the form used in links, the first ply to show, and the language.
const [, word = "", begin = "0", wanted = ""] = location.hash.split("/");
const language =
  [wanted, ...navigator.languages.map((each) => each.split("-")[0] ?? "")].find((each) =>
    LANGUAGES.includes(each),
  ) ?? "en";
/** @type {Awaited<ReturnType<typeof loadTexts>>} */
let texts = {};

/**
 * Return text in the language of the address, or else of the browser.
 * @param {keyof typeof import("./words.js").words.en} key
 * @param {Record<string, string | number>} [values]
 */
function t(key, values) {
  return filledIn(language, texts[key] ?? key, values);
}

/**
 * Make a call once. Throws Error with a message for players.
 * @param {string} method
 * @param {object} request
 */
async function call(method, request) {
  const headers = { "content-type": "application/json", "accept-language": language };
  const body = JSON.stringify(request);
  const sent = fetch(`chatiere.v1.${method}`, { method: "POST", headers, body, credentials: "omit" });
  const response = await sent.catch(() => undefined);
  const answer = await response?.json().catch(() => undefined);
  if (!response?.ok || answer === undefined) {
    throw new Error(answer?.message ?? t("no-service"));
  }
  return answer;
}

/**
 * Return the kit of a game.
 * @param {string} name
 * @returns {Promise<GameKit>}
 */
async function kitOf(name) {
  const asked = call("GameService/ListGames", { games: [name], phrases: true, pieces: true });
  const [game, { games }, own] = await Promise.all([
    loadGame(name),
    asked,
    loadTexts(`games/${name}`, language),
  ]);
  return gameKit(name, game, games[0], own, language);
}

/** A record, shown as a spectator sees it. */
class Embedded {
  /** @type {Map<number, Promise<ReplayResponseJson>>} */
  #stretches = new Map();
  /** @type {ViewerUpdate} */
  #update = {};
  #ply = 0;

  /**
   * @param {GameRecordJson} record
   * @param {GameKit} kit
   */
  constructor(record, kit) {
    this.record = record;
    this.kit = kit;
    this.last = record.actions?.length ?? 0;
    this.table = h("main", {});
    this.told = h("p", { class: "told", role: "status" });
    this.summary = h("ul", { class: "unseen" });
    this.slider = plySlider(this.last, t("ply"), (ply) => this.go(ply));
    this.count = h("output", {});
    this.link = h("a", { target: "_blank", rel: "noopener" }, t("open"));
    const { title } = kit.phrases;
    document.title = title;
    document.body.replaceChildren(
      h("header", {}, h("h1", {}, title), this.link),
      this.table,
      h(
        "section",
        { class: "controls", "aria-label": t("ply") },
        this.#step(-1, "◀", t("back")),
        this.slider,
        this.#step(1, "▶", t("forward")),
        this.count,
        this.told,
        this.summary,
      ),
    );
    new ResizeObserver(() => this.#draw()).observe(this.table);
  }

  /**
   * @param {number} by
   * @param {string} text
   * @param {string} label
   */
  #step(by, text, label) {
    const onclick = () => this.go(this.#ply + by);
    return button(text, onclick, { "aria-label": label, title: label });
  }

  /**
   * Show a ply.
   * @param {number} target
   */
  async go(target) {
    const ply = Math.max(0, Math.min(this.last, target));
    this.#ply = ply;
    this.slider.value = String(ply);
    this.count.textContent = t("ply-of", { ply, last: this.last });
    this.link.href = `./#/record/${word}/${ply}`;
    try {
      const update = await this.#updateAt(ply);
      // Only the latest target counts.
      if (ply === this.#ply) {
        this.#update = update;
        this.#draw();
        this.#tell();
      }
    } catch (error) {
      this.told.textContent = reasonOf(error);
    }
  }

  /** @param {number} ply */
  async #updateAt(ply) {
    const fromPly = ply - (ply % STRETCH);
    const toPly = Math.min(this.last, fromPly + STRETCH - 1);
    const { record } = this;
    const include = { spectator: true };
    const asked =
      this.#stretches.get(fromPly) ?? call("GameService/Replay", { record, fromPly, toPly, include });
    this.#stretches.set(fromPly, asked);
    try {
      const { positions = [] } = await asked;
      return positions[ply - fromPly]?.updates?.[0] ?? {};
    } catch (error) {
      this.#stretches.delete(fromPly);
      throw error;
    }
  }

  /** @param {number} scale */
  #contextAt(scale) {
    return contextOf(this.kit, this.#update, sizeAt(this.#space, scale));
  }

  get #space() {
    return { width: this.table.clientWidth, height: this.table.clientHeight };
  }

  #draw() {
    if (this.#update.view) {
      const { game, phrases } = this.kit;
      const scale = fittingScale(
        this.#space,
        SCALES,
        (each) => game.draw(this.#contextAt(each)).height * each,
      );
      const label = t("table", { game: phrases.title, ply: this.#ply });
      this.table.replaceChildren(stillTable(game.draw(this.#contextAt(scale)), label));
    }
  }

  /** Show the events and the state of the game as text. */
  #tell() {
    const { game, phrases } = this.kit;
    const { events = [], score, view } = this.#update;
    const happened = events.filter(({ phrase }) => phrases.dealtTo(phrase, undefined) === undefined);
    const totals = (score?.totals ?? []).map(({ total }, seat) => `${nameOfSeat(seat)} ${total ?? "?"}`);
    this.told.textContent = [
      ...[...happened, ...(view?.end ? [view.end] : [])].map((said) => phrases.write(said)),
      t("score", { totals: totals.join(", ") }),
    ].join(" · ");
    const lines = game.summary(this.#contextAt(1));
    this.summary.replaceChildren(...lines.map((line) => h("li", {}, line)));
  }
}

/** @param {unknown} error */
function reasonOf(error) {
  return t("failed", { why: error instanceof Error ? error.message : String(error) });
}

/** Return the record in the address. Throws Error if the address has no record. */
function recordInAddress() {
  try {
    const record = isRecordWord(word) ? recordInWord(word) : undefined;
    if (record && GAMES.some((each) => each === record.game)) {
      return record;
    }
  } catch {
    // The address may have been cut off.
  }
  throw new Error(t("no-record"));
}

async function show() {
  document.documentElement.lang = language;
  texts = await loadTexts("embed", language);
  try {
    const record = recordInAddress();
    const embedded = new Embedded(record, await kitOf(record.game ?? ""));
    await embedded.go(Number(begin) || 0);
  } catch (error) {
    document.body.replaceChildren(h("main", {}, h("p", { role: "alert" }, reasonOf(error))));
  }
}

// Another address in the same frame shows another record.
addEventListener("hashchange", () => location.reload());
show();
