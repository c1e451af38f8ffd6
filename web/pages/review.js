// The review of a record: a search's judgement of each decision, from the knowledge of the seat that made it.

import { call } from "../api.js";
import { seatMark } from "../art/cards.js";
import { button, h, s } from "../dom.js";
import { nameOfSeat } from "../seat_names.js";
import { language, t } from "../settings.js";
import { whyOf } from "../trouble.js";

/** @import { AnalysedDecisionJson } from "#api/chatiere/v1/bot_service_pb.js" */
/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */
/** @typedef {import("./shown_record.js").OwnGame} OwnGame */

// The number of decisions in one request.
const STRETCH = 12;
// A fixed seed, so that all viewers get the same analysis.
const SEED = "1";
// The number of decisions listed for each seat.
const WORST = 3;
// The size of the curve, in its own pixels.
const WIDTH = 600;
const HEIGHT = 160;
const EDGE = 8;

/** The review of a record. The analysis starts when the player asks for it. */
export class Review {
  /** @type {AnalysedDecisionJson[]} by ply */
  #decisions = [];
  #isOpen = true;
  #ply = 0;
  /** @type {number | undefined} */
  #seat;

  /**
   * @param {GameRecordJson} record
   * @param {import("../phrases.js").Phrases} phrases
   * @param {{onMove: (ply: number, seat?: number) => void, own: OwnGame | undefined}} how `onMove` shows the table at a
   *   ply. If `seat` is given, the table is shown as this seat saw it. `own` is present if the record is of a game of
   *   this browser's player
   */
  constructor(record, phrases, { onMove, own }) {
    this.own = own;
    this.record = record;
    this.phrases = phrases;
    this.onMove = onMove;
    this.last = record.actions?.length ?? 0;
    this.players = record.players ?? 0;
    this.begin = button(t("review"), () => this.#run(), { class: "primary" });
    this.status = h("p", { role: "status" });
    this.cursor = s("line", { class: "cursor", y1: 0, y2: HEIGHT });
    this.lines = s("g", {});
    const onclick = (/** @type {MouseEvent} */ event) => {
      const { left, width } = this.curve.getBoundingClientRect();
      onMove(this.#plyAt(((event.clientX - left) / width) * WIDTH));
    };
    this.curve = s(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": t("chances-curve"), onclick },
      s("line", { class: "middle", x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2 }),
      this.cursor,
      this.lines,
    );
    this.judged = h("p", { class: "judged", "aria-live": "polite" });
    this.worst = h("div", { class: "worst" });
    this.found = h("div", { hidden: true }, this.curve, this.judged, this.worst);
    this.element = h(
      "section",
      { class: "review" },
      h("h2", {}, t("review-title")),
      this.begin,
      this.status,
      this.found,
    );
  }

  /** Stop the analysis, when the player leaves the page. */
  leave() {
    this.#isOpen = false;
  }

  /**
   * Show the judgement of the decision at a ply. A seat sees the judgements of its own decisions. A spectator sees
   * judgements only if all hands are open.
   * @param {number} ply
   * @param {number | undefined} seat the viewer's seat, or undefined for a spectator
   * @param {boolean} isOpen true if all hands are open
   */
  show(ply, seat, isOpen) {
    this.#ply = ply;
    this.#seat = isOpen ? undefined : (seat ?? this.players);
    const x = this.#x(ply);
    this.cursor.setAttribute("x1", String(x));
    this.cursor.setAttribute("x2", String(x));
    this.#tell();
  }

  /** Analyse the decisions that have not been analysed yet. */
  async #run() {
    this.begin.hidden = true;
    try {
      while (this.#decisions.length < this.last && this.#isOpen) {
        const fromPly = this.#decisions.length;
        const toPly = Math.min(this.last, fromPly + STRETCH);
        this.status.textContent = t("review-progress", { ply: fromPly, last: this.last });
        const request = { record: this.record, fromPly, toPly, seed: SEED };
        const { decisions = [] } = await call("BotService/Analyse", request);
        this.#decisions.push(...decisions);
        this.found.hidden = false;
        this.#draw();
        this.#tell();
      }
      this.status.textContent = t("review-progress", { ply: this.#decisions.length, last: this.last });
      this.#listWorst();
      await this.#keepLoss();
    } catch (error) {
      this.status.textContent = whyOf(error);
      this.begin.hidden = false;
    }
  }

  /** Store the mean loss of the player's moves, if the whole game was the player's and has been analysed. */
  async #keepLoss() {
    const { own } = this;
    const decisions = own && this.#decisions.length === this.last ? this.#decisionsOf(own.seat) : [];
    if (own && decisions.length > 0) {
      const { keepLoss } = await import("../yours/results.js");
      const total = decisions.reduce((sum, each) => sum + this.#lossOf(each), 0);
      keepLoss(own.id, total / decisions.length);
    }
  }

  /** @param {number} ply */
  #x(ply) {
    return EDGE + (ply / Math.max(1, this.last)) * (WIDTH - 2 * EDGE);
  }

  /** @param {number} x */
  #plyAt(x) {
    return Math.round(((x - EDGE) / (WIDTH - 2 * EDGE)) * this.last);
  }

  /**
   * Convert a return to a share of the win.
   * @param {number} value
   */
  #shareOf(value) {
    return (value + 1) / this.players;
  }

