// A room of people who play live. Its contents are stored in local storage, where all windows of the browser see them.
// One window follows the room if the browser has locks. Otherwise every window does.

import { call, connection, LATE, Refusal, sent, Unavailable } from "../api.js";
import { random } from "../bytes.js";
import { playAlike } from "../options.js";
import { isProposal, newSecret, Session, tableIn } from "../session.js";
import { t } from "../settings.js";
import { fromHex, fromText, toHex, toText } from "../shared/bytes.js";
import { ForkError } from "../shared/fork_error.js";
import { postingOrder } from "../shared/posting.js";
import { digest } from "../shared/sha256.js";
import { locks } from "../storage.js";
import * as store from "../store.js";
import { follow } from "./follow.js";

/** @import { OptionsJson } from "#api/chatiere/v1/game_pb.js" */
/** @import { EmoteJson, FollowResponseJson, RoomEntryJson, RoomSettingsJson } from "#api/chatiere/v1/room_service_pb.js" */

const ID_SIZE = 16;
const FIRST_PAUSE = 100;
const MAX_PAUSE = 5000;
/**
 * The time without a response after which the connection is considered broken, in milliseconds: two heartbeats, which the
 * service sends at least every 15 s. The first response arrives immediately.
 */
const SILENCE = 30_000;
const FIRST_SILENCE = 10_000;
const DOUBTFUL = 18_000;
// The time without a connection after which the page shows this, in milliseconds.
const APART = 1000;
/** The maximum numbers of names and of replies that are stored for persons without a seat. */
const MAX_STRANGERS = 1000;
/** The absence after which other players may act for a person, in milliseconds. */
const ABSENCE = 60_000;
/** The HTTP status of an unknown method. */
const NOT_FOUND = 404;
/** The number of hexadecimal digits of an invitation's id. */
const INVITATION_DIGITS = 16;

/**
 * Create a room for a game, and return the room's id. This browser's player is the host. Throws Refusal if no game can
 * begin with the options.
 * @param {string} game
 * @param {number} players
 * @param {OptionsJson} [options] the options of the first game
 */
export async function newRoom(game, players, options) {
  const id = toText(random(ID_SIZE));
  const { secret } = await newSecret();
  const settings = { game, players, ...(options && { options }) };
  try {
    await call("RoomService/Post", { room: id, secret, settings });
  } catch (error) {
    // The room's page reports this error.
    if (!isWithoutRooms(error)) {
      throw error;
    }
  }
  await knownRoom(id, game, players, { isHost: true, settings, secret });
  return id;
}

/**
 * Store a room in this browser, unless it is stored already. The game and the number of players of a link count only
 * until the room itself states them.
 * @param {string} id
 * @param {string} game
 * @param {number} players
 * @param {{isHost?: boolean, settings?: RoomSettingsJson, secret?: string, table?: string}} [known] `isHost` is true if
 *   this browser's player is the host. The host chooses the `settings`. `secret` and `table` are the person's existing
 *   secret and the current table, if the person joins from another device
 */
export async function knownRoom(id, game, players, { isHost = false, settings, secret: own, table } = {}) {
  const stored = store.roomOf(id);
  if (stored && !stored.settings && stored.tables.length === 0) {
    store.keepRoom(id, { ...stored, game, players });
  } else if (!stored) {
    const { secret, hash } = await newSecret(own);
    store.keepRoom(id, {
      ...{ game, players, secret, person: hash, isHost, names: {}, replies: {}, people: [], onlookers: 0 },
      ...{ isConnected: false, tables: table === undefined ? [] : [table], since: Date.now(), changed: 0 },
      ...(table !== undefined && { role: "seat" }),
      ...(settings && { settings }),
    });
  }
}

/**
 * A room in this browser. It dispatches `change` when its contents have changed, `emote` for a person's emote, and `error`
 * for errors that repetition cannot repair.
 */
