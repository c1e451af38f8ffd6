// Amendments of a live table: a seat's player can request them, and the other players are asked for their consent.
// A bot can play for a player who has gone, until the player returns. It can also play for a player whose time is over,
// until the player wants to play again.

import { amendmentText, isResignation } from "../amendments.js";
import { button, h } from "../dom.js";
import { namesOf } from "../lists.js";
import { nameOfSeat } from "../seat_names.js";
import { Session } from "../session.js";
import { t } from "../settings.js";
import { toText } from "../shared/bytes.js";
import { missingSeats } from "../shared/sealed_table.js";

/** @typedef {import("../shared/sealed_table.js").Table} Table */

/** The menu of a seat, the proposal that waits for consent, and the players who have gone. */
export class SeatMenu {
  /** The proposal shown, with its state. */
  #shown = "";
  /** @type {Set<string>} the proposals to which this browser has consented without asking */
  #consented = new Set();
  /** The players who have gone, as shown. */
  #gone = "";
  /** The ply at which this browser has asked to give a seat back. */
  #returned = -1;

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
    this.element = h(
      "details",
      { class: "seat-menu", hidden: true },
      h("summary", {}, t("seat-menu")),
      h("p", { class: "choices" }, this.takeBack, this.resign),
    );
    this.absence = h("section", { class: "proposal", hidden: true, "aria-label": t("away") });
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
    // Where tables are acknowledged, only the deciding seat may resign: a seat consents to one table for each ply.
    this.resign.hidden = others.length === 0 || (table.asksNext && !this.live.isTurn);
    this.takeBack.hidden = !session.canTakeBack;
    const canAsk = !this.resign.hidden || !this.takeBack.hidden;
    this.element.hidden = !isOpen || isPending || !canAsk;
    this.#showProposal(proposal);
    const proposed = isPending ? proposal.amendment?.replacement?.seat : undefined;
    const isOver = session.kept.isOver;
    const lent = session.lost.find((seat) => session.absentee(seat) === session.kept.persons[seat]);
    if (lent !== undefined && this.live.clock.seconds > 0 && !isOver && !this.live.isClosed) {
      this.#showLent(session.lent(lent));
    } else {
      this.#showGone(isOver || me === undefined ? [] : others.filter((seat) => seat !== proposed), me);
    }
    if (isOpen && !isPending) {
      this.#giveBack(session);
    }
  }

  /**
   * Show the players who have been away for a minute, and the player whose time is over. A bot can play for one player. If
   * several players are away, they cannot consent to a bot, and only a new game is possible.
   * @param {readonly number[]} others the seats of the other players
   * @param {number | undefined} me the player's own seat
   */
  #showGone(others, me) {
    const { room, session, clock } = this.live;
    const { seats, allowsReplacement } = session.table;
    const personOf = (/** @type {number} */ seat) => seats[seat]?.secretSha256 ?? "";
    const gone = others.filter((seat) => room.hasGone(personOf(seat)));
    const late = others.find((seat) => clock.isOver(seat) && !gone.includes(seat));
    const unable = others.filter((seat) => seat === late || !room.known.people.includes(personOf(seat)));
    const seat = gone[0] ?? late;
    const canReplace = allowsReplacement && unable.length === 1 && !this.live.isClosed;
    if (seat === undefined) {
      const isMine = me !== undefined && allowsReplacement && others.length > 0 && clock.isOver(me);
      this.#tell(isMine ? t("your-time-over") : "", null);
      return;
    }
    const replace = () => this.#replace(seat);
    this.#tell(
      gone.length > 0 ? t("gone", { names: namesOf(gone) }) : t("time-over", { name: nameOfSeat(seat) }),
      canReplace
        ? button(t(gone.length > 0 ? "stand-in" : "play-for", { name: nameOfSeat(seat) }), replace, {
            class: "primary",
          })
        : gone.length > 0
          ? button(t("deal-to-present"), () => this.live.rematch().catch(this.onError))
          : null,
    );
  }

  /**
   * Tell a player that a bot plays for this player, and offer to play again.
   * @param {Table | undefined} lent the table with which the replacement began
   */
  #showLent(lent) {
    const { room } = this.live;
    if (lent) {
      const isAsked = room.asksBack(lent, room.known.person);
      const back = () => room.askBack(lent).catch(this.onError);
      this.#tell(
        t(isAsked ? "awaits-seat" : "bot-for-you"),
        isAsked ? null : button(t("take-seat-back"), back, { class: "primary" }),
      );
    }
  }

  /**
   * Show a sentence and a button about players who have gone or whose time is over, unless they are shown already.
   * @param {string} text "" to show nothing
   * @param {HTMLButtonElement | null} choice
   */
  #tell(text, choice) {
    const shown = `${text} ${choice?.textContent}`;
    this.absence.hidden = text === "";
    if (shown !== this.#gone) {
      this.#gone = shown;
      this.absence.replaceChildren(
        h("p", { role: "status" }, text),
        ...(choice ? [h("p", { class: "choices" }, choice)] : []),
      );
      if (choice) {
        this.absence.scrollIntoView({ block: "nearest" });
      }
    }
  }

  /**
   * Give a seat back to a player who has returned or, at a table with a clock, wants to play again. The first connected
   * player's browser does this.
   * @param {Session} session
   */
  #giveBack(session) {
    const { table, mine } = session;
    const { room, clock } = this.live;
    const returned = table.seats.findIndex((_, seat) => {
      const [lent, person] = [session.lent(seat), session.absentee(seat) ?? ""];
      const isWanted = clock.seconds === 0 || (lent !== undefined && room.asksBack(lent, person));
      return isWanted && room.known.people.includes(person);
    });
    const person = session.absentee(returned);
    const [me] = mine;
    if (
      me !== undefined &&
      person !== undefined &&
      this.live.patience === 0 &&
      this.#returned !== table.ply
    ) {
      this.#returned = table.ply;
      this.#ask((now) => now.replace(me, returned, { secretSha256: person }));
    }
  }

  /**
   * Return true if this browser consents to a proposal without asking its player: resignations, a bot for a player who
   * has been away for a minute or whose time is over, and the return of this player.
   * @param {Table} proposal
   */
  #isGranted({ amendment }) {
    const { room, session, clock } = this.live;
    const { replacement } = amendment ?? {};
    if (!replacement || isResignation(amendment)) {
      return replacement !== undefined;
    }
    const { seat, holder, before } = replacement;
    return holder.bot === undefined
      ? holder.secretSha256 === session.absentee(seat)
      : room.hasGone(before.secretSha256 ?? "") || clock.isOver(seat);
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
    const isAsked = session.asked.length > 0 && declined.length === 0;
    const isGranted = this.#isGranted(proposal);
    const shown = [toText(proposal.content), missing, declined, isGranted].join(" ");
    if (shown !== this.#shown) {
      this.#shown = shown;
      const what = amendmentText(amendment, this.strengths, room.known.names);
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
      this.choices.hidden = !isAsked || isGranted;
      if (!this.choices.hidden) {
        this.proposal.scrollIntoView({ block: "nearest" });
      }
    }
    const key = toText(proposal.content);
    if (isAsked && isGranted && !this.#consented.has(key)) {
      this.#consented.add(key);
      this.#consent();
    }
  }

  #resign() {
    if (confirm(t("resign-sure"))) {
      this.#ask((session, me) => session.replace(me, me, { bot: this.bot }));
    }
  }

  /** @param {number} seat */
  #replace(seat) {
    this.#ask((session, me) => session.replace(me, seat, { bot: this.bot }));
  }

  /** The bot that replaces a player: the second weakest, as in the form of a new game. */
  get bot() {
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
