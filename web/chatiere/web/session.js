// One sealed table as this browser has it: the tables of all plies, the seats it holds, and the calls for them.

import { call, Refusal } from "./api.js";
import { random } from "./bytes.js";
import { fromText, sha256, toText } from "./shared/bytes.js";
import { ForkError } from "./shared/fork_error.js";
import { promise } from "./shared/promises.js";
import { merged, missingSeats, readTable, toSend } from "./shared/sealed_table.js";
import * as store from "./store.js";

/** @import { ActionJson, OptionsJson, ViewerUpdateJson } from "#api/chatiere/v1/game_pb.js" */
/** @import { SuggestResponseJson } from "#api/chatiere/v1/bot_service_pb.js" */
/** @import { TableRecordJson } from "#api/chatiere/v1/table_service_pb.js" */
/** @import { Table } from "./shared/sealed_table.js" */

/**
 * The holder of a seat to come: a bot, or a person, by the hash of a secret.
 * @typedef {{bot: string} | {hash: string}} NewSeat
 */
/**
 * What is to be played, by whom. The seats of a table that is only shown may be empty but for the first.
 * @typedef {{game: string, seats: (NewSeat | {})[], asksNext: boolean, options?: OptionsJson | undefined}} Terms
 */

/**
 * Make a secret for a seat: the secret, and its hash for all to see.
 * @param {string} [known] the secret, where there is one
 */
export async function newSecret(known) {
  const secret = known === undefined ? random(16) : fromText(known);
  return { secret: toText(secret), hash: toText(await sha256(secret)) };
}

/**
 * Read a table of a link or of this browser. Throws RangeError for a text that is none.
 * @param {string} text
 */
export function tableIn(text) {
  return readTable(fromText(text));
}

/**
 * Have the service make a table; return it as text. Throws Refusal.
 * @param {Terms} terms
 */
export async function newTable({ game, seats, asksNext, options }) {
  const { table } = await call("TableService/NewTable", {
    game,
    players: seats.length,
    ...(options && { options }),
    seats: seats.map((seat) => ("hash" in seat ? { secretSha256: seat.hash } : seat)),
    acknowledgement: asksNext ? "ACKNOWLEDGEMENT_NEXT" : "ACKNOWLEDGEMENT_NONE",
  });
  return table ?? "";
}

/** A table. */
export class Session {
  /** @type {Table} */
  #newest;
  /** @type {Map<number, {text: string, table: Table | undefined}>} what has been read, by ply */
  #read = new Map();

  /**
   * @param {string} id
   * @param {store.Kept} kept
   * @param {Table} newest
   */
  constructor(id, kept, newest) {
    this.id = id;
    this.kept = kept;
    this.#newest = newest;
  }

  /**
   * Begin a game.
   * @param {Terms} terms
   * @param {Record<string, string>} secrets those of this browser, by hash
   */
  static async begin(terms, secrets) {
    return Session.take([await newTable(terms)], secrets);
  }

  /**
   * Open a table of this browser; return undefined if there is none, or if what is kept of it is damaged.
   * @param {string} id
   * @returns {Session | undefined}
   */
  static open(id) {
    const kept = store.tableOf(id);
    const newest = kept && soundTable(store.plyOf(id, kept.newest) ?? "");
    return kept && newest && new Session(id, kept, newest);
  }

  /**
   * Begin a game of this player alone, or of several at this screen: `seats` has bots, and undefined for people.
   * @param {string} game
   * @param {readonly (string | undefined)[]} seats
   * @param {OptionsJson} [options]
   */
  static async beginHere(game, seats, options) {
    /** @type {Record<string, string>} */
    const secrets = {};
    /** @type {NewSeat[]} */
    const made = [];
    for (const bot of seats) {
      if (bot !== undefined) {
        made.push({ bot });
      } else {
        const { secret, hash } = await newSecret();
        secrets[hash] = secret;
        made.push({ hash });
      }
    }
    return Session.begin({ game, seats: made, asksNext: false, options }, secrets);
  }

  /**
   * Take tables that somebody sent, perhaps of a table that is known. Throws RangeError for what is none, Refusal for what
   * the service did not make, and ForkError.
   * @param {readonly string[]} texts
   * @param {Record<string, string>} secrets by the hash of the seat
   * @param {boolean} [replaces] whether they take the place of other tables of their plies
   */
  static async receive(texts, secrets, replaces = false) {
    for (const { id, ply, bytes } of texts.map(tableIn)) {
      const table = toText(bytes);
      if (store.plyOf(id, ply) !== table) {
        try {
          await call("TableService/Look", { table });
        } catch (error) {
          // Made by the service, though not open yet.
          if (!(error instanceof Refusal && error.reason === "NOT_ACKNOWLEDGED")) {
            throw error;
          }
        }
      }
    }
    return Session.take(texts, secrets, replaces);
  }

