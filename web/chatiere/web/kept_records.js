// Records that can be looked at without a connection: each on a shelf of its own, with all its positions.

import { Refusal } from "./api.js";
import { callOrKept, forgetShelf, hashOf, keep, kept, lookedAfter, shelves } from "./kept.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */

/** Positions that are asked for at a time. */
export const STRETCH = 16;
// The records that are kept; the ones that were looked at longest ago go.
const MOST = 20;
const PREFIX = "record-";
const RECORD = "record";

/**
 * Return the positions of a record from a ply on, as all seats and a spectator see them.
 * @param {GameRecordJson} record
 * @param {number} fromPly
 */
export async function positionsOf(record, fromPly) {
  const { players = 0, actions = [] } = record;
  const toPly = Math.min(actions.length, fromPly + STRETCH - 1);
  const include = { viewers: Array.from({ length: players }, (_, seat) => seat), spectator: true };
  return callOrKept(await shelfOf(record), "GameService/Replay", { record, fromPly, toPly, include });
}

/**
 * Keep a whole record, as soon as this page is looked after.
 * @param {GameRecordJson} record
 */
export async function keepRecord(record) {
  await lookedAfter();
  try {
    for (let ply = 0; ply <= (record.actions?.length ?? 0); ply += STRETCH) {
      await positionsOf(record, ply);
    }
  } catch (error) {
    if (error instanceof Refusal) {
      // Whoever gets to that position is told why.
      return;
    }
    throw error;
  }
  await keep(await shelfOf(record), RECORD, record);
  const all = await shelves(PREFIX);
  await Promise.all(all.slice(0, -MOST).map(forgetShelf));
}

/**
 * List the records that are kept whole, the one that was looked at last first.
 * @returns {Promise<{shelf: string, record: GameRecordJson}[]>}
 */
export async function keptRecords() {
  const found = (await shelves(PREFIX)).reverse().map(async (shelf) => {
    const record = await kept(shelf, RECORD);
    return record ? [{ shelf, record }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** @param {GameRecordJson} record */
async function shelfOf(record) {
  return PREFIX + (await hashOf(record));
}
