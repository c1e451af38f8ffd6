// A sealed table in this browser: the tables of all plies, the seats that the browser holds, and the calls for them.

import { call, Refusal } from "./api.js";
import { random } from "./bytes.js";
import { fromText, sha256, toText } from "./shared/bytes.js";
import { ForkError } from "./shared/fork_error.js";
import { promise } from "./shared/promises.js";
import { merged, missingSeats, readTable, toSend } from "./shared/sealed_table.js";
import * as store from "./store.js";

/** @import { ActionJson, OptionsJson, ViewerUpdateJson } from "#api/chatiere/v1/game_pb.js" */
/** @import { SuggestResponseJson } from "#api/chatiere/v1/bot_service_pb.js" */
/** @import { AmendRequestJson, TableRecordJson } from "#api/chatiere/v1/table_service_pb.js" */
/** @import { Table } from "./shared/sealed_table.js" */

/**
 * The holder of a future seat: a bot, or a person who is identified by the hash of a secret.
 * @typedef {{bot: string} | {hash: string}} NewSeat
 */
/**
 * The game of a new table, and the holders of its seats.
 * @typedef {{
 *   game: string, seats: NewSeat[], asksNext: boolean, options?: OptionsJson | undefined, allowsReplacement?: boolean,
 * }} Terms
 */

/** The maximum number of tables in a take-back: the table to return to, the newest table, and all tables in between. */
const MAX_TAKEN_BACK = 129;

/**
 * Create the secret of a seat.
 * @param {string} [known] an existing secret to use
 * @returns the secret, and its public hash
 */
export async function newSecret(known) {
  const secret = known === undefined ? random(16) : fromText(known);
  return { secret: toText(secret), hash: toText(await sha256(secret)) };
}

/**
 * Read a table from a link or from this browser's storage. Throws RangeError if the text is not a table.
 * @param {string} text
 */
export function tableIn(text) {
  return readTable(fromText(text));
}

/**
 * Create a table, and return it as text. Throws Refusal.
 * @param {Terms} terms
 */
export async function newTable({ game, seats, asksNext, options, allowsReplacement = false }) {
  const { table } = await call("TableService/NewTable", {
    game,
    players: seats.length,
    ...(options && { options }),
    seats: seats.map((seat) => ("hash" in seat ? { secretSha256: seat.hash } : seat)),
    acknowledgement: asksNext ? "ACKNOWLEDGEMENT_NEXT" : "ACKNOWLEDGEMENT_NONE",
    ...(allowsReplacement && { allowsReplacement }),
  });
  return table ?? "";
}

/** A table in this browser. */
export class Session {
  /** @type {Table} */
  #newest;
  /** @type {Map<number, {text: string, table: Table | undefined}>} the tables read so far, by ply */
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
   * @param {Record<string, string>} secrets this browser's secrets, by hash
   */
  static async begin(terms, secrets) {
    return Session.take([await newTable(terms)], secrets);
  }

  /**
   * Open a table of this browser. Returns undefined if the browser does not have it, or if it is damaged.
   * @param {string} id
   * @returns {Session | undefined}
   */
  static open(id) {
    const kept = store.tableOf(id);
    const newest = kept && soundTable(store.plyOf(id, kept.newest) ?? "");
    return kept && newest && new Session(id, kept, newest);
  }

  /**
   * Begin a game of one player, or of several players at this screen.
   * @param {string} game
   * @param {readonly (string | undefined)[]} seats the bot of each seat, or undefined for a person
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
   * Receive tables from another player, perhaps of a known game. Throws RangeError if a string is not a table, and
   * Refusal if the service did not create the table. Also throws ForkError.
   * @param {readonly string[]} texts
   * @param {Record<string, string>} secrets by the hash of the seat
   * @param {boolean} [replaces] true if these tables replace other tables of the same plies
   */
  static async receive(texts, secrets, replaces = false) {
    for (const { id, ply, bytes } of texts.map(tableIn)) {
      const table = toText(bytes);
      if (store.plyOf(id, ply) !== table) {
        try {
          await call("TableService/Look", { table });
        } catch (error) {
          // The service created the table, but it is not open yet.
          if (!(error instanceof Refusal && error.reason === "NOT_ACKNOWLEDGED")) {
            throw error;
          }
        }
      }
    }
    return Session.take(texts, secrets, replaces);
  }

