// The parts of a game's page around its table: tools, notices, links, and texts about the seats.

import { nameOfBot } from "../amendments.js";
import { button, h } from "../dom.js";
import { pasteLink, seatLink, share, tableLink } from "../links.js";
import { namesOf } from "../lists.js";
import { nameOfSeat } from "../seat_names.js";
import { t } from "../settings.js";
import { tableLayout } from "../table_layout.js";

/** @typedef {import("../session.js").Session} Session */
/** @typedef {import("../strengths.js").Strength} Strength */

/** The page of a game, without the game. */
export class PlayFrame {
  /**
   * @param {import("../table_view.js").TableView} view
   * @param {{onHint: () => void, onUndo: () => void, onPause: () => void, onLinks: () => void}} listeners `onLinks` is
   *   called when the player opens or closes the section of links, the others when the player uses a tool
   */
  constructor(view, { onHint, onUndo, onPause, onLinks }) {
    this.tools = {
      hint: button(t("ask-hint"), onHint, { "data-tool": "hint", hidden: true }),
      undo: button(t("undo"), onUndo, { "data-tool": "undo", hidden: true }),
      pause: button(t("pause"), onPause, { "data-tool": "pause", hidden: true }),
    };
    this.notice = h("div", { class: "notice", hidden: true });
    this.links = h("details", { ontoggle: onLinks }, h("summary", {}, t("links")));
    this.told = h("div", {});
    this.lookingOn = h("section", { role: "status" });
    view.bar.append(
      h("div", { class: "tools", role: "group", "aria-label": t("tools") }, ...Object.values(this.tools)),
    );
    this.element = tableLayout(view, {
      below: this.notice,
      aside: [this.lookingOn, this.told, h("section", { class: "links" }, this.links)],
    });
  }

  /**
   * Show a notice.
   * @param {...(Node | string | null)} content
   */
  tell(...content) {
    this.notice.hidden = false;
    this.notice.classList.remove("end");
    this.notice.replaceChildren(...content.filter((each) => each !== null));
  }

  /** Show that this is a practice game, in which the hint is the first tool. */
  showPractice() {
    this.tools.hint.textContent = t("show-me");
    this.tools.hint.classList.add("primary");
    this.element.querySelector(".play")?.prepend(h("p", { class: "practice" }, t("practise-more")));
  }

  /**
   * Show the tools that can be used now.
   * @param {Session} session
   * @param {{canAct: boolean, isOver: boolean, isLive: boolean}} how
   */
  showTools(session, { canAct, isOver, isLive }) {
    const people = session.table.seats.some(({ bot }) => bot === undefined);
    this.tools.hint.hidden = !canAct;
    this.tools.undo.hidden = isLive || !session.canUndo;
    this.tools.pause.hidden = people || isOver;
  }

  /**
   * Show which seats were given to another player, and whether this screen has no player.
   * @param {Session} session
   * @param {readonly Strength[]} strengths
   * @param {boolean} hasClock true at a table with a clock, where the room's notice says that a bot plays for the player
   */
  showSeats(session, strengths, hasClock) {
    const { mine, lost: all, table, kept } = session;
    const lost = all.filter((seat) => !hasClock || session.absentee(seat) !== kept.persons[seat]);
    const isLookingOn =
      mine.length === 0 && lost.length === all.length && table.seats.some(({ bot }) => bot === undefined);
    const given = lost.map((seat) => {
      const { bot } = table.seats[seat] ?? {};
      if (bot === undefined) {
        return t("seat-given", { name: nameOfSeat(seat) });
      }
      const returns = session.absentee(seat) === kept.persons[seat];
      return t(returns ? "seat-lent-to-bot" : "seat-given-to-bot", { bot: nameOfBot(bot, strengths) });
    });
    const lines = [...given, ...(isLookingOn ? [t("looking-on")] : [])];
    this.lookingOn.hidden = lines.length === 0;
    if (this.lookingOn.textContent !== lines.join("")) {
      this.lookingOn.replaceChildren(...lines.map((line) => h("p", {}, line)));
    }
  }

  /**
   * Show the links of a game in their section. A closed section must not contain the private link.
   * @param {Session} session
   * @param {{viewer: number | undefined, isLive: boolean}} how `viewer` is the seat that views the table
   */
  showLinks(session, { viewer, isLive }) {
    const { allowsReplacement, asksNext, seats } = session.table;
    const made = seats.flatMap(({ isMadeByService }, seat) => (isMadeByService ? [seat] : []));
    const shown = this.links.open
      ? [
          h("p", {}, t(asksNext ? "mode-next" : "mode-none")),
          allowsReplacement && h("p", {}, t("mode-replacement")),
          !session.isAlone && !isLive && h("p", {}, t("needs-room")),
          made.length > 0 && h("p", {}, t("made-by-service", { names: namesOf(made) })),
          share(t("table-link"), tableLink(session)),
          viewer !== undefined &&
            share(t("seat-link-private", { name: nameOfSeat(viewer) }), seatLink(session, viewer), {
              isPrivate: true,
            }),
          pasteLink(),
        ]
      : [];
    this.links.replaceChildren(
      h("summary", {}, t("links")),
      ...shown.flatMap((each) => (each === false ? [] : [each])),
    );
  }
}
