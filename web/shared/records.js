// Reads records of games in the text form of docs/records.md. Only the service checks, when it replays a record, that
// its moves are legal. The seats of moves and the line at the end are for people and are not compared with the game.

import { inJson } from "./field_names.js";
import { SetOptions } from "./fields.js";
import { MAX_SEATS } from "./seats.js";

const TAGS = ["game", "rules_version", "players", "chance", "seed", "game_number", "date"];
/** Maps each option that is a set, as game.option, to the field of its message that lists the members. */
const SETS = new Map(Object.entries(SetOptions));
const MAX_CHARACTERS = 2_000_000;
const MAX_LINE_LENGTH = 10_000;
const MAX_NAME_LENGTH = 100;
const MAX_QUOTE_LENGTH = 40;
const MAX_U32 = 2n ** 32n - 1n;
const MAX_U64 = 2n ** 64n - 1n;
const CONTROL = /[\p{Cc}\p{Cs}]/u;
const MOVE = /^(\d+)\. seat (\d+): (\d+)$/;
const OUTCOME = /^chance: (\d+)$/;
const END = /^(over|so far)$/;

/**
 * A record, as the message GameRecord in JSON. Its chance is a stream, or a list of outcomes if chance was explicit.
 * @typedef {object} GameRecord
 * @property {string} game
 * @property {number} rulesVersion
 * @property {number} players
 * @property {Record<string, Record<string, unknown>>} [options] by game, then by name
 * @property {{seed: string, gameNumber: string}} [stream]
 * @property {{outcomes: number[]}} [outcomes]
 * @property {number[]} actions
 * @property {string[]} seatNames
 * @property {string} date
 */

/**
 * Read a record. Throws RangeError with the number of the line if the text is not a record.
 * @param {string} text
 * @returns {GameRecord}
 */
export function readRecord(text) {
  const characters = lengthOf(text);
  if (characters > MAX_CHARACTERS) {
    throw new RangeError(`${characters} characters; a record has at most ${MAX_CHARACTERS}`);
  }
  const lines = new Lines(text);
  const tags = new Tags(lines);
  const record = beginningOf(tags);
  readMoves(lines, tags.lineAfter, record);
  return record;
}

/** The lines of a record's text, read one by one. */
class Lines {
  /** @type {string[]} */
  #lines;
  /** The number of the last line read, from 1. */
  #number = 0;

  /** @param {string} text */
  constructor(text) {
    // Editors may add a byte order mark, CRLF, or spaces at the ends of lines.
    this.#lines = text
      .replace(/^\uFEFF/, "")
      .split("\n")
      .map(trimmed);
  }

  get number() {
    return this.#number;
  }

  /** Return the next line that is not empty. */
  next() {
    while (this.#number < this.#lines.length) {
      const line = this.#lines[this.#number++] ?? "";
      const length = lengthOf(line);
      if (length > MAX_LINE_LENGTH) {
        this.fail(`a line has at most ${MAX_LINE_LENGTH} characters, not ${length}`);
      }
      if (CONTROL.test(line)) {
        this.fail("a control character");
      }
      if (line !== "" && !line.startsWith("#")) {
        return line;
      }
    }
    return this.fail("truncated: the last line must be 'over' or 'so far'");
  }

  /** Throw RangeError unless all remaining lines are empty. */
  end() {
    const more = this.#lines.findIndex((line, index) => index >= this.#number && line !== "");
    if (more >= 0) {
      this.fail("text after the end of the record", more + 1);
    }
  }

  /**
   * @param {string} message
   * @param {number} [number] the number of the line
   * @returns {never}
   */
  fail(message, number = this.#number) {
    throw new RangeError(`line ${number}: ${message}`);
  }
}

/** The tags of a record's text, and the line after them. */
class Tags {
  /**
   * The values as written, and the numbers of their lines.
   * @type {Map<string, {value: string, number: number}>}
   */
  #tags = new Map();
  #lines;

  /** @param {Lines} lines */
  constructor(lines) {
    this.#lines = lines;
    this.lineAfter = this.#read();
  }

