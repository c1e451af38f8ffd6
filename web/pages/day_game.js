// The game of the day: the same deal for all players, against the same bots. Bots choose the same actions for all
// players who make the same moves.

import { call } from "../api.js";
import { dateOf, dayIn, gameOfDay, today } from "../days.js";
import { button, h } from "../dom.js";
import { kitOf, listBots } from "../games.js";
import { loadWords, textIn } from "../settings.js";
import { middleOf } from "../strengths.js";
import { tableLayout } from "../table_layout.js";
import { TableView } from "../table_view.js";
import { idOfDay, keepDay, keepGame, keepMovesOfDay, movesOfDay } from "../yours/results.js";
import { PlayOn } from "./play_on.js";
import { show } from "./shown_record.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */
/** @typedef {import("../game.js").ViewerUpdate} ViewerUpdate */

// The player's seat.
const SEAT = 0;
// The number of plies whose events a returning player sees in the log.
const CAUGHT_UP_PLIES = 12;
// The distance between the first seeds of successive days. It is larger than the number of plies of any game.
const SEEDS = 65_536;

/**
 * Open the game of a day.
 * @param {string} _
 * @param {string} [word] the day; by default today
 */
export async function open(_, word) {
  const day = dayIn(word);
  const name = gameOfDay(day);
  const [kit, listed] = await Promise.all([kitOf(name), listBots(name), loadWords("yours")]);
  const { minPlayers: players = 2, rulesVersion } = kit.info;
  const bot = middleOf(listed, players);
  const actions = movesOfDay(day);
  const record = {
    game: name,
    ...(rulesVersion && { rulesVersion }),
    players,
    stream: { seed: String(day) },
    actions,
  };
  const { positions = [] } = await call("GameService/Replay", {
    record,
    fromPly: Math.max(0, actions.length - CAUGHT_UP_PLIES),
    toPly: actions.length,
    include: { viewers: [SEAT] },
  });
  const view = new TableView(kit, {
    onAction: (action) => game.act(action),
    onAttempt: (action) => game.attempt(action),
    onMoment: () => undefined,
  });
  const end = h("div", { class: "notice end", hidden: true });
  const game = new PlayOn(view, {
    seat: SEAT,
    ply: actions.length,
    bot,
    players,
    seed: day * SEEDS,
    onMove(id) {
      actions.push(id);
      keepMovesOfDay(day, actions);
    },
    onOver(update) {
      keepResult(day, record, bot.bot, update);
      showEnd(end, view, day, record);
    },
  });
  const text = textIn("yours", "playing-day", { date: dateOf(day), bot: bot.name });
  const above = h("p", { class: "practice" }, text);
  const element = tableLayout(view, { above, below: h("div", {}, game.element, end) });
  positions.slice(0, -1).forEach(({ updates = [] }, index) => {
    view.tell(updates[0]?.events ?? [], actions.length - positions.length + 1 + index);
  });
  await game.begin(positions.at(-1)?.state);
  return { element, title: kit.phrases.title, leave: () => game.leave() };
}

/**
 * Store the result, if the game is over on its own day.
 * @param {number} day
 * @param {GameRecordJson} record
 * @param {string} bot
 * @param {ViewerUpdate} update
 */
function keepResult(day, { game = "", players = 0 }, bot, { score = {} }) {
  if (day === today()) {
    keepDay(day, "game", score.ranks?.[SEAT] ?? 1);
    keepGame({
      id: idOfDay(day),
      game,
      seats: Array.from({ length: players }, (_, seat) => (seat === SEAT ? null : bot)),
      seat: SEAT,
      won: score.winners?.includes(SEAT) ?? false,
      total: score.totals?.[SEAT]?.total ?? 0,
      time: Date.now(),
    });
  }
}

/**
 * Show the totals and the next steps.
 * @param {HTMLElement} end
 * @param {TableView} view
 * @param {number} day
 * @param {GameRecordJson} record
 */
function showEnd(end, view, day, record) {
  end.hidden = false;
  end.replaceChildren(
    view.scoreTable(SEAT) ?? "",
    h(
      "p",
      { class: "choices" },
      h("a", { class: "button primary", href: `#/today/${day}` }, textIn("yours", "today")),
      button(textIn("yours", "see-game"), () => show(record, { id: idOfDay(day), seat: SEAT })),
    ),
  );
}