  /**
   * Add tables that the service is known to have created. Throws RangeError and ForkError.
   * @param {readonly string[]} texts
   * @param {Record<string, string>} secrets by the hash of the seat
   * @param {boolean} [replaces] true if these tables replace other tables of the same plies
   */
  static take(texts, secrets, replaces = false) {
    const tables = texts.map(tableIn).sort((a, b) => a.ply - b.ply);
    const newest = tables.findLast((table) => !isProposal(table)) ?? Session.open(tables[0]?.id ?? "")?.table;
    if (!newest || tables.some(({ id }) => id !== newest.id)) {
      throw new RangeError("not tables of one game");
    }
    const { id, game, ply } = newest;
    const fresh = { game, seats: {}, persons: {}, newest: ply, changed: Date.now(), isOver: false };
    const session = Session.open(id) ?? new Session(id, fresh, newest);
    newest.seats.forEach(({ secretSha256 }, seat) => {
      const secret = secretSha256 === undefined ? undefined : secrets[secretSha256];
      if (secretSha256 !== undefined && secret !== undefined && !(seat in session.kept.seats)) {
        session.kept.seats[seat] = secret;
        session.kept.persons[seat] = secretSha256;
      }
    });
    // Store the game's entry first: it makes the game easy to find and delete if there is no room for the tables.
    session.#keep();
    tables.forEach((table) => session.#add(table, replaces));
    session.#keep();
    return session;
  }

  /** The newest table. */
  get table() {
    return this.#newest;
  }

  /**
   * The amended table that follows the newest table and is not open yet; undefined if this browser does not have one.
   */
  get proposal() {
    const proposal = soundTable(store.proposalOf(this.id) ?? "");
    return proposal?.ply === this.#newest.ply + 1 ? proposal : undefined;
  }

  /** The seats that this browser holds, in ascending order. */
  get mine() {
    return this.#seats.filter((seat) => this.#holds(seat, this.#newest));
  }

  /** The seats that this browser held until another player received them, in ascending order. */
  get lost() {
    return this.#seats.filter((seat) => !this.#holds(seat, this.#newest));
  }

  get #seats() {
    return Object.keys(this.kept.seats)
      .map(Number)
      .sort((a, b) => a - b);
  }