export class Room extends EventTarget {
  #leaving = new AbortController();
  #connection = new AbortController();
  /** @type {() => void} */
  #resume = () => undefined;
  #heard = 0;
  /** @type {Map<string, string>} the tables that the room is known to hold, by id and ply */
  #there = new Map();
  /** @type {Map<string, string>} the proposals that the room is known to hold, by id */
  #proposed = new Map();
  /** @type {Set<string>} the games that the room counts as its own, by table id */
  #own = new Set();
  /**
   * @type {Map<string, import("../shared/sealed_table.js").Table & {isForeign: boolean, time?: string | undefined}>}
   *   the tables not followed so far, by id, ply and kind
   */
  #unfollowed = new Map();
  /** @type {BroadcastChannel | undefined} passes emotes to the browser's other windows, which do not follow the room */
  #windows;
  /** @type {Promise<void>} */
  #posting = Promise.resolve();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #apart;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #missing;

  /** @param {string} id */
  constructor(id) {
    super();
    this.id = id;
  }

  /** The known contents of the room. */
  get known() {
    return /** @type {store.Room} */ (store.roomOf(this.id));
  }

  /** The persons who want seats, in the order in which they entered. */
  get seated() {
    return (this.known.replies[sitting(0)] ?? []).filter((person) => this.#timesSat(person) % 2 === 1);
  }

  /**
   * Return how often a person has taken or left a seat before the game.
   * @param {string} person
   */
  #timesSat(person) {
    const { replies } = this.known;
    let times = 0;
    while (replies[sitting(times)]?.includes(person)) {
      times++;
    }
    return times;
  }

  /** The person who opened the room; "" until the room's settings are known. */
  get host() {
    return hostOf(this.known);
  }

  /**
   * True if this browser's player may deal the first game: the host or, if the host has been away for a minute, anyone
   * with a seat.
   */
  get canDeal() {
    const { isHost, person } = this.known;
    return isHost || (this.hasGone(this.host) && this.seated.includes(person));
  }

  /**
   * Return true if a person has been away for a minute. Without a connection, this is unknown.
   * @param {string} person
   */
  hasGone(person) {
    const { away = {}, isConnected } = this.known;
    return isConnected && Date.now() - (away[person] ?? Infinity) >= ABSENCE;
  }

  /**
   * False if the room counts none of the games known here as its own. In this case, the service has forgotten the room,
   * and a stranger was the first to post in it again. Games that are begun in the room are then not shown.
   */
  get #isOurs() {
    const { tables } = this.known;
    return tables.length === 0 || tables.some((id) => this.#own.has(id));
  }

  /**
   * Return the time at which the room accepted the newest table of a game, in milliseconds since 1970; the current time
   * if this is not known, because the room has not reported it yet or because a newer game has begun.
   * @param {import("../shared/sealed_table.js").Table} table
   */
  since({ id, ply }) {
    const { since, timed, offset = 0 } = this.known;
    return timed === `${id} ${ply}` ? since : Date.now() + offset;
  }

  /** The number of spectators without a name, except this browser. */
  get onlookers() {
    const { onlookers, isConnected } = this.known;
    return Math.max(0, onlookers - Number(isConnected && !this.isNamed));
  }

  /** True if the room lists this person by the secret. Spectators without a name are only counted. */
  get isNamed() {
    const { role, isHost } = this.known;
    return role !== undefined || isHost;
  }

  /**
   * Return false if the room's settings have a different game, number of players, trust or different options than a
   * table.
   * @param {import("../games.js").GameKit} kit
   * @param {{game: string, players: number, asksNext: boolean}} table
   * @param {OptionsJson} options the table's options
   */
  isAsSettled(kit, { game, players, asksNext }, options) {
    const { settings } = this.known;
    const otherTrust = asksNext ? "ACKNOWLEDGEMENT_NONE" : "ACKNOWLEDGEMENT_NEXT";
    return (
      settings === undefined ||
      (settings.game === game &&
        settings.players === players &&
        settings.acknowledgement !== otherTrust &&
        playAlike(kit, players, settings.options, options))
    );
  }

