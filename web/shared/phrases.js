// Writes the phrases of a game, with the service's templates or with other ones (docs/words.md).

/**
 * A template, or its forms by plural category.
 * @typedef {string | (Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & {readonly other: string})} Template
 */
/**
 * Templates by key.
 * @typedef {Readonly<Record<string, Template>>} Templates
 */
/**
 * A piece: the message PieceInfo.
 * @typedef {{readonly kind?: string, readonly number?: number, readonly name?: string}} Piece
 */
/**
 * A phrase, as in the message Phrase.
 * @typedef {object} Said
 * @property {string} [key]
 * @property {readonly {readonly name?: string, readonly numbers?: readonly number[]}[]} [arguments]
 */
/**
 * A template of the service: the message PhraseInfo.
 * @typedef {object} SaidInfo
 * @property {string} [key]
 * @property {string} [text]
 * @property {readonly {readonly name?: string, readonly kind?: string}[]} [arguments]
 * @property {string} [pluralArgument]
 * @property {readonly {readonly category?: string, readonly text?: string}[]} [forms]
 */
/**
 * The words of a game: its GameInfo, as returned by ListGames with `phrases` and `pieces`, as a message or in JSON. P
 * is the type of pieces.
 * @template [P=Piece]
 * @typedef {object} GameWords
 * @property {readonly SaidInfo[]} [phrases]
 * @property {readonly P[]} [pieces]
 * @property {string} [language] the language of the texts
 */
/**
 * Replacements for the service's words. P is the type of pieces.
 * @template [P=Piece]
 * @typedef {object} Wording
 * @property {readonly string[]} [seatNames] the players' names in the order of their seats, which replace "seat 2"
 * @property {Templates} [texts] templates by key; for missing keys, the service's templates are used
 * @property {string} [language] the language of `texts`, whose plural categories select their forms; by default the
 *   language of the words
 * @property {(piece: P) => string} [nameOf] returns the name of a piece
 */

/**
 * Writes the phrases of a game, like the service's labels or in another language. P is the type of pieces.
 * @template {Piece} [P=Piece]
 */
export class Words {
  /** @type {ReadonlyMap<string, SaidInfo>} */
  #phrases;
  /** @type {ReadonlyMap<string, string>} */
  #names;
  /** @type {Templates} */
  #texts;
  /** @type {readonly string[]} */
  #seatNames;
  /** @type {Intl.PluralRules} */
  #plurals;

  /**
   * @param {GameWords<P>} info
   * @param {Wording<P>} [wording]
   */
  constructor(
    info,
    { seatNames = [], texts = {}, language = info.language, nameOf = ({ name }) => name ?? "" } = {},
  ) {
    this.#phrases = new Map((info.phrases ?? []).map((phrase) => [phrase.key ?? "", phrase]));
    this.#names = new Map(
      (info.pieces ?? []).map((piece) => [`${piece.kind} ${piece.number ?? 0}`, nameOf(piece)]),
    );
    this.#texts = texts;
    this.#seatNames = seatNames;
    this.#plurals = new Intl.PluralRules(language);
  }

  /**
   * Return true if the game has the template of a phrase.
   * @param {Said} said
   */
  has({ key = "" }) {
    return this.#phrases.has(key);
  }

  /**
   * Return the text of a phrase. Throws Error if the game does not have its template.
   * @param {Said} said
   * @returns {string}
   */
  write({ key = "", arguments: said = [] }) {
    const info = given(this.#phrases.get(key), `the template ${key}`);
    const written = new Map(
      said.map(({ name = "", numbers = [] }) => {
        const kind = kindOf(info, name);
        return [name, this.#list(numbers.map((number) => this.#name(kind, number)))];
      }),
    );
    const text = this.#form(info, said.find(({ name }) => name === info.pluralArgument)?.numbers ?? []);
    return text.replace(/\{(\w+)\}/g, (/** @type {string} */ _, /** @type {string} */ name) =>
      given(written.get(name), `the argument ${name} of ${key}`),
    );
  }

  /**
   * Return the first seat that a phrase names, or undefined if it names no seat.
   * @param {Said} said
   */
  seatOf({ key = "", arguments: said = [] }) {
    const info = this.#phrases.get(key);
    const found = info && said.find(({ name = "" }) => kindOf(info, name) === "seat");
    return found?.numbers?.[0];
  }

  /**
   * Return the name of a piece, or undefined if the game does not have the piece.
   * @param {string} kind the piece's kind, such as "card"
   * @param {number} number the piece's number
   */
  nameOf(kind, number) {
    return this.#names.get(`${kind} ${number}`);
  }

  /**
   * Return the template of a phrase, in the plural form for the numbers of its plural argument.
   * @param {SaidInfo} info
   * @param {readonly number[]} counted
   */
  #form(info, counted) {
    const { key = "", text = "", pluralArgument = "", forms = [] } = info;
    const own = this.#texts[key] ?? {
      other: text,
      ...Object.fromEntries(forms.map((each) => [each.category, each.text])),
    };
    if (typeof own === "string") {
      return own;
    }
    const count = kindOf(info, pluralArgument) === "" ? Math.abs(counted[0] ?? 0) : counted.length;
    return own[this.#plurals.select(count)] ?? own.other;
  }

  /**
   * @param {string} kind
   * @param {number} number
   */
  #name(kind, number) {
    if (kind === "seat") {
      return this.#seatNames[number] ?? this.#common("argument.seat").replace("{number}", String(number));
    }
    return kind === "" ? String(number) : given(this.nameOf(kind, number), `${kind} ${number}`);
  }

  /** @param {readonly string[]} parts */
  #list(parts) {
    if (parts.length === 2) {
      return parts.join(this.#common("list.two"));
    }
    const others = parts.slice(0, -1).join(this.#common("list.middle"));
    return [...(parts.length > 1 ? [others] : []), ...parts.slice(-1)].join(this.#common("list.last"));
  }

  /**
   * Return text that all games share.
   * @param {string} key
   */
  #common(key) {
    const text = this.#texts[key] ?? given(this.#phrases.get(key), key).text ?? "";
    return typeof text === "string" ? text : text.other;
  }
}

/**
 * Return the kind of a template's argument, or "" for a number.
 * @param {SaidInfo} info
 * @param {string} argument
 */
function kindOf(info, argument) {
  return info.arguments?.find(({ name }) => name === argument)?.kind ?? "";
}

/**
 * @template T
 * @param {T | undefined} value
 * @param {string} what
 * @returns {T}
 */
function given(value, what) {
  if (value === undefined) {
    throw new Error(`${what} is absent`);
  }
  return value;
}
