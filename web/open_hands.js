// The hands of all seats once a game is over. The game's record contains the view of each seat.

import { call } from "./api.js";

/** @typedef {import("./game.js").Field} Field */
/** @typedef {import("./game.js").ViewerUpdate} ViewerUpdate */
/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */

/**
 * Return the last view of a game that a seat would have if all hands were open. Throws Refusal.
 * @param {GameRecordJson} record
 * @param {Field} field
 * @param {number | undefined} me the viewer's seat, or undefined for a spectator
 */
export async function openEnd(record, field, me) {
  const { actions = [], players = 0 } = record;
  const include = {
    score: true,
    viewers: Array.from({ length: players }, (_, seat) => seat),
    spectator: true,
  };
  const { positions = [] } = await call("GameService/Replay", { record, fromPly: actions.length, include });
  return opened(positions[0]?.updates ?? [], field, me);
}

/**
 * Return the view that a seat would have if all hands were open.
 * @param {readonly ViewerUpdate[]} updates the updates of all seats in order, then of a spectator
 * @param {Field} field
 * @param {number | undefined} me the viewer's seat, or undefined for a spectator
 * @returns {ViewerUpdate}
 */
export function opened(updates, field, me) {
  const own = updates[me ?? updates.length - 1] ?? {};
  const views = updates.map(({ view }) => /** @type {Record<string, unknown>} */ (view?.[field] ?? {}));
  const mine = /** @type {Record<string, unknown>} */ (own.view?.[field] ?? {});
  /** @type {Record<string, unknown>} */
  const whole = { ...mine };
  for (const [name, value] of Object.entries(mine)) {
    if (name === "seats" && Array.isArray(value)) {
      // The hand of a seat is in its own view.
      whole[name] = value.map((each, seat) => listIn(views[seat], name)[seat] ?? each);
    } else if (Array.isArray(value) && value.every((each) => typeof each === "object")) {
      whole[name] = value.map((each, index) =>
        Object.assign({}, ...views.map((view) => listIn(view, name)[index]), each),
      );
    }
  }
  return { ...own, view: { ...own.view, [field]: whole } };
}

/**
 * @param {Record<string, unknown> | undefined} view
 * @param {string} name
 * @returns {readonly object[]}
 */
function listIn(view, name) {
  const list = view?.[name];
  return Array.isArray(list) ? list : [];
}