  /**
   * Return true if this browser holds a seat of a table.
   * @param {number} seat
   * @param {Table | undefined} table
   */
  #holds(seat, table) {
    return seat in this.kept.seats && table?.seats[seat]?.secretSha256 === this.kept.persons[seat];
  }

  /** True if this browser holds all seats of people. */
  get isAlone() {
    const { mine } = this;
    return this.#newest.seats.every(({ bot }, seat) => bot !== undefined || mine.includes(seat));
  }

  /** The seats that have not acknowledged the newest table yet. */
  get missing() {
    return missingSeats(this.#newest.bytes);
  }

  /**
   * Acknowledge the newest table for those of this browser's seats that have not done so. Throws ForkError and Refusal.
   */
  async acknowledge() {
    for (const seat of this.missing.filter((each) => this.#holds(each, this.#newest))) {
      await this.#acknowledge(seat, this.#newest);
    }
  }

  /** Consent to the proposal for those of this browser's seats that have not done so. Throws ForkError and Refusal. */
  async consent() {
    const { proposal, asked } = this;
    for (const seat of asked) {
      if (proposal) {
        await this.#acknowledge(seat, proposal);
      }
    }
  }

  /**
   * @param {number} seat
   * @param {Table} wanted
   */
  async #acknowledge(seat, wanted) {
    const before = this.#newest;
    const { table } = await call("TableService/Acknowledge", {
      table: toText(wanted.bytes),
      ...this.#secretOf(seat, wanted),
    });
    if (this.#newest === before) {
      // Promise a table after the service has found it authentic, and before other players get the acknowledgement.
      await this.#promise(seat, wanted);
      this.#add(tableIn(table ?? ""));
      this.#keep();
    }
  }

  /** The seats of this browser whose consent to the proposal is missing. */
  get asked() {
    const { proposal } = this;
    return proposal ? missingSeats(proposal.bytes).filter((seat) => this.#holds(seat, proposal)) : [];
  }

  /**
   * Propose a new holder of a seat. Throws Refusal and ForkError.
   * @param {number} asker a seat of this browser; to resign, the replaced seat itself
   * @param {number} seat
   * @param {{bot: string} | {secretSha256: string}} holder
   */
  replace(asker, seat, holder) {
    return this.#amend(asker, { replacement: { seat, holder } });
  }

  /**
   * Return the person in whose absence the other players gave a seat to a bot, by the SHA-256 of the secret. Undefined
   * if there is no such person.
   * @param {number} seat
   */
  absentee(seat) {
    return this.lent(seat)?.amendment?.replacement?.before.secretSha256;
  }

  /**
   * Return the table with which the other players gave a seat to a bot. Undefined if the seat is not lent.
   * @param {number} seat
   */
  lent(seat) {
    const isBots = (/** @type {Table | undefined} */ table) => table?.seats[seat]?.bot !== undefined;
    if (isBots(this.#newest) && !isBots(this.#tableOf(0))) {
      for (let { ply } = this.#newest; ply > 0; ply--) {
        const { asker, replacement } = this.amendmentAt(ply) ?? {};
        if (replacement?.seat === seat) {
          return asker === seat ? undefined : this.#tableOf(ply);
        }
      }
    }
    return undefined;
  }

  /** True if `takeBack` is possible. It requires that moves need no acknowledgement. */
  get canTakeBack() {
    const own = this.#lastOwn();
    return own !== undefined && !this.#newest.asksNext && this.#newest.ply - own + 1 < MAX_TAKEN_BACK;
  }

  /**
   * Propose to return to the position before the last decision of this browser's players. Throws Refusal, and
   * RangeError if tables are missing.
   * @param {number} asker a seat of this browser
   */
  takeBack(asker) {
    const ply = (this.#lastOwn() ?? 0) - 1;
    const earlier = Array.from({ length: this.#newest.ply - ply }, (_, index) => this.#textOf(ply + index));
    return this.#amend(asker, { takeBack: { ply }, earlier });
  }

  /**
   * @param {number} asker
   * @param {AmendRequestJson} wanted
   */
  async #amend(asker, wanted) {
    const before = this.#newest;
    const { table } = await call("TableService/Amend", {
      table: toText(before.bytes),
      ...this.#secretOf(asker),
      ...wanted,
    });
    if (this.#newest === before) {
      const made = tableIn(table ?? "");
      await this.#promise(asker, made);
      this.#add(made);
      this.#keep();
    }
  }

  /**
   * Return the amendment that created the table of a ply; undefined if it was created by a decision, or if the table is
   * missing.
   * @param {number} ply
   */
  amendmentAt(ply) {
    return this.#tableOf(ply)?.amendment;
  }

  /**
   * Return the table of a ply; undefined if this browser does not have it, or if it is damaged. Each table is read only
   * once while its text stays the same, because a game has hundreds of plies.
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
   * Return true if this browser has the table of a ply with all of its acknowledgements.
   * @param {number} ply
   */
  isOpen(ply) {
    const table = this.#tableOf(ply);
    return table !== undefined && missingSeats(table.bytes).length === 0;
  }

  /**
   * Look at a table as a seat of this browser or, without a seat, as a spectator.
   * @param {number | undefined} seat
   * @param {number} [ply] the newest one by default
   * @returns {Promise<ViewerUpdateJson>}
   */
  async look(seat, ply = this.#newest.ply) {
    const { update = {} } = await call("TableService/Look", {
      table: this.#textOf(ply),
      ...this.#secretOf(seat, this.#tableOf(ply)),
    });
    return update;
  }

  /**
   * Make a decision at the newest table. Without `action`, the bot whose turn it is decides. Throws Refusal and
   * ForkError.
   * @param {number | undefined} seat the seat that makes the decision or, if a bot decides, the seat that views the
   *   table, or undefined for a spectator
   * @param {ActionJson} [action] the seat's action
   * @returns {Promise<ViewerUpdateJson | undefined>} the seat's view of the new table; undefined if that table is not
   *   open yet, or if there was another newest table before the response arrived
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
   * Ask a bot which action a seat of this browser should choose.
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
   * Return the record of a game that is over. Throws Refusal, and RangeError if tables are missing.
   * @returns {Promise<TableRecordJson>}
   */
  async record() {
    const tables = Array.from({ length: this.#newest.ply + 1 }, (_, ply) => this.#textOf(ply));
    const { record = {} } = await call("TableService/GetRecord", { tables });
    return record;
  }

  /** True if the last decision of this browser's players can be undone without asking: all other seats are bots. */
  get canUndo() {
    return this.isAlone && !this.#newest.asksNext && this.#lastOwn() !== undefined;
  }

  /** Undo the last decision of this browser's players and everything after it. */
  undo() {
    const own = this.#lastOwn();
    if (own !== undefined) {
      this.#newest = tableIn(this.#textOf(own - 1));
      store.forgetAbove(this.id, own - 1);
      this.kept.isOver = false;
      this.#keep();
    }
  }

  /** Mark the game as over, so that it can be deleted to make room. */
  end() {
    this.kept.isOver = true;
    this.#keep();
  }

  /**
   * Return the tables that other players may lack, as texts, and the seats to which they should be sent.
   * @param {number} [turn] the deciding seat; absent if the game is over
   */
  toSend(turn) {
    const tables = Array.from(
      { length: this.#newest.ply + 1 },
      (_, ply) => this.#tableOf(ply)?.bytes ?? [],
    ).flat();
    const sending = toSend(tables, this.mine, turn);
    return { seats: sending.seats, texts: sending.tables.map(toText) };
  }

  /** Return the ply of the last decision of this browser's players, or undefined if they have not made any. */
  #lastOwn() {
    const { mine } = this;
    if (mine.length === 0) {
      return undefined;
    }
    for (let ply = this.#newest.ply; ply > 0; ply--) {
      const table = this.#tableOf(ply);
      if (table && mine.includes(table.mover)) {
        return ply;
      }
      // Decisions that were taken back do not count.
      ply = table?.amendment?.takeBack ? table.amendment.takeBack.ply + 1 : ply;
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

  /**
   * @param {number | undefined} seat
   * @param {Table} [table] a table at which the seat may have another holder
   */
  #secretOf(seat, table = this.#newest) {
    const secret = seat !== undefined && this.#holds(seat, table) ? this.kept.seats[seat] : undefined;
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
    if (isProposal(table)) {
      this.#addProposal(table);
      return;
    }
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
    const proposal = store.proposalOf(this.id);
    if (proposal !== undefined && (isOther || (soundTable(proposal)?.ply ?? 0) <= this.#newest.ply)) {
      store.forgetProposal(this.id);
    }
  }

  /**
   * Store a proposal in place of the previous one. A proposal with all consents becomes the next table.
   * @param {Table} table
   */
  #addProposal(table) {
    const { proposal } = this;
    const isSame = proposal && toText(proposal.content) === toText(table.content);
    const whole = isSame ? readTable(merged(proposal.bytes, table.bytes)) : table;
    if (!isProposal(whole)) {
      this.#add(whole);
    } else if (table.ply > this.#newest.ply) {
      store.keepProposal(this.id, toText(whole.bytes));
    }
  }

  #keep() {
    // Another window may have taken a seat.
    const { seats, persons } = store.tableOf(this.id) ?? {};
    this.kept.seats = { ...seats, ...this.kept.seats };
    this.kept.persons = { ...persons, ...this.kept.persons };
    this.kept.newest = this.#newest.ply;
    this.kept.changed = Date.now();
    store.keepTable(this.id, this.kept);
  }
}

/**
 * Return true if a table is a proposal: an amendment that still lacks consents.
 * @param {Table} table
 */
export function isProposal({ amendment, bytes }) {
  return amendment !== undefined && missingSeats(bytes).length > 0;
}

/**
 * Read a table. Returns undefined if the text is not a table.
 * @param {string} text
 */
function soundTable(text) {
  try {
    return tableIn(text);
  } catch {
    return undefined;
  }
}
