// Amendments of a live table: a seat's player can request them, and the other players are asked for their consent.

import { amendmentText, isResignation } from "../amendments.js";
import { button, h } from "../dom.js";
import { namesOf } from "../lists.js";
import { nameOfSeat } from "../seat_names.js";
import { Session } from "../session.js";
import { t } from "../settings.js";
import { toText } from "../shared/bytes.js";
import { missingSeats } from "../shared/sealed_table.js";

/** @typedef {import("../shared/sealed_table.js").Table} Table */

/** The menu of a seat, and the proposal that waits for consent. */
export class SeatMenu {
  /** The proposal shown, with its state. */
  #shown = "";
  /** @type {Set<string>} the resignations to which this browser has consented */
  #consented = new Set();

  /**
   * @param {import("./live_table.js").LiveTable} live
   * @param {readonly import("../strengths.js").Strength[]} strengths
   * @param {{onChange: () => void, onError: (error: unknown) => void}} listeners
   */
  constructor(live, strengths, { onChange, onError }) {
    this.live = live;
    this.strengths = strengths;
    this.onChange = onChange;
    this.onError = onError;
    this.resign = button(t("resign"), () => this.#resign(), { "data-tool": "resign" });
    const takeBack = () => this.#ask((session, me) => session.takeBack(me));
    this.takeBack = button(t("take-back"), takeBack, { "data-tool": "take-back" });
    this.replacing = h("span", { class: "choices" });
    this.element = h(
      "details",
      { class: "seat-menu", hidden: true },
      h("summary", {}, t("seat-menu")),
      h("p", { class: "choices" }, this.takeBack, this.replacing, this.resign),
    );
    this.text = h("p", {});
    this.state = h("p", {});
    this.choices = h(
      "p",
      { class: "choices" },
      button(t("accept"), () => this.#consent(), { class: "primary" }),
      button(t("decline"), () => this.#decline()),
    );
    this.proposal = h(
      "section",
      { class: "proposal", hidden: true, "aria-label": t("proposal") },
      h("div", { role: "status" }, this.text, this.state),
      this.choices,
    );
  }

  /** Show the requests that are possible now, and the question about a proposal. */
  show() {
    const { session, room } = this.live;
    const { table, mine, proposal } = session;
    const [me] = mine;
    const isPending = proposal !== undefined && room.declined(proposal).length === 0;
    const isOpen =
      me !== undefined && session.missing.length === 0 && !session.kept.isOver && !this.live.isClosed;
    const others = table.seats.flatMap(({ secretSha256 }, seat) =>
      secretSha256 !== undefined && seat !== me ? [seat] : [],
    );
    const { people, isConnected } = room.known;
    const gone = others.filter((seat) => !people.includes(table.seats[seat]?.secretSha256 ?? ""));
    // Where tables are acknowledged, only the deciding seat may resign: a seat consents to one table for each ply.
    this.resign.hidden = others.length === 0 || (table.asksNext && !this.live.isTurn);
    this.takeBack.hidden = !session.canTakeBack;
    this.#showReplacing(table.allowsReplacement && isConnected ? gone : []);
    const choices = [this.resign, this.takeBack, ...this.replacing.children];
    const canAsk = choices.some((each) => !(/** @type {HTMLElement} */ (each).hidden));
    this.element.hidden = !isOpen || isPending || !canAsk;
    this.#showProposal(proposal);
  }

  /** @param {readonly number[]} gone */
  #showReplacing(gone) {
    const labels = gone.map((seat) => t("replace", { name: nameOfSeat(seat) }));
    if (labels.join("\n") !== Array.from(this.replacing.children, (each) => each.textContent).join("\n")) {
      this.replacing.replaceChildren(
        ...gone.map((seat, index) => button(labels[index], () => this.#replace(seat))),
      );
    }
  }

  /** @param {Table | undefined} proposal */
  #showProposal(proposal) {
    const { session, room } = this.live;
    const { amendment } = proposal ?? {};
    this.proposal.hidden = proposal === undefined;
    if (!proposal || !amendment) {
      this.#shown = "";
      return;
    }
    const missing = missingSeats(proposal.bytes);
    const declined = room.declined(proposal);
    const isAsked = missing.some((seat) => session.mine.includes(seat)) && declined.length === 0;
    const shown = [toText(proposal.content), missing, declined].join(" ");
    if (shown !== this.#shown) {
      this.#shown = shown;
      const what = amendmentText(amendment, this.strengths);
      const text = isResignation(amendment)
        ? what
        : t("proposes", { name: nameOfSeat(amendment.asker), what });
      this.text.textContent = text.charAt(0).toUpperCase() + text.slice(1);
      this.state.textContent =
        declined.length > 0
          ? t("declined-by", { names: namesOf(declined) })
          : [
              t("awaits-consent", { names: namesOf(missing) }),
              // Where tables are acknowledged, the seat that asked makes no other table of the ply.
              ...(proposal.asksNext ? [] : [t("lapses")]),
            ].join(" ");
      this.choices.hidden = !isAsked || isResignation(amendment);
      if (isAsked && !this.choices.hidden) {
        this.proposal.scrollIntoView({ block: "nearest" });
      }
    }
    // A resignation needs no permission.
    const key = toText(proposal.content);
    if (isAsked && isResignation(amendment) && !this.#consented.has(key)) {
      this.#consented.add(key);
      this.#consent();
    }
  }

  #resign() {
    if (confirm(t("resign-sure"))) {
      this.#ask((session, me) => session.replace(me, me, this.#bot));
    }
  }

  /** @param {number} seat */
  #replace(seat) {
    if (confirm(t("replace-sure", { name: nameOfSeat(seat) }))) {
      this.#ask((session, me) => session.replace(me, seat, this.#bot));
    }
  }

  /** The bot that replaces a player: the second weakest, as in the form of a new game. */
  get #bot() {
    return (this.strengths[1] ?? this.strengths[0])?.bot ?? "";
  }

  /** @param {(session: Session, me: number) => Promise<void>} amend */
  #ask(amend) {
    return this.#change((session) => amend(session, session.mine[0] ?? 0));
  }

  #consent() {
    return this.#change((session) => session.consent());
  }

  #decline() {
    const { proposal } = this.live.session;
    if (proposal) {
      this.live.room.decline(proposal).catch(this.onError);
    }
  }

  /** @param {(session: Session) => Promise<void>} change */
  async #change(change) {
    const { session } = this.live;
    this.element.open = false;
    try {
      await change(session);
      this.live.room.show(session);
      this.show();
      this.onChange();
    } catch (error) {
      this.onError(error);
    }
  }
}