  /** Follow the room until `leave` is called. */
  enter() {
    const { signal } = this.#leaving;
    const wake = () => this.#wake();
    addEventListener("online", wake, { signal });
    addEventListener("offline", () => this.#connection.abort(), { signal });
    document.addEventListener("visibilitychange", wake, { signal });
    addEventListener("storage", ({ key }) => key === store.keyOfRoom(this.id) && this.#tell(), { signal });
    if (locks()) {
      this.#windows = new BroadcastChannel(store.keyOfRoom(this.id));
      this.#windows.addEventListener("message", ({ data }) => this.#tellEmote(data));
    }
    this.#tellConnection();
    const lead = () => this.#follow();
    const following = locks()?.request(store.keyOfRoom(this.id), { signal }, lead) ?? lead();
    following.catch((error) => this.#fail(error));
  }

  /** Stop following the room. */
  leave() {
    this.#leaving.abort();
    this.#connection.abort();
    this.#windows?.close();
    this.#resume();
    clearTimeout(this.#apart);
    clearTimeout(this.#missing);
    connection.dispatchEvent(new Event("together"));
  }

  /**
   * Enter the room with a name.
   * @param {string} name
   * @param {"seat" | "onlooker"} role
   */
  async join(name, role) {
    await this.#post({ name });
    const isSeated = this.seated.includes(this.known.person);
    if (isSeated !== (role === "seat")) {
      await this.#sitOrStand();
    }
    this.#change((room) => {
      room.role = role;
      room.names[room.person] = name;
    });
    // So far this browser has followed the room as a spectator without a name.
    this.#connection.abort();
  }

  /** Give up the seat before the game. The person can take a seat again. */
  async stand() {
    await this.#sitOrStand();
    this.#change((room) => delete room.role);
    this.#connection.abort();
  }

  /** Take a seat or leave it. A room keeps all replies, so each change is a reply to another invitation. */
  async #sitOrStand() {
    const { person } = this.known;
    const id = sitting(this.#timesSat(person));
    const invitation = toText(fromHex(id));
    await this.#post({ invitation });
    this.#change((room) => keep(room, { reply: { invitation, person } }));
  }

  /**
   * Set the time for a decision, before the first game.
   * @param {number} decisionSeconds in seconds; 0 for no limit
   */
  async setClock(decisionSeconds) {
    const { secret } = this.known;
    const settings = { ...this.known.settings, decisionSeconds };
    await call("RoomService/Post", { room: this.id, secret, settings });
    this.#change((room) => keep(room, { settings }));
  }

  /**
   * Ask the other players to end the replacement by a bot.
   * @param {import("../shared/sealed_table.js").Table} lent the table with which the replacement began
   */
  async askBack(lent) {
    await this.#post({ invitation: toText(fromHex(declining(lent))) });
  }

  /**
   * Return true if a person has asked for the end of a replacement.
   * @param {import("../shared/sealed_table.js").Table} lent
   * @param {string} person
   */
  asksBack(lent, person) {
    return (this.known.replies[declining(lent)] ?? []).includes(person);
  }

  /**
   * Close the game of a table. The game will not be continued.
   * @param {string} table the table's id
   */
  async close(table) {
    await this.#post({ invitation: toText(fromHex(closing(table))) });
  }

  /**
   * Return true if the host has closed the game of a table. The host of a game is the first person at its table.
   * @param {import("../shared/sealed_table.js").Table} table
   */
  isClosed({ id, seats }) {
    const host = seats.find(({ bot }) => bot === undefined)?.secretSha256;
    return host !== undefined && (this.known.replies[closing(id)] ?? []).includes(host);
  }

  /**
   * Decline a proposal.
   * @param {import("../shared/sealed_table.js").Table} proposal
   */
  async decline(proposal) {
    await this.#post({ invitation: toText(fromHex(declining(proposal))) });
  }

  /**
   * Return the seats that have declined a proposal.
   * @param {import("../shared/sealed_table.js").Table} proposal
   */
  declined(proposal) {
    const persons = this.known.replies[declining(proposal)] ?? [];
    return proposal.seats.flatMap(({ secretSha256 = "" }, seat) =>
      persons.includes(secretSha256) ? [seat] : [],
    );
  }

  /**
   * Post the newest table and the proposal, unless the room is known to hold them. Earlier posts are finished first.
   * @param {Session} session
   */
  show(session) {
    this.#posting = this.#posting
      .then(() => this.#showNow(session.id, [session.table.ply]))
      .then(() => this.#showProposal(session.id))
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
        // The room lacks earlier tables.
        await this.#showNow(
          id,
          Array.from({ length: ply - held.ply }, (_, index) => held.ply + 1 + index),
        );
      }
    }
  }

  /** @param {string} id */
  async #showProposal(id) {
    const { secret, person } = this.known;
    const proposal = Session.open(id)?.proposal;
    const before = proposal?.amendment?.replacement?.before;
    if (proposal && [...proposal.seats, before].some((seat) => seat?.secretSha256 === person)) {
      const text = toText(proposal.bytes);
      if (this.#proposed.get(id) !== text) {
        const { table } = await call("RoomService/Post", { room: this.id, secret, table: text });
        if (table !== undefined) {
          this.#takeTables([tableIn(table)]);
          this.#tell();
        }
      }
    }
  }

  /**
   * Post everything stored here that the room lacks.
   * @param {boolean} areSettingsThere true if the room holds the settings
   */
  async #showMissing(areSettingsThere) {
    const { names, person, secret, replies, tables, settings, isHost } = this.known;
    const name = names[person];
    if (name !== undefined && this.isNamed) {
      await this.#post({ name });
    }
    for (const [invitation, persons] of Object.entries(replies)) {
      if (persons.includes(person)) {
        await this.#post({ invitation: toText(fromHex(invitation)) });
      }
    }
    for (const id of tables) {
      const there = [...this.#there.keys()].flatMap((key) =>
        key.startsWith(`${id} `) ? Number(key.slice(id.length)) : [],
      );
      const newest = Session.open(id)?.table.ply ?? -1;
      const plies = Array.from({ length: newest + 1 }, (_, ply) => ply);
      await this.#showNow(id, postingOrder(plies, there));
      await this.#showProposal(id);
    }
    // Post the settings last: a table names all players of the game, but the settings name only the host.
    if (isHost && settings && !areSettingsThere) {
      await call("RoomService/Post", { room: this.id, secret, settings });
    }
  }