  #read() {
    for (;;) {
      const line = this.#lines.next();
      const found = /^chance: \d/.test(line) ? null : /^(([a-z_]+)( [a-z_0-9]+)?): (.+)$/s.exec(line);
      if (!found) {
        return line;
      }
      const [, tag = "", kind = "", word, value = ""] = found;
      const known = this.#tags.get(tag);
      if (known) {
        this.#lines.fail(`duplicate tag '${tag}', first given in line ${known.number}`);
      }
      if (!(word === undefined ? TAGS : ["option", "name"]).includes(kind)) {
        this.#lines.fail(
          `unknown tag ${quoted(tag)}; tags are ${TAGS.join(", ")}, option NAME and name SEAT`,
        );
      }
      this.#tags.set(tag, { value, number: this.#lines.number });
    }
  }

  /**
   * Return true if a tag was given.
   * @param {string} tag
   */
  has(tag) {
    return this.#tags.has(tag);
  }

  /**
   * Return the second words of the tags with a given first word, in the order of their lines.
   * @param {string} kind
   */
  wordsOf(kind) {
    return [...this.#tags.keys()].flatMap((tag) =>
      tag.startsWith(`${kind} `) ? [tag.slice(kind.length + 1)] : [],
    );
  }

  /**
   * Return the value of a tag. Throws RangeError if it was not given.
   * @param {string} tag
   */
  text(tag) {
    return this.#tags.get(tag)?.value ?? this.fail(`no line '${tag}: …' before the moves`);
  }

  /**
   * Return the integer value of a tag. Throws RangeError if it is not an integer from 0 to `most`.
   * @param {string} tag
   * @param {bigint} most
   */
  integer(tag, most) {
    return integerIn(this.text(tag), tag, most, (message) => this.fail(message, tag));
  }

  /**
   * Return the decoded JSON value of a tag.
   * @param {string} tag
   * @returns {unknown}
   */
  json(tag) {
    const text = this.text(tag);
    try {
      return JSON.parse(text);
    } catch {
      return this.fail(`the value is not JSON: ${quoted(text)}`, tag);
    }
  }

  /**
   * @param {string} message
   * @param {string} [tag] the tag whose line is wrong, or "" for the line after the tags
   * @returns {never}
   */
  fail(message, tag = "") {
    return this.#lines.fail(message, this.#tags.get(tag)?.number);
  }
}

/**
 * Return the record that the tags describe, without moves.
 * @param {Tags} tags
 * @returns {GameRecord}
 */
function beginningOf(tags) {
  const game = tags.text("game");
  const rulesVersion = Number(tags.integer("rules_version", MAX_U32));
  const players = Number(tags.integer("players", MAX_U32));
  if (players < 1 || players > MAX_SEATS) {
    tags.fail(`no game has ${players} players`, "players");
  }
  const options = optionsOf(game, tags);
  return {
    game,
    rulesVersion,
    players,
    ...(Object.keys(options).length > 0 && { options: { [inJson(game)]: options } }),
    ...chanceOf(tags),
    actions: [],
    seatNames: namesOf(tags, players),
    date: dateOf(tags),
  };
}

/**
 * Return the fields for the record's chance: the stream, or an empty list of outcomes if chance is explicit.
 * @param {Tags} tags
 */
function chanceOf(tags) {
  if (!tags.has("chance")) {
    if (!tags.has("seed")) {
      tags.fail("neither 'seed: …' nor 'chance: explicit' before the moves");
    }
    const seed = String(tags.integer("seed", MAX_U64));
    const gameNumber = tags.has("game_number") ? String(tags.integer("game_number", MAX_U64)) : "0";
    return { stream: { seed, gameNumber } };
  }
  if (tags.text("chance") !== "explicit") {
    tags.fail(`chance must be 'explicit', not ${quoted(tags.text("chance"))}`, "chance");
  }
  for (const tag of ["seed", "game_number"]) {
    if (tags.has(tag)) {
      tags.fail(`explicit chance has no ${tag}`, tag);
    }
  }
  return { outcomes: { outcomes: [] } };
}

/**
 * Return the names of all seats, or an empty list if no names were given.
 * @param {Tags} tags
 * @param {number} players
 */
function namesOf(tags, players) {
  const given = tags.wordsOf("name");
  if (given.length === 0) {
    return [];
  }
  const seats = Array.from({ length: players }, (_, seat) => String(seat));
  const other = given.find((seat) => !seats.includes(seat));
  if (other !== undefined) {
    tags.fail(`no such seat: seats are 0 to ${players - 1}`, `name ${other}`);
  }
  return seats.map((seat) => {
    const tag = `name ${seat}`;
    if (!tags.has(tag)) {
      tags.fail(`no line '${tag}: …': give the names of all seats, or none`, `name ${given.at(-1)}`);
    }
    const name = tags.json(tag);
    if (typeof name !== "string" || /\p{Cs}/u.test(name)) {
      return tags.fail("a name must be a JSON string of valid characters", tag);
    }
    const length = lengthOf(name);
    if (length > MAX_NAME_LENGTH) {
      tags.fail(`a name has at most ${MAX_NAME_LENGTH} characters, not ${length}`, tag);
    }
    return name;
  });
}

