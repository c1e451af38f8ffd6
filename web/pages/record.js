// A record of a game, to be looked at ply by ply: one of the samples, a file, or that of a game played here.

import { call } from "../api.js";
import { h } from "../dom.js";
import { roomOf } from "../games.js";
import { nameOfSeat } from "../seat_names.js";
import { t } from "../settings.js";
import { readRecord } from "../shared/records.js";
import { tableLayout } from "../table_layout.js";
import { TableView } from "../table_view.js";
import { whyOf } from "../trouble.js";

/** @typedef {import("#api/chatiere/v1/record_pb.js").GameRecordJson} GameRecord */

// Positions that are asked for at a time.
const STRETCH = 16;
const PAUSE = 900;

// The key of a record that is no sample, which is kept as long as the page's window is open.
const OWN = "record";

/**
 * Show a record that is no sample.
 * @param {GameRecord} record
 */
export function show(record) {
  sessionStorage.setItem(OWN, JSON.stringify(record));
  location.hash = "#/record/own";
}

/**
 * Open a record: a sample by the name of its game, or the one that was given to show.
 * @param {string} _
 * @param {string} name
 * @param {string} [ply] where to begin
 * @param {string} [seat] who looks
 */
export async function open(_, name, ply = "0", seat = "all") {
  const record = name === "own" ? own() : readRecord(await sample(name));
  const room = await roomOf(record.game ?? "");
  const view = new TableView(room, { onAction: () => undefined, onAttempt: () => undefined });
  const last = record.actions?.length ?? 0;
  const players = record.players ?? 0;
  const { minPlayers = 0, maxPlayers = 0 } = room.info;
  if (!(players >= minPlayers && players <= maxPlayers)) {
    throw new Error(t("not-a-record", { why: `players: ${players}` }));
  }
  /** @type {Map<number, Promise<any>>} */
  const stretches = new Map();
  let at = Math.min(last, Number(ply) || 0);
  let wanted = at;
  let isShowing = false;
  let isOpen = true;

  const slider = h("input", {
    type: "range",
    min: 0,
    max: last,
    value: at,
    oninput: () => go(Number(slider.value)),
  });
  const count = h("output", {});
  const play = h("button", { type: "button", onclick: () => toggle() }, t("play"));
  const viewer = h(
    "select",
    { onchange: () => go(wanted) },
    h("option", { value: "all" }, t("spectator")),
    Array.from({ length: players }, (_, each) => h("option", { value: each }, nameOfSeat(each))),
  );
  viewer.value = seat;
  const step = (/** @type {number} */ by, /** @type {string} */ text, /** @type {string} */ label) =>
    h("button", { type: "button", "aria-label": label, title: label, onclick: () => go(wanted + by) }, text);
  slider.setAttribute("aria-label", t("ply"));
  const controls = h(
    "section",
    { class: "slider" },
    h("div", {}, step(-1, "◀", t("back")), play, step(1, "▶", t("forward")), count),
    slider,
    h("label", {}, h("span", {}, t("seen-by")), viewer),
  );
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {number} target */
  async function go(target) {
    wanted = Math.max(0, Math.min(last, target));
    slider.value = String(wanted);
    count.textContent = t("ply-of", { ply: wanted, last });
    // Only the newest wish is followed while a call is under way.
    if (isShowing) {
      return;
    }
    isShowing = true;
    try {
      const wish = () => `${wanted} ${viewer.value}`;
      for (let followed = ""; followed !== wish() && isOpen;) {
        followed = wish();
        const shown = wanted;
        const { viewers } = await position(shown);
        const chosen = viewer.value === "all" ? players : Number(viewer.value);
        const me = chosen < players ? chosen : undefined;
        const isNext = shown === at + 1;
        if (!isNext) {
          view.log.replaceChildren();
          view.tell(viewers[chosen].events ?? []);
        }
        view.show(viewers[chosen], { me, canAct: false }, { isNew: isNext });
        at = shown;
      }
      if (isOpen) {
        history.replaceState(null, "", `#/record/${name}/${at}/${viewer.value}`);
      }
    } catch (error) {
      view.refuse(whyOf(error));
      stop();
    } finally {
      isShowing = false;
    }
  }

  /** @param {number} ply */
  async function position(ply) {
    const first = ply - (ply % STRETCH);
    const include = { viewers: Array.from({ length: players }, (_, each) => each), spectator: true };
    const toPly = Math.min(last, first + STRETCH - 1);
    const asked =
      stretches.get(first) ?? call("GameService/Replay", { record, fromPly: first, toPly, include });
    stretches.set(first, asked);
    try {
      return (await asked).positions[ply - first];
    } catch (error) {
      stretches.delete(first);
      throw error;
    }
  }

  function stop() {
    clearTimeout(timer);
    timer = undefined;
    play.textContent = t("play");
  }

  function toggle() {
    if (timer !== undefined) {
      stop();
      return;
    }
    const next = async () => {
      timer = setTimeout(next, PAUSE);
      await go(wanted === last ? 0 : wanted + 1);
      if (wanted === last || !isOpen) {
        stop();
      }
    };
    timer = setTimeout(next, 0);
    play.textContent = t("pause");
  }

  // A record that can't be played is no part to show.
  await position(at);
  await go(at);
  return {
    element: tableLayout(view, {
      title: view.room.phrases.title,
      game: room.name,
      below: controls,
      aside: [],
    }),
    title: view.room.phrases.title,
    leave: () => {
      isOpen = false;
      clearTimeout(timer);
    },
  };
}

/** @returns {GameRecord} */
function own() {
  const text = sessionStorage.getItem(OWN);
  if (text === null) {
    throw new Error(t("no-record"));
  }
  return JSON.parse(text);
}

/** @param {string} name */
async function sample(name) {
  const response = await fetch(`samples/${name}.chatiere`);
  if (!response.ok) {
    throw new Error(t("no-record"));
  }
  return response.text();
}
