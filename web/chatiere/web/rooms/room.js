// A room of people who play live, as this browser has it: what is posted there is kept in local storage, where all windows of
// the browser see it. One of them follows the room, where browsers have locks; else each does.

import { call, Refusal, Unavailable } from "../api.js";
import { random } from "../bytes.js";
import { newSecret, newTable, Session, tableIn } from "../session.js";
import { t } from "../settings.js";
import { fromHex, fromText, toHex, toText } from "../shared/bytes.js";
import { ForkError } from "../shared/fork_error.js";
import { postingOrder } from "../shared/posting.js";
import * as store from "../store.js";
import { follow } from "./follow.js";

/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */
/** @import { FollowResponseJson, RoomEntryJson } from "#api/chatiere/v1/room_service_pb.js" */

const ID_SIZE = 16;
const FIRST_PAUSE = 100;
const MAX_PAUSE = 5000;
/** The milliseconds without a response after which the connection counts as broken: the service sends one every 15 s. */
const SILENCE = 45_000;
const DOUBTFUL = 18_000;
/** HTTP's status where there is no such method. */
const NOT_FOUND = 404;
/** The invitation of every room of the page: its id is a secret of the room's people already. */
const INVITATION = "0".repeat(16);

/**
 * Make a room for a game of this browser's player; return its id. Throws Refusal for options that it can't begin with.
 * @param {string} game
 * @param {number} players
 * @param {OptionsJson} [options] those of its first game
 */
export async function newRoom(game, players, options) {
  const id = toText(random(ID_SIZE));
  const { secret, hash } = await newSecret();
  // A table that is closed from the beginning: it tells whoever comes what is to be played, in the service's own words.
  const seats = Array.from({ length: players }, (_, seat) => (seat === 0 ? { hash } : {}));
  const terms = await newTable({ game, seats, asksNext: false, options });
  await knownRoom(id, game, players, { isHost: true, options, secret, terms });
  return id;
}

/**
 * Let a room be known to this browser, unless it is already.
 * @param {string} id
 * @param {string} game
 * @param {number} players
 * @param {{isHost?: boolean, options?: OptionsJson | undefined, terms?: string, secret?: string, table?: string}} [known] whether
 *   this browser deals, with which options, and the table that tells them; a secret that the person has already, and the table that
 *   is played, for one who comes from another device
 */
export async function knownRoom(
  id,
  game,
  players,
  { isHost = false, options, terms, secret: own, table } = {},
) {
  if (!store.roomOf(id)) {
    const { secret, hash } = await newSecret(own);
    store.keepRoom(id, {
      ...{ game, players, secret, person: hash, isHost, names: {}, replies: {}, people: [], onlookers: 0 },
      ...{ isConnected: false, tables: table === undefined ? [] : [table], since: Date.now(), changed: 0 },
      ...(table !== undefined && { role: "seat" }),
      ...(options && { options }),
      ...(terms !== undefined && {
        terms: { table: terms },
        replies: { [closing(tableIn(terms).id)]: [hash] },
      }),
    });
  }
}

/** Tells of each `change`, and of what can't be mended as `error`. */
export class Room extends EventTarget {
  #leaving = new AbortController();
  #connection = new AbortController();
  /** @type {() => void} */
  #resume = () => undefined;
  #heard = 0;
  /** @type {Map<string, string>} the tables that the room is known to hold, by id and ply */
  #there = new Map();
  /** @type {Promise<void>} */
  #posting = Promise.resolve();

  /** @param {string} id */
  constructor(id) {
    super();
    this.id = id;
  }

  /** The contents of the room, as far as they are known. */
  get known() {
    return /** @type {store.Room} */ (store.roomOf(this.id));
  }

  /** The persons who want seats, in the order in which they came. */
  get seated() {
    return this.known.replies[INVITATION] ?? [];
  }

  /** The number of those who look on without a name, this browser aside. */
  get onlookers() {
    const { onlookers, isConnected } = this.known;
    return Math.max(0, onlookers - Number(isConnected && !this.isNamed));
  }

  /** True if this person shows the secret: an onlooker is only counted. */
  get isNamed() {
    const { role, isHost } = this.known;
    return role !== undefined || isHost;
  }

  /**
   * Ask the service for the options that a host means to deal with, unless they are known or nothing tells them.
   * @param {string} field the game's, in views
   */
  async learnOptions(field) {
    const { terms } = this.known;
    if (terms !== undefined && terms.options === undefined) {
      const { update } = await call("TableService/Look", { table: terms.table });
      const options = /** @type {Record<string, {options?: object}>} */ (update?.view ?? {})[field]?.options;
      this.#change((room) => (room.terms = { table: terms.table, options: { [field]: options ?? {} } }));
    }
  }

