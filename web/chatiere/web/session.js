// One sealed table as this browser has it: the tables of all plies, the seats it holds, and the calls for them.

import { call, Refusal } from "./api.js";
import { random, sha256, toText } from "./bytes.js";
import { awaited, joined, readTable } from "./sealed_table.js";
import * as store from "./store.js";

/** @typedef {import("./sealed_table.js").SealedTable} SealedTable */
/** @typedef {import("./game.js").Action} Action @typedef {import("./game.js").ViewerUpdate} ViewerUpdate */
/** @typedef {{bot: string} | {hash: string} | Record<string, never>} NewSeat */

/** Two different tables of one ply: somebody has moved twice, or shows different tables to different players. */
export class Fork extends Error {
  /** @param {number} ply */
  constructor(ply) {
    super(`two tables of ply ${ply}`);
    this.ply = ply;
  }
}

/** Make a secret for a seat: the secret, and its hash for all to see. */
export async function newSecret() {
  const secret = random(16);
  return { secret: toText(secret), hash: await sha256(secret) };
}

/** A table. */
export class Session {
  /** @type {SealedTable} */
  #newest;

  /** @param {string} id @param {store.Kept} kept @param {SealedTable} newest */
  constructor(id, kept, newest) {
    this.id = id;
    this.kept = kept;
    this.#newest = newest;
  }

  /**
   * Begin a game: `seats` has a bot, the hash of a seat's secret, or nothing for a secret that the service makes.
   * @param {{game: string, seats: NewSeat[], asksNext: boolean}} terms
   * @param {Record<string, string>} secrets those of this browser, by hash
   */
  static async begin({ game, seats, asksNext }, secrets) {
    const made = await call("TableService/NewTable", {
      game,
      players: seats.length,
      seats: seats.map((seat) => ("hash" in seat ? { secretSha256: seat.hash } : seat)),
      acknowledgement: asksNext ? "ACKNOWLEDGEMENT_NEXT" : "ACKNOWLEDGEMENT_NONE",
    });
    const session = Session.take([made.table], secrets);
    for (const { seat = 0, secret } of made.secrets ?? []) {
      session.kept.seats[seat] = secret;
    }
    session.#keep();
    return session;
  }

  /**
   * Open a table of this browser.
   * @param {string} id @returns {Session | undefined}
   */
  static open(id) {
    const kept = store.tableOf(id);
    const text = kept && store.plyOf(id, kept.newest);
    return text === undefined || !kept ? undefined : new Session(id, kept, readTable(text));
  }

  /**
   * Begin a game of this player alone, or of several at this screen: `seats` has bots, and undefined for people.
   * @param {string} game @param {readonly (string | undefined)[]} seats
   */
  static async beginHere(game, seats) {
    /** @type {Record<string, string>} */
    const secrets = {};
    /** @type {NewSeat[]} */
    const made = [];
    for (const bot of seats) {
      if (bot !== undefined) {
        made.push({ bot });
      } else if (isSecureContext) {
        const { secret, hash } = await newSecret();
        secrets[hash] = secret;
        made.push({ hash });
      } else {
        // Where the browser can't hash, the service makes the secret: nobody else is there who would have to trust.
        made.push({});
      }
    }
    return Session.begin({ game, seats: made, asksNext: false }, secrets);
  }