/**
 * Return the date, or "" if no date was given.
 * @param {Tags} tags
 */
function dateOf(tags) {
  if (!tags.has("date")) {
    return "";
  }
  const date = tags.text("date");
  // Some browsers accept 30 February as a day of March. Like Python's, the calendar of records begins with the year 1.
  const isDay =
    /^(?!0000)\d{4}-\d\d-\d\d$/.test(date) && new Date(`${date}T00:00Z`).toJSON()?.startsWith(date);
  return isDay ? date : tags.fail(`a date is a day as YYYY-MM-DD, not ${quoted(date)}`, "date");
}

/**
 * Read the moves and the end into a record.
 * @param {Lines} lines
 * @param {string} first the first line after the tags
 * @param {GameRecord} record
 */
function readMoves(lines, first, { actions, outcomes }) {
  const integer = (/** @type {string} */ text, what = "a number") =>
    Number(integerIn(text, what, MAX_U32, (message) => lines.fail(message)));
  for (let content = contentOf(first); !END.test(content); content = contentOf(lines.next())) {
    const [, outcome] = OUTCOME.exec(content) ?? [];
    const move = MOVE.exec(content);
    if (outcome !== undefined) {
      const id = integer(outcome, "an outcome");
      (outcomes?.outcomes ?? lines.fail("outcomes are not allowed: chance comes from the seed")).push(id);
    } else if (move) {
      const [number, , id = 0] = move.slice(1).map((text) => integer(text));
      if (number !== actions.length + 1) {
        lines.fail(`this is move ${actions.length + 1}, not ${number}`);
      }
      actions.push(id);
    } else {
      lines.fail(
        "a move must be 'NUMBER. seat SEAT: ID' or 'chance: OUTCOME', and the last line 'over' or 'so far', " +
          `not ${quoted(content)}`,
      );
    }
  }
  lines.end();
}

/**
 * Remove the spaces at the end of a line in linear time. /[ \r]+$/ would take quadratic time.
 * @param {string} line
 */
function trimmed(line) {
  let end = line.length;
  while (end > 0 && " \r".includes(line.charAt(end - 1))) {
    end--;
  }
  return line.slice(0, end);
}

/**
 * Remove the comment from a line.
 * @param {string} line
 */
function contentOf(line) {
  return line.replace(/#.*/s, "").replace(/ +$/, "");
}

/**
 * Return the integer that a string represents.
 * @param {string} text
 * @param {string} what the name of the value, for errors
 * @param {bigint} most the largest valid value. The smallest is 0
 * @param {(message: string) => never} fail reports an error
 */
function integerIn(text, what, most, fail) {
  const isShort = /^\d+$/.test(text) && text.length <= String(most).length;
  if (!isShort || BigInt(text) > most) {
    fail(`${what} must be an integer from 0 to ${most}, not ${quoted(text)}`);
  }
  return BigInt(text);
}

/**
 * Return the options by name.
 * @param {string} game
 * @param {Tags} tags
 */
function optionsOf(game, tags) {
  return Object.fromEntries(
    tags.wordsOf("option").map((name) => {
      const tag = `option ${name}`;
      const found = tags.json(tag);
      if (found === null) {
        // In JSON, null means the default value.
        tags.fail(`${name} must not be null`, tag);
      }
      const list = SETS.get(`${game}.${name}`);
      return [inJson(name), list === undefined ? found : { [list]: inSet(tags, tag) }];
    }),
  );
}

/**
 * Return the members of a set in ascending order. The set is an integer. Its lowest bit represents 1.
 * @param {Tags} tags
 * @param {string} tag
 */
function inSet(tags, tag) {
  const value = tags.text(tag);
  if (!/^\d+$/.test(value)) {
    tags.fail(`'${tag}' must be an integer whose bits are a set`, tag);
  }
  const bits = [...BigInt(value).toString(2)].reverse();
  return bits.flatMap((bit, index) => (bit === "1" ? [index + 1] : []));
}

/**
 * Return the number of characters in a string. A surrogate pair counts as one.
 * @param {string} text
 */
function lengthOf(text) {
  let length = 0;
  for (const _ of text) {
    length++;
  }
  return length;
}

/**
 * Return a string in quotes for errors, shortened if it is long.
 * @param {string} text
 */
function quoted(text) {
  const characters = [...text];
  const isLong = characters.length > MAX_QUOTE_LENGTH;
  return `'${isLong ? `${characters.slice(0, MAX_QUOTE_LENGTH).join("")}…` : text}'`;
}