  /** Follow the room until `leave`. */
  enter() {
    const { signal } = this.#leaving;
    const wake = () => this.#wake();
    addEventListener("online", wake, { signal });
    addEventListener("offline", () => this.#connection.abort(), { signal });
    document.addEventListener("visibilitychange", wake, { signal });
    addEventListener("storage", ({ key }) => key === store.keyOfRoom(this.id) && this.#tell(), { signal });
    const lead = () => this.#follow();
    const following = navigator.locks?.request(store.keyOfRoom(this.id), { signal }, lead) ?? lead();
    following.catch((error) => this.#fail(error));
  }

  /** Stop following it. */
  leave() {
    this.#leaving.abort();
    this.#connection.abort();
    this.#resume();
  }

  /**
   * Take part, under a name.
   * @param {string} name
   * @param {"seat" | "onlooker"} role
   */
  async join(name, role) {
    await this.#post({ name });
    if (role === "seat") {
      await this.#post({ invitation: toText(fromHex(INVITATION)) });
    }
    this.#change((room) => {
      room.role = role;
      room.names[room.person] = name;
    });
    // Nobody follows so far.
    this.#connection.abort();
  }

  /**
   * Say that the game of a table is not played on.
   * @param {string} table
   */
  async close(table) {
    await this.#post({ invitation: toText(fromHex(closing(table))) });
  }

  /**
   * Return whether whoever dealt a table has closed it.
   * @param {import("../shared/sealed_table.js").Table} table
   */
  isClosed({ id, seats }) {
    const host = seats[0]?.secretSha256;
    return host !== undefined && (this.known.replies[closing(id)] ?? []).includes(host);
  }

  /**
   * Show the newest table to all, after what is being posted, if the room is not known to hold it.
   * @param {Session} session
   */
  show(session) {
    this.#posting = this.#posting
      .then(() => this.#showNow(session.id, [session.table.ply]))
      .catch((error) => this.#fail(error));
  }

  /**
   * @param {string} id
   * @param {readonly number[]} plies
   */
  async #showNow(id, plies) {
    const { secret, person } = this.known;
    for (const ply of plies) {
      const text = store.plyOf(id, ply);
      const isPlayer =
        text !== undefined && tableIn(text).seats.some(({ secretSha256 }) => secretSha256 === person);
      if (!isPlayer || this.#there.get(`${id} ${ply}`) === text) {
        continue;
      }
      const { taken, table = text } = await call("RoomService/Post", { room: this.id, secret, table: text });
      const held = tableIn(table);
      if (taken || held.ply === ply) {
        this.#takeTables([held]);
        this.#tell();
      } else if (held.ply < ply) {
        // It lacks some before.
        await this.#showNow(
          id,
          Array.from({ length: ply - held.ply }, (_, index) => held.ply + 1 + index),
        );
      }
    }
  }

  /** Post what is kept here and the room lacks. */
  async #showMissing() {
    const { names, person, secret, replies, tables, terms, isHost } = this.known;
    const name = names[person];
    if (name !== undefined && this.isNamed) {
      await this.#post({ name });
    }
    for (const [invitation, persons] of Object.entries(replies)) {
      if (persons.includes(person)) {
        await this.#post({ invitation: toText(fromHex(invitation)) });
      }
    }
    // It is closed by one of these replies, so nobody ever takes it for a game.
    if (isHost && terms !== undefined && !this.#there.has(`${tableIn(terms.table).id} 0`)) {
      await call("RoomService/Post", { room: this.id, secret, table: terms.table });
    }
    for (const id of tables) {
      const there = [...this.#there.keys()].flatMap((key) =>
        key.startsWith(`${id} `) ? Number(key.slice(id.length)) : [],
      );
      const newest = Session.open(id)?.table.ply ?? -1;
      const plies = Array.from({ length: newest + 1 }, (_, ply) => ply);
      await this.#showNow(id, postingOrder(plies, there));
    }
  }