  /**
   * Send an emote once. If this fails, the emote is lost: later, it would be out of place.
   * @param {EmoteJson} emote
   */
  send(emote) {
    const body = JSON.stringify({ room: this.id, secret: this.known.secret, emote });
    return sent("RoomService/Post", "application/json", body, AbortSignal.timeout(LATE));
  }

  /** @param {{name: string} | {invitation: string}} post */
  async #post(post) {
    await call("RoomService/Post", { room: this.id, secret: this.known.secret, ...post });
  }

  async #follow() {
    let cursor = "";
    for (let attempt = 0; !this.#leaving.signal.aborted; attempt++) {
      this.#connection = new AbortController();
      let silent = setTimeout(() => this.#lose(), FIRST_SILENCE);
      const { secret } = this.known;
      try {
        const request = { room: this.id, cursor, ...(this.isNamed && { secret }) };
        for await (const response of follow(request, this.#connection.signal)) {
          clearTimeout(silent);
          silent = setTimeout(() => this.#lose(), SILENCE);
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
        const pause = Math.max(error.pause, Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** attempt));
        // The pause is partly random, so that the people of all rooms do not return at the same time.
        await this.#pause(isChosen ? 0 : pause * (1 + Math.random() / 2));
      } finally {
        clearTimeout(silent);
      }
    }
  }

  /** End a connection that is silent. It is unknown who is present until the next one. */
  #lose() {
    this.#change((room) => (room.isConnected = false));
    this.#connection.abort();
  }

  /** @param {number} pause */
  #pause(pause) {
    return new Promise((resolve) => {
      this.#resume = () => resolve(undefined);
      setTimeout(resolve, pause);
    });
  }

  /**
   * Follow the room again unless the connection is certainly alive. A computer that slept may not have noticed its end.
   */
  #wake() {
    if (document.visibilityState === "visible") {
      this.#resume();
      if (Date.now() - this.#heard > DOUBTFUL) {
        this.#connection.abort();
      }
    }
  }

  /** @param {{person: string, emote: EmoteJson | undefined}} detail */
  #tellEmote(detail) {
    this.dispatchEvent(new CustomEvent("emote", { detail }));
  }

  /** @param {FollowResponseJson} response */
  #take({ entries = [], presence, isWhole = false, emotes = [], time: now }) {
    for (const { person, emote } of emotes) {
      const detail = { person: base64url(person), emote };
      this.#tellEmote(detail);
      this.#windows?.postMessage(detail);
    }
    if (isWhole) {
      this.#there.clear();
      this.#proposed.clear();
      this.#own.clear();
      this.#unfollowed.clear();
    }
    const found = entries.flatMap(({ table: placed, proposal, isForeign = false, time }) => {
      const bytes = placed ?? proposal;
      return bytes === undefined ? [] : [{ ...tableIn(bytes), isForeign, time }];
    });
    found.forEach(({ id, isForeign }) => isForeign || this.#own.add(id));
    const isOurs = this.#isOurs;
    const begun = found.find(({ isForeign }) => !isForeign);
    this.#change((room) => {
      room.isConnected = true;
      room.offset = now === undefined ? (room.offset ?? 0) : Date.parse(now) - Date.now();
      if (begun && !room.settings && room.tables.length === 0) {
        room.game = begun.game;
        room.players = begun.players;
      }
      entries.forEach(({ settings, ...entry }) => keep(room, isOurs && settings ? { settings } : entry));
      if (presence) {
        room.people = (presence.people ?? []).map(base64url);
        room.onlookers = presence.onlookers ?? 0;
      }
      const absent = [...Object.keys(room.names), hostOf(room)].filter((each) => !room.people.includes(each));
      room.away = Object.fromEntries(absent.map((each) => [each, room.away?.[each] ?? Date.now()]));
    });
    const { tables } = this.known;
    const isKnown = (/** @type {{id: string}} */ { id }) => tables.includes(id);
    for (const table of found) {
      if ((!table.isForeign || this.#isOfGuests(table)) && !isKnown(table)) {
        this.#unfollowed.set(`${table.id} ${table.ply} ${isProposal(table)}`, table);
      }
    }
    const fresh = [...this.#unfollowed].filter(([, table]) => isOurs || this.#isOfGuests(table));
    fresh.forEach(([key]) => this.#unfollowed.delete(key));
    const taken = [...found.filter(isKnown), ...fresh.map(([, table]) => table)];
    if (this.#own.size === 0 && taken.some(({ isForeign }) => isForeign)) {
      this.#change((room) => (room.isGuests = true));
    }
    this.#takeTables(taken);
    if (isWhole) {
      this.#posting = this.#posting
        .then(() => this.#showMissing(entries.some(({ settings }) => settings)))
        .catch((error) => this.#fail(error));
    }
  }

  /**
   * Return true if a table belongs to a game that guests started because the host has gone: all people at the table have
   * taken a seat in the room, and the room has no game that the host started. Other games of strangers are not shown.
   * @param {import("../shared/sealed_table.js").Table} table
   */
  #isOfGuests({ seats }) {
    const { isGuests, tables } = this.known;
    const isSeated = (/** @type {string | undefined} */ person) =>
      person === undefined || this.seated.includes(person);
    const isFree = isGuests || (tables.length === 0 && this.#own.size === 0);
    return isFree && seats.every(({ secretSha256 }) => isSeated(secretSha256));
  }

  /**
   * Store tables and proposals that the room holds. Where players trust each other, the table that the room accepted
   * first counts.
   * @param {readonly (import("../shared/sealed_table.js").Table & {time?: string | undefined})[]} tables `time` is the
   *   time at which the room accepted the table; absent if it has just done so
   */
  #takeTables(tables) {
    const { secret, person, game, players } = this.known;
    const meant = tables.filter((table) => table.game === game && table.players === players);
    if (meant.length < tables.length) {
      this.#fail(new Error(t("terms-differ")));
    }
    for (const id of new Set(meant.map((table) => table.id))) {
      const found = meant.filter((table) => table.id === id);
      const texts = found.map(({ bytes }) => toText(bytes));
      found.forEach((table, index) => {
        const text = texts[index] ?? "";
        if (isProposal(table)) {
          this.#proposed.set(id, text);
        } else {
          this.#there.set(`${id} ${table.ply}`, text);
        }
      });
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
        const time = found.find((table) => table.ply === session.table.ply && !isProposal(table))?.time;
        const timed = `${id} ${session.table.ply}`;
        // If the service has lost the room, the tables are posted again and get new times. The first time counts.
        if (time !== undefined && id === room.tables.at(-1) && timed !== room.timed) {
          room.since = Date.parse(time);
          room.timed = timed;
        }
      });
    }
  }

  /** @param {(room: store.Room) => void} change */
  #change(change) {
    const room = this.known;
    // The room may have been deleted in the meantime.
    if (room) {
      change(room);
      store.keepRoom(this.id, room);
      this.#tell();
    }
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
    this.#tellConnection();
    clearTimeout(this.#missing);
    const waits = Object.values(this.known?.away ?? {}).map((since) => since + ABSENCE - Date.now());
    const next = Math.min(...waits.filter((wait) => wait > 0));
    if (next < Infinity && !this.#leaving.signal.aborted) {
      this.#missing = setTimeout(() => this.#tell(), next);
    }
  }

  /** Report whether this browser follows the room. A connection that is lost for a moment is not reported. */
  #tellConnection() {
    clearTimeout(this.#apart);
    if (this.known?.isConnected) {
      connection.dispatchEvent(new Event("together"));
    } else if (!this.#leaving.signal.aborted) {
      this.#apart = setTimeout(() => connection.dispatchEvent(new Event("apart")), APART);
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    if (!this.#leaving.signal.aborted) {
      this.dispatchEvent(new CustomEvent("error", { detail: error }));
    }
  }
}

/**
 * Return true if an error says that the service has no rooms.
 * @param {unknown} error
 */
export function isWithoutRooms(error) {
  return error instanceof Refusal && error.status === NOT_FOUND;
}

/**
 * Return the person who opened a room; "" until the room's settings are known.
 * @param {store.Room} room
 */
function hostOf({ isHost, person, settings }) {
  return isHost ? person : base64url(settings?.person);
}

/**
 * @param {store.Room} room
 * @param {RoomEntryJson} entry
 */
function keep(room, { name, reply, settings }) {
  if (settings) {
    room.settings = settings;
    const chosen = settings.decisionSeconds ?? 0;
    // A clock set during a game would surprise its players. A browser that joins during a game has no clock yet.
    room.clock = room.tables.length > 0 ? (room.clock ?? chosen) : chosen;
    room.game = settings.game ?? room.game;
    room.players = settings.players ?? room.players;
  }
  if (name) {
    const person = base64url(name.person);
    delete room.names[person];
    room.names[person] = name.name ?? "";
    excess(room, Object.keys(room.names), (each) => each).forEach((each) => delete room.names[each]);
  }
  if (reply) {
    const invitation = toHex(fromText(reply.invitation ?? ""));
    const persons = room.replies[invitation] ?? [];
    room.replies[invitation] = [...new Set([...persons, base64url(reply.person)])];
    const replies = Object.entries(room.replies).flatMap(([id, all]) =>
      all.map((person) => ({ id, person })),
    );
    excess(room, replies, ({ person }) => person).forEach(({ id, person }) => {
      room.replies[id] = (room.replies[id] ?? []).filter((each) => each !== person);
      if (room.replies[id].length === 0) {
        delete room.replies[id];
      }
    });
  }
}

/**
 * Return the entries of persons without a seat, except the last MAX_STRANGERS of them.
 * @template T
 * @param {store.Room} room
 * @param {readonly T[]} entries
 * @param {(entry: T) => string} personOf
 */
function excess(room, entries, personOf) {
  if (entries.length <= MAX_STRANGERS) {
    return [];
  }
  const seats = room.tables.flatMap((id) => Session.open(id)?.table.seats ?? []);
  const seated = new Set([room.person, ...seats.map(({ secretSha256 }) => secretSha256)]);
  return entries.filter((entry) => !seated.has(personOf(entry))).slice(0, -MAX_STRANGERS);
}

/**
 * Return the id of the invitation that a person accepts to take a seat or to leave it. The ids are the same in all rooms,
 * as only a room's people know the room's id.
 * @param {number} times the number of times that the person has done so before
 */
function sitting(times) {
  return times.toString(16).padStart(INVITATION_DIGITS, "0");
}

/**
 * Return the id of the invitation that the host accepts to close a game.
 * @param {string} table the table's id
 */
function closing(table) {
  return table.slice(0, INVITATION_DIGITS);
}

/**
 * Return the id of the invitation that a person accepts to decline a proposal or, after a replacement, to end it.
 * @param {import("../shared/sealed_table.js").Table} proposal
 */
function declining({ content }) {
  return toHex(digest(content)).slice(0, INVITATION_DIGITS);
}

/** @param {string | undefined} bytes in base64 */
function base64url(bytes = "") {
  return toText(fromText(bytes));
}
