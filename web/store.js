// What this browser keeps: of each table the tables of all plies, the secrets of one's seats, what was acknowledged; and
// invitations. It is all in local storage, where a page that is closed, or a service that stops, does no harm.

/**
 * What is kept of a table beside its plies. `seats`: secrets by seat, base64url; `newest`: the ply of the newest table;
 * `changed`: when it was last used; `isOver`: whether the game is.
 * @typedef {{game: string, seats: Record<string, string>, newest: number, changed: number, isOver: boolean}} Kept
 */
/**
 * Seats that are being filled. `seats`: "bot …", the hash of a seat's secret, or null as long as nobody took it. `secrets`:
 * those of this browser, by hash. `isMine`: whether this browser makes the table.
 * @typedef {{game: string, asksNext: boolean, seats: (string | null)[], secrets: Record<string, string>,
 *   isMine: boolean, changed: number}} Invitation
 */

const TABLE = "table ";
const INVITATION = "invitation ";

/** @param {string} id @returns {Kept | undefined} */
export function tableOf(id) {
  return read(TABLE + id);
}

/** List the tables of this browser, the one used last first. @returns {(Kept & {id: string})[]} */
export function listTables() {
  return keysFrom(TABLE)
    .filter((key) => !key.slice(TABLE.length).includes(" "))
    .map((key) => ({ id: key.slice(TABLE.length), ...read(key) }))
    .sort((a, b) => b.changed - a.changed);
}

/** @param {string} id @param {Kept} kept */
export function keepTable(id, kept) {
  write(TABLE + id, kept, id);
}

/** Return the table of a ply as text. @param {string} id @param {number} ply */
export function plyOf(id, ply) {
  return localStorage.getItem(`${TABLE}${id} ${ply}`) ?? undefined;
}

/** @param {string} id @param {number} ply @param {string} text */
export function keepPly(id, ply, text) {
  put(`${TABLE}${id} ${ply}`, text, id);
}

/** Forget the tables of all plies above one. @param {string} id @param {number} ply @param {number} newest */
export function forgetAbove(id, ply, newest) {
  for (let each = ply + 1; each <= newest; each++) {
    localStorage.removeItem(`${TABLE}${id} ${each}`);
  }
}

/** Forget a table, secrets and all. @param {string} id */
export function forgetTable(id) {
  for (const key of keysFrom(TABLE + id)) {
    localStorage.removeItem(key);
  }
}

/**
 * Keep which table of a ply a seat has acknowledged or made, unless one is kept: return the one that is.
 * @param {string} id @param {number} seat @param {number} ply @param {string} base
 * @returns {Promise<string>}
 */
export async function keepPromise(id, seat, ply, base) {
  const key = `${TABLE}${id} promise ${seat} ${ply}`;
  const keep = () => {
    const kept = localStorage.getItem(key);
    if (kept === null) {
      put(key, base, id);
    }
    return kept ?? base;
  };
  // Two windows of one browser must not promise different tables.
  return navigator.locks ? navigator.locks.request(`chatiere ${key}`, keep) : keep();
}

/** Return what a seat has promised, by ply. @param {string} id @param {number} seat @returns {[number, string][]} */
export function promisesOf(id, seat) {
  const prefix = `${TABLE}${id} promise ${seat} `;
  return keysFrom(prefix).map((key) => [Number(key.slice(prefix.length)), localStorage.getItem(key) ?? ""]);
}

/** @param {string} id @returns {Invitation | undefined} */
export function invitationOf(id) {
  return read(INVITATION + id);
}

/** @returns {(Invitation & {id: string})[]} */
export function listInvitations() {
  return keysFrom(INVITATION)
    .map((key) => ({ id: key.slice(INVITATION.length), ...read(key) }))
    .sort((a, b) => b.changed - a.changed);
}

/** @param {string} id @param {Invitation} invitation */
export function keepInvitation(id, invitation) {
  write(INVITATION + id, invitation);
}

/** @param {string} id */
export function forgetInvitation(id) {
  localStorage.removeItem(INVITATION + id);
}

/** @param {string} prefix */
function keysFrom(prefix) {
  return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
}

/** @param {string} key */
function read(key) {
  const text = localStorage.getItem(key);
  return text === null ? undefined : JSON.parse(text);
}

/** @param {string} key @param {object} value @param {string} [id] */
function write(key, value, id) {
  put(key, JSON.stringify(value), id);
}

/**
 * Write to local storage; where it is full, tables of finished games make room.
 * @param {string} key @param {string} text @param {string} [id] the table that must stay
 */
function put(key, text, id) {
  for (;;) {
    try {
      localStorage.setItem(key, text);
      return;
    } catch (error) {
      const oldest = listTables().findLast((each) => each.isOver && each.id !== id);
      if (!oldest) {
        throw error;
      }
      forgetTable(oldest.id);
    }
  }
}
