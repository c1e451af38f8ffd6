// The data stored in this browser: invitations, rooms and, for each game, the tables of all plies and the player's
// secrets and promises. The data is in local storage, so that it survives when the page is closed or the service stops.

import * as storage from "./storage.js";

/**
 * The data stored for a game, in addition to its tables.
 * @typedef {object} Kept
 * @property {string} game
 * @property {Record<string, string>} seats the secrets by seat, in base64url
 * @property {Record<string, string>} persons the SHA-256 of each secret by seat, as in the seat's holder
 * @property {number} newest the ply of the newest table
 * @property {number} changed the time of the last use, in milliseconds since 1970
 * @property {boolean} isOver true if the game is over
 */
/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */
/** @import { RoomSettingsJson } from "#api/chatiere/v1/room_service_pb.js" */
/** @typedef {import("./shared/invitations.js").InvitedSeat} InvitedSeat */
/**
 * An invitation: seats that are being filled.
 * @typedef {object} Invitation
 * @property {string} game
 * @property {boolean} asksNext true if the next player has to acknowledge each table
 * @property {InvitedSeat[]} seats
 * @property {OptionsJson | undefined} [options]
 * @property {Record<string, string>} secrets this browser's secrets, by hash
 * @property {boolean} isMine true if this browser's player is the host
 * @property {number} changed the time of the last use, in milliseconds since 1970
 */
/**
 * The data stored for a room.
 * @typedef {object} Room
 * @property {string} game
 * @property {number} players
 * @property {string} secret the person's secret
 * @property {string} person the SHA-256 of the secret
 * @property {"seat" | "onlooker"} [role] the role that the person has chosen
 * @property {boolean} isHost true if this browser's player is the host
 * @property {Record<string, string>} names the name of each person
 * @property {Record<string, string[]>} replies the persons who accept an invitation, in order, by the invitation's id
 * @property {string[]} people the persons who are present
 * @property {Record<string, number>} [away] the time from which each absent person is known to be absent, in milliseconds
 *   since 1970
 * @property {number} onlookers the number of spectators without a name
 * @property {boolean} isConnected
 * @property {boolean} [isGuests] true if the first game was started by guests, because the host had gone
 * @property {RoomSettingsJson | undefined} [settings] the host's choice of game and options
 * @property {number} [clock] the time for a decision in seconds, chosen before the first game; 0 without a clock
 * @property {number} [offset] the service's time minus this browser's time, in milliseconds
 * @property {string[]} tables the ids of the room's games, in order
 * @property {number} since the time at which the room accepted a table, in milliseconds since 1970
 * @property {string} [timed] the id and ply of this table
 * @property {number} changed the time of the last change, in milliseconds since 1970
 */

const TABLE = "chatiere table ";
const PROPOSAL = " proposal";
const PROMISE = "chatiere promise ";
const INVITATION = "chatiere invitation ";
const ROOM = "chatiere room ";
const ROOM_ID = /^[\w-]{22}$/;
const TABLE_ID = /^[0-9a-f]{32}$/;
const INVITATION_ID = /^[0-9a-f]{16}$/;

/** Thrown if local storage is full. */
export class StorageFull extends Error {}

/**
 * Return the key of a game's data in local storage. Storage events contain the key.
 * @param {string} id
 */
export function keyOf(id) {
  return TABLE + id;
}

/**
 * @param {string} id
 * @returns {Kept | undefined}
 */
export function tableOf(id) {
  const kept = TABLE_ID.test(id) ? read(TABLE + id) : undefined;
  const isSound =
    typeof kept?.game === "string" &&
    typeof kept.newest === "number" &&
    isObject(kept.seats) &&
    isObject(kept.persons);
  return isSound ? kept : undefined;
}

/**
 * List the games of this browser, beginning with the most recently used game.
 * @returns {(Kept & {id: string})[]}
 */
export function listTables() {
  return keysFrom(TABLE)
    .flatMap((key) => {
      const id = key.slice(TABLE.length);
      const kept = tableOf(id);
      return kept ? [{ ...kept, id }] : [];
    })
    .sort((a, b) => b.changed - a.changed);
}

/**
 * @param {string} id
 * @param {Kept} kept
 */
export function keepTable(id, kept) {
  put(TABLE + id, JSON.stringify(kept), { id, isNeeded: isPlayer(kept) });
}

/**
 * Return the table of a ply as text, or undefined if this browser does not have it.
 * @param {string} id
 * @param {number} ply
 */
export function plyOf(id, ply) {
  return storage.read(`${TABLE}${id} ${ply}`);
}

/**
 * @param {string} id
 * @param {number} ply
 * @param {string} text
 */
export function keepPly(id, ply, text) {
  put(`${TABLE}${id} ${ply}`, text, { id, isNeeded: isPlayer(tableOf(id)) });
}

/**
 * Return the proposal of a game as text: an amended table that is not open yet.
 * @param {string} id
 */
export function proposalOf(id) {
  return storage.read(TABLE + id + PROPOSAL);
}

/**
 * @param {string} id
 * @param {string} text
 */
export function keepProposal(id, text) {
  put(TABLE + id + PROPOSAL, text, { id, isNeeded: isPlayer(tableOf(id)) });
}

/** @param {string} id */
export function forgetProposal(id) {
  storage.remove(TABLE + id + PROPOSAL);
}