  /** @param {AnalysedDecisionJson} decision */
  #lossOf({ loss }) {
    return Number(loss ?? 0) / this.players;
  }

  /** @param {number} seat */
  #decisionsOf(seat) {
    return this.#decisions.filter((each) => (each.seat ?? 0) === seat);
  }

  #draw() {
    const curves = Array.from({ length: this.players }, (_, seat) => {
      const points = this.#decisionsOf(seat).map(({ ply = 0, value = 0 }) => {
        const y = EDGE + (1 - this.#shareOf(Number(value))) * (HEIGHT - 2 * EDGE);
        return `${this.#x(ply).toFixed(1)},${y.toFixed(1)}`;
      });
      const [x, y] = (points.at(-1) ?? "").split(",");
      const mark = points.length > 0 && s("g", { transform: `translate(${x} ${y})` }, seatMark(seat, 12));
      const stroke = `var(--seat-${seat})`;
      return [s("polyline", { points: points.join(" "), stroke, "data-seat": seat }), mark];
    });
    this.lines.replaceChildren(...curves.flat().filter((each) => each !== false));
  }

  /** Show the move made at the ply, its quality, and the moves that the search prefers. */
  #tell() {
    const decision = this.#decisions[this.#ply];
    const seat = decision?.seat ?? 0;
    this.judged.textContent = "";
    if (decision && (this.#seat === undefined || this.#seat === seat)) {
      const [best] = decision.best ?? [];
      const say = (/** @type {typeof best} */ tried) => this.phrases.write(tried?.action ?? {});
      const said = {
        name: nameOfSeat(seat),
        chances: percent(this.#shareOf(Number(decision.value ?? 0))),
        action: say(decision.played),
        best: say(best),
        loss: percent(this.#lossOf(decision)),
      };
      const isBest = best?.action?.id === decision.played?.action?.id;
      const key = isBest ? "judged-best" : decision.loss === undefined ? "judged-untried" : "judged";
      this.judged.textContent = t(key, said);
    }
  }

  #listWorst() {
    const seats = Array.from({ length: this.players }, (_, seat) => {
      const worst = this.#decisionsOf(seat)
        .filter((each) => this.#lossOf(each) > 0)
        .sort((one, other) => this.#lossOf(other) - this.#lossOf(one))
        .slice(0, WORST);
      const moves = worst.map((each) => {
        const ply = each.ply ?? 0;
        const text = t("worst-move", { ply: ply + 1, loss: percent(this.#lossOf(each)) });
        return button(text, () => this.onMove(ply, seat));
      });
      return moves.length > 0 && h("li", {}, h("span", {}, nameOfSeat(seat)), moves);
    });
    this.worst.replaceChildren(
      h("h3", {}, t("worst")),
      h("ul", {}, ...seats.filter((each) => each !== false)),
    );
  }
}

/** @param {number} share */
function percent(share) {
  return share.toLocaleString(language(), { style: "percent" });
}