  /**
   * Take tables that somebody sent, perhaps of a table that is known. Throws RangeError for what is none, Refusal for what
   * the service did not make, and Fork.
   * @param {readonly string[]} texts @param {Record<string, string>} secrets by the hash of the seat
   * @param {boolean} [replaces] whether they take the place of other tables of their plies
   */
  static async receive(texts, secrets, replaces = false) {
    for (const { id, ply, text } of texts.map(readTable)) {
      if (store.plyOf(id, ply) !== text) {
        try {
          await call("TableService/Look", { table: text });
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
   * Take tables that are known to be the service's.
   * @param {readonly string[]} texts @param {Record<string, string>} secrets by the hash of the seat
   * @param {boolean} [replaces] whether they take the place of other tables of their plies
   */
  static take(texts, secrets, replaces = false) {
    const tables = texts.map(readTable).sort((a, b) => a.ply - b.ply);
    const newest = tables.at(-1);
    if (!newest || tables.some(({ id }) => id !== newest.id)) {
      throw new RangeError("not a sealed table");
    }
    const session =
      Session.open(newest.id) ??
      new Session(
        newest.id,
        { game: newest.game, seats: {}, newest: newest.ply, changed: Date.now(), isOver: false },
        newest,
      );
    newest.seats.forEach(({ hash }, seat) => {
      const secret = hash === undefined ? undefined : secrets[hash];
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
  get awaited() {
    return awaited(this.#newest);
  }

  /** Acknowledge the newest table for the seats of this browser that it waits for. Throws Fork, Refusal. */
  async acknowledge() {
    for (const seat of this.awaited) {
      const secret = this.kept.seats[seat];
      if (secret !== undefined) {
        const table = this.#newest;
        const answer = await call("TableService/Acknowledge", { table: table.text, secret });
        if (this.#newest !== table) {
          return;
        }
        // Only what the service found authentic is promised, and nobody gets the acknowledgement before that.
        await this.#promise(seat, table);
        this.#add(readTable(answer.table));
        this.#keep();
      }
    }
  }

  /** Whether the table of a ply is here, and open in the form that came here. @param {number} ply */
  isOpen(ply) {
    const text = store.plyOf(this.id, ply);
    return text !== undefined && awaited(readTable(text)).length === 0;
  }

  /**
   * Look at the newest table, or at the one of another ply, as a seat of this browser or, without one, as a spectator.
   * @param {number | undefined} seat @param {number} [ply]
   * @returns {Promise<ViewerUpdate>}
   */
  async look(seat, ply = this.#newest.ply) {
    const { update } = await call("TableService/Look", { table: this.#textOf(ply), ...this.#secretOf(seat) });
    return update;
  }

  /**
   * Make a decision: an action of a seat, or without one that of a bot. Returns what the seat sees of the new table;
   * undefined if that is not open yet, or if the newest table has become another one meanwhile. Throws Refusal, Fork.
   * @param {number | undefined} seat @param {Action} [action]
   * @returns {Promise<ViewerUpdate | undefined>}
   */
  async move(seat, action) {
    const before = this.#newest;
    const { table, update } = await call("TableService/Move", {
      table: before.text,
      ...this.#secretOf(seat),
      ...(action && { action }),
    });
    if (this.#newest !== before) {
      return undefined;
    }
    const made = readTable(table);
    if (before.asksNext && action && seat !== undefined) {
      await this.#promise(seat, made);
    }
    this.#add(made);
    this.kept.isOver = update?.view?.end !== undefined;
    this.#keep();
    return update;
  }

  /**
   * Ask a bot what a seat of this browser should do.
   * @param {number} seat @param {string} bot
   */
  async suggest(seat, bot) {
    const { suggestion } = await call("TableService/SuggestMove", {
      table: this.#newest.text,
      ...this.#secretOf(seat),
      bot,
    });
    return suggestion;
  }

  /** Return the record of a game that is over. Throws Refusal; RangeError if tables are missing. */
  async record() {
    const tables = Array.from({ length: this.#newest.ply + 1 }, (_, ply) => this.#textOf(ply));
    return (await call("TableService/GetRecord", { tables })).record;
  }

  /** Whether the last decision of this browser's players can be taken back: where nobody else plays, and none is asked. */
  get canUndo() {
    return this.isAlone && !this.#newest.asksNext && this.#lastOwn() !== undefined;
  }

  /** Take the last decision of this browser's players back, and all that came of it. */
  undo() {
    const own = this.#lastOwn();
    if (own !== undefined) {
      this.#newest = readTable(this.#textOf(own - 1));
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
   * Return the tables that the other players may lack: all since one's own decision before the last.
   * @returns {string[]}
   */
  news() {
    const own = this.#ownBefore(this.#newest.ply) ?? 0;
    const first = Math.max(0, Math.min(own, this.#newest.ply - 1));
    const texts = [];
    for (let ply = first; ply <= this.#newest.ply; ply++) {
      const text = store.plyOf(this.id, ply);
      if (text !== undefined) {
        texts.push(text);
      }
    }
    return texts;
  }

  /** @param {number} ply the ply of the last decision but one of this browser's players, or below */
  #ownBefore(ply) {
    let found = 0;
    for (let each = ply; each > 0; each--) {
      const text = store.plyOf(this.id, each);
      if (text !== undefined && this.mine.includes(readTable(text).mover)) {
        found += 1;
        if (found === 2) {
          return each;
        }
      }
    }
    return undefined;
  }

  #lastOwn() {
    for (let ply = this.#newest.ply; ply > 0; ply--) {
      const text = store.plyOf(this.id, ply);
      if (text !== undefined && readTable(text).mover in this.kept.seats) {
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

  /** @param {number} seat @param {SealedTable} table */
  async #promise(seat, table) {
    const hash = await sha256(new TextEncoder().encode(table.base));
    if ((await store.keepPromise(this.id, seat, table.ply, hash)) !== hash) {
      throw new Fork(table.ply);
    }
  }

  /** @param {SealedTable} table @param {boolean} [replaces] */
  #add(table, replaces = false) {
    const known = store.plyOf(this.id, table.ply);
    const before = known === undefined ? undefined : readTable(known);
    const isOther = before !== undefined && before.base !== table.base;
    if (isOther && !replaces) {
      throw new Fork(table.ply);
    }
    const merged = before && !isOther ? joined(before, table) : table;
    if (isOther) {
      store.forgetAbove(this.id, table.ply);
    }
    store.keepPly(this.id, table.ply, merged.text);
    if (isOther || table.ply >= this.#newest.ply) {
      this.#newest = merged;
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