  /**
   * Take tables that are known to be the service's. Throws RangeError, ForkError.
   * @param {readonly string[]} texts
   * @param {Record<string, string>} secrets by the hash of the seat
   * @param {boolean} [replaces] whether they take the place of other tables of their plies
   */
  static take(texts, secrets, replaces = false) {
    const tables = texts.map(tableIn).sort((a, b) => a.ply - b.ply);
    const newest = tables.at(-1);
    if (!newest || tables.some(({ id }) => id !== newest.id)) {
      throw new RangeError("not tables of one game");
    }
    const { id, game, ply } = newest;
    const fresh = { game, seats: {}, newest: ply, changed: Date.now(), isOver: false };
    const session = Session.open(id) ?? new Session(id, fresh, newest);
    newest.seats.forEach(({ secretSha256 }, seat) => {
      const secret = secretSha256 === undefined ? undefined : secrets[secretSha256];
      if (secret !== undefined) {
        session.kept.seats[seat] ??= secret;
      }
    });
    // First what lets it be found and forgotten, should there be no room for all of it.
    session.#keep();
    tables.forEach((table) => session.#add(table, replaces));
    session.#keep();
    return session;
  }

  /** The newest table. */
  get table() {
    return this.#newest;
  }

  /** The seats that this browser holds, ascending. */
  get mine() {
    return Object.keys(this.kept.seats)
      .map(Number)
      .sort((a, b) => a - b);
  }

  /** Whether every human seat is this browser's. */
  get isAlone() {
    return this.#newest.seats.every(({ bot }, seat) => bot !== undefined || seat in this.kept.seats);
  }

  /** The seats whose acknowledgement is awaited. */
  get missing() {
    return missingSeats(this.#newest.bytes);
  }

  /** Acknowledge the newest table for the seats of this browser that it waits for. Throws ForkError, Refusal. */
  async acknowledge() {
    for (const seat of this.missing) {
      const secret = this.kept.seats[seat];
      if (secret !== undefined) {
        const before = this.#newest;
        const { table } = await call("TableService/Acknowledge", { table: toText(before.bytes), secret });
        if (this.#newest !== before) {
          return;
        }
        // Only what the service found authentic is promised, and nobody gets the acknowledgement before that.
        await this.#promise(seat, before);
        this.#add(tableIn(table ?? ""));
        this.#keep();
      }
    }
  }

  /**
   * Return the table of a ply that this browser keeps; undefined if there is none, or a damaged one. Each is read once, as long
   * as it stays as it is: a table has hundreds of plies.
   * @param {number} ply
   */
  #tableOf(ply) {
    const text = store.plyOf(this.id, ply) ?? "";
    const read = this.#read.get(ply);
    if (read?.text === text) {
      return read.table;
    }
    const table = soundTable(text);
    this.#read.set(ply, { text, table });
    return table;
  }

  /**
   * Return whether the table of a ply is here, and open in the form that came here.
   * @param {number} ply
   */
  isOpen(ply) {
    const table = this.#tableOf(ply);
    return table !== undefined && missingSeats(table.bytes).length === 0;
  }

  /**
   * Look at the newest table, or at the one of another ply, as a seat of this browser or, without one, as a spectator.
   * @param {number | undefined} seat
   * @param {number} [ply]
   * @returns {Promise<ViewerUpdateJson>}
   */
  async look(seat, ply = this.#newest.ply) {
    const { update = {} } = await call("TableService/Look", {
      table: this.#textOf(ply),
      ...this.#secretOf(seat),
    });
    return update;
  }

  /**
   * Make a decision: an action of a seat, or without one that of a bot. Returns what the seat sees of the new table;
   * undefined if that is not open yet, or if the newest table has become another one meanwhile. Throws Refusal, ForkError.
   * @param {number | undefined} seat
   * @param {ActionJson} [action]
   * @returns {Promise<ViewerUpdateJson | undefined>}
   */
  async move(seat, action) {
    const before = this.#newest;
    const { table, update } = await call("TableService/Move", {
      table: toText(before.bytes),
      ...this.#secretOf(seat),
      ...(action && { action }),
    });
    if (this.#newest !== before) {
      return undefined;
    }
    const made = tableIn(table ?? "");
    if (action && seat !== undefined) {
      await this.#promise(seat, made);
    }
    this.#add(made);
    this.kept.isOver = update?.view?.end !== undefined;
    this.#keep();
    return update;
  }

  /**
   * Ask a bot what a seat of this browser should do.
   * @param {number} seat
   * @param {string} bot
   * @returns {Promise<SuggestResponseJson>}
   */
  async suggest(seat, bot) {
    const table = toText(this.#newest.bytes);
    const { suggestion = {} } = await call("TableService/SuggestMove", {
      table,
      ...this.#secretOf(seat),
      bot,
    });
    return suggestion;
  }

  /**
   * Return the record of a game that is over. Throws Refusal; RangeError if tables are missing.
   * @returns {Promise<TableRecordJson>}
   */
  async record() {
    const tables = Array.from({ length: this.#newest.ply + 1 }, (_, ply) => this.#textOf(ply));
    const { record = {} } = await call("TableService/GetRecord", { tables });
    return record;
  }

  /** Whether the last decision of this browser's players can be taken back: where nobody else plays, and none is asked. */
  get canUndo() {
    return this.isAlone && !this.#newest.asksNext && this.#lastOwn() !== undefined;
  }

  /** Take the last decision of this browser's players back, and all that came of it. */
  undo() {
    const own = this.#lastOwn();
    if (own !== undefined) {
      this.#newest = tableIn(this.#textOf(own - 1));
      store.forgetAbove(this.id, own - 1);
      this.kept.isOver = false;
      this.#keep();
    }
  }

  /** Say that the game is over, so that it may make room for others. */
  end() {
    this.kept.isOver = true;
    this.#keep();
  }

  /**
   * Return the tables that others may lack, as text, and the seats to send them to.
   * @param {number} [turn] the seat to decide; absent: none has to
   */
  toSend(turn) {
    const { mine } = this;
    const all = Array.from({ length: this.#newest.ply + 1 }, (_, ply) => this.#tableOf(ply) ?? []).flat();
    // None is sent from before the last but one of one's own decisions.
    const first = all.filter(({ mover }) => mine.includes(mover)).at(-2)?.ply ?? 0;
    const tables = all.filter(({ ply }) => ply >= first).map(({ bytes }) => bytes);
    const sending = toSend(tables, mine, turn);
    return { seats: sending.seats, texts: sending.tables.map(toText) };
  }

  /** Return the ply of the last decision of this browser's players; undefined if there is none. */
  #lastOwn() {
    if (this.mine.length === 0) {
      return undefined;
    }
    for (let ply = this.#newest.ply; ply > 0; ply--) {
      const mover = this.#tableOf(ply)?.mover;
      if (mover !== undefined && mover in this.kept.seats) {
        return ply;
      }
    }
    return undefined;
  }

  /** @param {number} ply */
  #textOf(ply) {
    const text = store.plyOf(this.id, ply);
    if (text === undefined) {
      throw new RangeError(`the table of ply ${ply} is missing`);
    }
    return text;
  }

  /** @param {number | undefined} seat */
  #secretOf(seat) {
    const secret = seat === undefined ? undefined : this.kept.seats[seat];
    return secret === undefined ? {} : { secret };
  }

  /**
   * @param {number} seat
   * @param {Table} table
   */
  #promise(seat, table) {
    return promise(table.bytes, (key, hash) => store.keepPromise(seat, key, hash));
  }

  /**
   * @param {Table} table
   * @param {boolean} [replaces]
   */
  #add(table, replaces = false) {
    const known = this.#tableOf(table.ply);
    const isOther = known !== undefined && toText(known.content) !== toText(table.content);
    if (isOther && !replaces) {
      throw new ForkError(table.id, table.ply);
    }
    const whole = known && !isOther ? readTable(merged(known.bytes, table.bytes)) : table;
    if (isOther) {
      store.forgetAbove(this.id, table.ply);
    }
    const text = toText(whole.bytes);
    store.keepPly(this.id, table.ply, text);
    this.#read.set(table.ply, { text, table: whole });
    if (isOther || table.ply >= this.#newest.ply) {
      this.#newest = whole;
    }
  }

  #keep() {
    // Another window may have taken a seat.
    this.kept.seats = { ...store.tableOf(this.id)?.seats, ...this.kept.seats };
    this.kept.newest = this.#newest.ply;
    this.kept.changed = Date.now();
    store.keepTable(this.id, this.kept);
  }
}

/**
 * Read a table; return undefined for a text that is none.
 * @param {string} text
 */
function soundTable(text) {
  try {
    return tableIn(text);
  } catch {
    return undefined;
  }
}
