// The end of a game: the winner, the reason, the totals, and the next steps.

import { catFace } from "../art/cats.js";
import { icon } from "../art/shapes.js";
import { button, h } from "../dom.js";
import { share, tableLink } from "../links.js";
import { Session } from "../session.js";
import { t } from "../settings.js";
import { packed } from "../shared/bytes.js";

/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */

/**
 * The part of a table's page that the end needs.
 * @typedef {{
 *   session: Session, view: import("../table_view.js").TableView,
 *   options: OptionsJson | undefined, fail: (error: unknown) => void,
 *   live?: import("../rooms/live_table.js").LiveTable | undefined,
 * }} Playing
 */

/**
 * Return the contents of the notice that a game is over.
 * @param {Playing} playing
 * @param {import("../game.js").ViewerUpdate} update
 * @param {{won: string, why: string, me: number | undefined}} told `won` is the text of the result, `why` its reason,
 *   `me` the viewer's seat
 * @returns {(Node | null)[]}
 */
export function ending(playing, update, { won, why, me }) {
  const winner = update.score?.winners?.[0] ?? 0;
  const shared = h("div", { hidden: true });
  const showShared = () => {
    shared.replaceChildren(share(t("table-link"), tableLink(playing.session)));
    shared.hidden = !shared.hidden;
  };
  return [
    icon(80, catFace(winner, 80, "happy")),
    h("h2", {}, won),
    h("p", {}, why),
    playing.view.scoreTable(me),
    h(
      "p",
      { class: "choices" },
      againButton(playing),
      ...recordButtons(playing),
      button(t("share"), showShared),
      h("a", { class: "button", href: "#/" }, t("home")),
    ),
    shared,
  ];
}

/**
 * Return the button for a new game with the same settings. It begins the game immediately if no other person has to be
 * invited.
 * @param {Playing} playing
 */
function againButton(playing) {
  const { session, options, live } = playing;
  const bots = session.table.seats.map(({ bot }) => bot);
  const { game } = session.kept;
  if (live) {
    return live.rematchButton((error) => playing.fail(error), options);
  }
  if (!session.isAlone) {
    const href = newGameLink(session, options);
    return h("a", { class: "button primary", href }, t("again"));
  }
  const again = async () => {
    try {
      location.hash = `#/play/${(await Session.beginHere(game, bots, options)).id}`;
    } catch (error) {
      playing.fail(error);
    }
  };
  return button(t("again"), again, { class: "primary" });
}

/**
 * Return the address of the form for a new game, filled in with a table's players, trust and options.
 * @param {Session} session
 * @param {OptionsJson | undefined} options
 */
export function newGameLink({ kept, table, mine }, options) {
  const seats = table.seats.map(({ bot }, seat) =>
    bot === undefined ? (seat === mine[0] ? "me" : mine.includes(seat) ? "here" : "link") : bot,
  );
  const trust = table.asksNext ? "next" : "none";
  const chosen = options === undefined ? "" : `/${packed(options)}`;
  return `#/new/${kept.game}/${encodeURIComponent(seats.join(" "))}/${trust}${chosen}`;
}

/**
 * Return the buttons that show and save the record.
 * @param {Playing} playing
 */
function recordButtons(playing) {
  const { session } = playing;
  const record = async () => {
    try {
      return await session.record();
    } catch (error) {
      playing.fail(error);
      return undefined;
    }
  };
  const watch = async () => {
    const found = await record();
    if (found?.record) {
      const { show } = await import("./shown_record.js");
      const [seat] = session.mine;
      show(
        found.record,
        seat === undefined || session.mine.length > 1 ? undefined : { id: session.id, seat },
      );
    }
  };
  const save = async () => {
    const found = await record();
    if (found) {
      const url = URL.createObjectURL(new Blob([JSON.stringify(found)], { type: "application/json" }));
      h("a", { href: url, download: `${session.kept.game}-${session.id.slice(0, 8)}.json` }).click();
      URL.revokeObjectURL(url);
    }
  };
  return [button(t("see-record"), watch), button(t("save-record"), save)];
}