/**
 * Delete the tables of all plies above a ply, including tables that another window has stored.
 * @param {string} id
 * @param {number} ply
 */
export function forgetAbove(id, ply) {
  const prefix = `${TABLE}${id} `;
  for (const key of keysFrom(prefix)) {
    if (Number(key.slice(prefix.length)) > ply) {
      storage.remove(key);
    }
  }
}

/**
 * Delete a game's tables and secrets. Its seats' promises remain.
 * @param {string} id
 */
export function forgetTable(id) {
  for (const key of keysFrom(TABLE + id)) {
    storage.remove(key);
  }
}

/**
 * Store a promise of a seat, unless there is one under its key already.
 * @param {number} seat
 * @param {string} key the table's id and the ply
 * @param {string} hash the hash of the table that the seat has acknowledged or made
 * @returns {Promise<string>} the stored promise
 */
export async function keepPromise(seat, key, hash) {
  const name = `${PROMISE}${seat} ${key}`;
  const keep = () => {
    const kept = storage.read(name);
    if (kept === undefined) {
      put(name, hash, { id: key.split(" ")[0] ?? "" });
    }
    return kept ?? hash;
  };
  // Two windows of one browser must not promise different tables.
  return storage.locks()?.request(name, keep) ?? keep();
}

/**
 * Return a seat's promises at a table, by ply.
 * @param {string} id
 * @param {number} seat
 * @returns {[number, string][]}
 */
export function promisesOf(id, seat) {
  const prefix = `${PROMISE}${seat} ${id} `;
  return keysFrom(prefix).map((key) => [Number(key.slice(prefix.length)), storage.read(key) ?? ""]);
}

/**
 * @param {string} id
 * @returns {Invitation | undefined}
 */
export function invitationOf(id) {
  const kept = INVITATION_ID.test(id) ? read(INVITATION + id) : undefined;
  const isSound = typeof kept?.game === "string" && Array.isArray(kept.seats) && isObject(kept.secrets);
  return isSound ? kept : undefined;
}

/** @returns {(Invitation & {id: string})[]} */
export function listInvitations() {
  return keysFrom(INVITATION)
    .flatMap((key) => {
      const id = key.slice(INVITATION.length);
      const kept = invitationOf(id);
      return kept ? [{ ...kept, id }] : [];
    })
    .sort((a, b) => b.changed - a.changed);
}

/**
 * @param {string} id
 * @param {Invitation} invitation
 */
export function keepInvitation(id, invitation) {
  put(INVITATION + id, JSON.stringify(invitation));
}

/** @param {string} id */
export function forgetInvitation(id) {
  storage.remove(INVITATION + id);
}

/**
 * Return the key of a room's data in local storage. Storage events contain the key.
 * @param {string} id
 */
export function keyOfRoom(id) {
  return ROOM + id;
}

/**
 * @param {string} id
 * @returns {Room | undefined}
 */
export function roomOf(id) {
  const kept = ROOM_ID.test(id) ? read(ROOM + id) : undefined;
  return typeof kept?.secret === "string" && Array.isArray(kept.tables) ? kept : undefined;
}

/**
 * List the rooms of this browser, beginning with the most recently used room.
 * @returns {(Room & {id: string})[]}
 */
export function listRooms() {
  return keysFrom(ROOM)
    .flatMap((key) => {
      const id = key.slice(ROOM.length);
      const kept = roomOf(id);
      return kept ? [{ ...kept, id }] : [];
    })
    .sort((a, b) => b.changed - a.changed);
}

/**
 * Return the id of the room of a table that is played live, or undefined if the table has no room.
 * @param {string} table
 */
export function roomOfTable(table) {
  return listRooms().find(({ tables }) => tables.includes(table))?.id;
}

/**
 * @param {string} id
 * @param {Room} room
 */
export function keepRoom(id, room) {
  put(ROOM + id, JSON.stringify({ ...room, changed: Date.now() }), {
    isNeeded: room.isHost || room.role === "seat",
  });
}

/** @param {string} id */
export function forgetRoom(id) {
  storage.remove(ROOM + id);
}

/** @param {string} prefix */
function keysFrom(prefix) {
  return storage.keys().filter((key) => key.startsWith(prefix));
}

/**
 * Read a stored object. Damaged data is treated as missing.
 * @param {string} key
 */
function read(key) {
  try {
    const kept = JSON.parse(storage.read(key) ?? "null");
    return isObject(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Write to local storage. If it is full, delete the least recently used games that are over. Throws StorageFull.
 * @param {string} key
 * @param {string} text
 * @param {{id?: string, isNeeded?: boolean}} [how] `id` is the table that must not be deleted, `isNeeded` is false if the
 *   text may be forgotten when the page is closed, because the person only watches
 */
function put(key, text, { id, isNeeded = true } = {}) {
  for (;;) {
    try {
      storage.write(key, text);
      return;
    } catch {
      const oldest = listTables().findLast((each) => each.isOver && each.id !== id);
      if (oldest) {
        forgetTable(oldest.id);
      } else if (isNeeded) {
        throw new StorageFull();
      } else {
        storage.remember(key, text);
        return;
      }
    }
  }
}

/**
 * Return true if this browser holds a seat of a table.
 * @param {Kept | undefined} kept
 */
function isPlayer(kept) {
  return Object.keys(kept?.seats ?? {}).length > 0;
}
