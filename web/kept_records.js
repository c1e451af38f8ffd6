// Records that open without a connection. Each has its own shelf with all of its positions.

import { Refusal } from "./api.js";
import { callOrKept, forgetShelf, hashOf, keep, kept, lookedAfter, shelves } from "./kept.js";

/** @import { GameRecordJson } from "#api/chatiere/v1/record_pb.js" */

/** The number of positions in one request. */
export const STRETCH = 16;
// The maximum number of stored records. The least recently shown records are deleted.
const MOST = 20;
const PREFIX = "record-";
const RECORD = "record";

/**
 * Return the positions of a record from a ply on, with the views of all seats and of a spectator.
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
 * Store a whole record as soon as a service worker controls this page.
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
      // The service refuses to replay the record. A player who opens one of these positions sees the reason.
      return;
    }
    throw error;
  }
  await keep(await shelfOf(record), RECORD, record);
  const all = await shelves(PREFIX);
  await Promise.all(all.slice(0, -MOST).map(forgetShelf));
}

/**
 * List the records that are stored completely, beginning with the most recently shown record.
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