  /** @param {{name: string} | {invitation: string}} post */
  async #post(post) {
    await call("RoomService/Post", { room: this.id, secret: this.known.secret, ...post });
  }

  async #follow() {
    let cursor = "";
    for (let attempt = 0; !this.#leaving.signal.aborted; attempt++) {
      this.#connection = new AbortController();
      let silent = setTimeout(() => this.#connection.abort(), SILENCE);
      const { secret } = this.known;
      try {
        const request = { room: this.id, cursor, ...(this.isNamed && { secret }) };
        for await (const response of follow(request, this.#connection.signal)) {
          clearTimeout(silent);
          silent = setTimeout(() => this.#connection.abort(), SILENCE);
          this.#heard = Date.now();
          attempt = 0;
          this.#take(response);
          cursor = response.cursor ?? cursor;
        }
      } catch (error) {
        if (!(error instanceof Unavailable)) {
          throw error;
        }
        const isChosen = this.#connection.signal.aborted;
        if (!isChosen || !navigator.onLine) {
          this.#change((room) => (room.isConnected = false));
        }
        await this.#pause(
          isChosen ? 0 : Math.max(error.pause, Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** attempt)),
        );
      } finally {
        clearTimeout(silent);
      }
    }
  }

  /** @param {number} pause */
  #pause(pause) {
    return new Promise((resolve) => {
      this.#resume = () => resolve(undefined);
      setTimeout(resolve, pause);
    });
  }

  /** Follow again at once, unless it is certain that the connection lives: whoever slept may not have heard its end. */
  #wake() {
    if (document.visibilityState === "visible") {
      this.#resume();
      if (Date.now() - this.#heard > DOUBTFUL) {
        this.#connection.abort();
      }
    }
  }

  /** @param {FollowResponseJson} response */
  #take({ entries = [], presence, isWhole = false }) {
    if (isWhole) {
      this.#there.clear();
    }
    this.#change((room) => {
      room.isConnected = true;
      entries.forEach((entry) => keep(room, entry));
      if (presence) {
        room.people = (presence.people ?? []).map(base64url);
        room.onlookers = presence.onlookers ?? 0;
      }
    });
    this.#takeTables(entries.flatMap(({ table }) => (table === undefined ? [] : tableIn(table))));
    if (isWhole) {
      this.#posting = this.#posting.then(() => this.#showMissing()).catch((error) => this.#fail(error));
    }
  }

  /**
   * Keep tables that the room holds: what it took first counts, among those who trust each other.
   * @param {readonly import("../shared/sealed_table.js").Table[]} tables
   */
  #takeTables(tables) {
    const { secret, person, game, players } = this.known;
    const meant = tables.filter((table) => table.game === game && table.players === players);
    if (meant.length < tables.length) {
      this.#fail(new Error(t("terms-differ")));
    }
    for (const id of new Set(meant.map((table) => table.id))) {
      const found = meant.filter((table) => table.id === id);
      const before = Session.open(id)?.table.ply ?? -1;
      const texts = found.map(({ bytes }) => toText(bytes));
      found.forEach(({ ply }, index) => this.#there.set(`${id} ${ply}`, texts[index] ?? ""));
      if (this.#isTerms(found)) {
        this.#change((room) => (room.terms ??= { table: texts[0] ?? "" }));
        continue;
      }
      const take = (/** @type {boolean} */ replaces) => Session.take(texts, { [person]: secret }, replaces);
      /** @type {Session} */
      let session;
      try {
        session = take(false);
      } catch (error) {
        if (!(error instanceof ForkError) || found[0]?.asksNext) {
          throw error;
        }
        session = take(true);
      }
      this.#change((room) => {
        if (!room.tables.includes(id)) {
          room.tables.push(id);
        }
        if (session.table.ply > before) {
          room.since = Date.now();
        }
      });
    }
  }

  /**
   * Return whether the tables of a game are one that was closed before its first move: it tells what is to be played.
   * @param {readonly import("../shared/sealed_table.js").Table[]} found
   */
  #isTerms(found) {
    const [first] = found;
    return (
      first !== undefined &&
      found.every(({ ply }) => ply === 0) &&
      !this.known.tables.includes(first.id) &&
      this.isClosed(first)
    );
  }

  /** @param {(room: store.Room) => void} change */
  #change(change) {
    const room = this.known;
    // It may have been forgotten meanwhile.
    if (room) {
      change(room);
      store.keepRoom(this.id, room);
      this.#tell();
    }
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }

  /** @param {unknown} error */
  #fail(error) {
    if (!this.#leaving.signal.aborted) {
      this.dispatchEvent(new CustomEvent("error", { detail: error }));
    }
  }
}

/**
 * Return whether a service has no rooms.
 * @param {unknown} error
 */
export function isWithoutRooms(error) {
  return error instanceof Refusal && error.status === NOT_FOUND;
}

/**
 * @param {store.Room} room
 * @param {RoomEntryJson} entry
 */
function keep(room, { name, reply }) {
  if (name) {
    room.names[base64url(name.person)] = name.name ?? "";
  }
  if (reply) {
    const invitation = toHex(fromText(reply.invitation ?? ""));
    const persons = room.replies[invitation] ?? [];
    room.replies[invitation] = [...new Set([...persons, base64url(reply.person)])];
  }
}

/**
 * Return the id of the invitation by whose acceptance the host closes a game.
 * @param {string} table
 */
function closing(table) {
  return table.slice(0, INVITATION.length);
}

/** @param {string | undefined} bytes in base64 */
function base64url(bytes = "") {
  return toText(fromText(bytes));
}
