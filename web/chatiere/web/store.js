// The things that this browser keeps: of each table the tables of all plies, the secrets of one's seats, its promises;
// invitations and rooms. It is all in local storage, where a page that is closed, or a service that stops, does no harm.

/**
 * The facts that are kept of a table beside its plies. `seats`: secrets by seat, base64url; `newest`: the ply of the newest table;
 * `changed`: when it was last used; `isOver`: whether the game is.
 * @typedef {{game: string, seats: Record<string, string>, newest: number, changed: number, isOver: boolean}} Kept
 */
/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */
/** @typedef {import("./shared/invitations.js").InvitedSeat} InvitedSeat */
/**
 * Seats that are being filled. `secrets`: those of this browser, by hash. `isMine`: whether this browser makes the table.
 * @typedef {{
 *   game: string, asksNext: boolean, seats: InvitedSeat[], options?: OptionsJson | undefined, secrets: Record<string, string>,
 *   isMine: boolean, changed: number,
 * }} Invitation
 */
/**
 * The knowledge of a browser about a room. `secret`: the person's, and `person`, its SHA-256; `role`: the part that the person has chosen;
 * `isHost`: whether this browser deals; `names`: by person; `replies`: the persons who accept, in order, by the id of an invitation;
 * `people`: who is here, and `onlookers`: how many beside them; `options`: those that the host deals with; `terms`: the table that tells what
 * is to be played, and the options that the service sees there, once it was asked; `tables`: ids, the newest game last; `since`: when the newest table came.
 * @typedef {{
 *   game: string, players: number, secret: string, person: string, role?: "seat" | "onlooker", isHost: boolean,
 *   names: Record<string, string>, replies: Record<string, string[]>, people: string[], onlookers: number, isConnected: boolean,
 *   options?: OptionsJson | undefined, terms?: {table: string, options?: OptionsJson} | undefined, tables: string[], since: number,
 *   changed: number,
 * }} Room
 */

const TABLE = "chatiere table ";
const PROMISE = "chatiere promise ";
const INVITATION = "chatiere invitation ";
const ROOM = "chatiere room ";
const ROOM_ID = /^[\w-]{22}$/;
const TABLE_ID = /^[0-9a-f]{32}$/;
const INVITATION_ID = /^[0-9a-f]{16}$/;

/** There is no room left in local storage. */
export class StorageFull extends Error {}

/**
 * Return the key under which a table is kept, as events of local storage name it.
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
  const isSound = typeof kept?.game === "string" && typeof kept.newest === "number" && isObject(kept.seats);
  return isSound ? kept : undefined;
}

/**
 * List the tables of this browser, the one used last first.
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
  put(TABLE + id, JSON.stringify(kept), id);
}

/**
 * Return the table of a ply as text.
 * @param {string} id
 * @param {number} ply
 */
export function plyOf(id, ply) {
  return localStorage.getItem(`${TABLE}${id} ${ply}`) ?? undefined;
}

/**
 * @param {string} id
 * @param {number} ply
 * @param {string} text
 */
export function keepPly(id, ply, text) {
  put(`${TABLE}${id} ${ply}`, text, id);
}

/**
 * Forget the tables of all plies above one, whoever has kept them.
 * @param {string} id
 * @param {number} ply
 */
export function forgetAbove(id, ply) {
  const prefix = `${TABLE}${id} `;
  for (const key of keysFrom(prefix)) {
    if (Number(key.slice(prefix.length)) > ply) {
      localStorage.removeItem(key);
    }
  }
}

/**
 * Forget a table and its secrets, but not what its seats have promised.
 * @param {string} id
 */
export function forgetTable(id) {
  for (const key of keysFrom(TABLE + id)) {
    localStorage.removeItem(key);
  }
}

/**
 * Keep a promise of a seat, unless there is one under its key already: return the one that is kept.
 * @param {number} seat
 * @param {string} key the table's id and the ply
 * @param {string} hash of the table that the seat has acknowledged or made
 * @returns {Promise<string>}
 */
export async function keepPromise(seat, key, hash) {
  const name = `${PROMISE}${seat} ${key}`;
  const keep = () => {
    const kept = localStorage.getItem(name);
    if (kept === null) {
      put(name, hash, key.split(" ")[0]);
    }
    return kept ?? hash;
  };
  // Two windows of one browser must not promise different tables.
  return navigator.locks ? navigator.locks.request(name, keep) : keep();
}

/**
 * Return what a seat has promised at a table, by ply.
 * @param {string} id
 * @param {number} seat
 * @returns {[number, string][]}
 */
export function promisesOf(id, seat) {
  const prefix = `${PROMISE}${seat} ${id} `;
  return keysFrom(prefix).map((key) => [Number(key.slice(prefix.length)), localStorage.getItem(key) ?? ""]);
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
  localStorage.removeItem(INVITATION + id);
}

/**
 * Return the key under which a room is kept, as events of local storage name it.
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
 * List the rooms of this browser, the one used last first.
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
 * Return the room of a table that is played live, by its id; undefined if there is none.
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
  put(ROOM + id, JSON.stringify({ ...room, changed: Date.now() }));
}

/** @param {string} id */
export function forgetRoom(id) {
  localStorage.removeItem(ROOM + id);
}

/** @param {string} prefix */
function keysFrom(prefix) {
  return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
}

/**
 * Read what was kept; what is damaged counts as missing.
 * @param {string} key
 */
function read(key) {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "null");
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
 * Write to local storage; where it is full, tables of finished games make room. Throws StorageFull.
 * @param {string} key
 * @param {string} text
 * @param {string} [id] the table that must stay
 */
function put(key, text, id) {
  for (;;) {
    try {
      localStorage.setItem(key, text);
      return;
    } catch {
      const oldest = listTables().findLast((each) => each.isOver && each.id !== id);
      if (!oldest) {
        throw new StorageFull();
      }
      forgetTable(oldest.id);
    }
  }
}
