import type { GameInfo, Phrase, PhraseArgument, PhraseInfo, PieceInfo } from "./generated/chatiere/v1/game_pb.js";
import { given } from "./given.js";

/** A template, or its forms by the plural categories of its language. */
export type Template = string | (Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string });

/** What is written in another way than the service would. */
export interface Wording {
  /** The names of the players, in seat order, instead of "seat 2". */
  readonly seatNames?: readonly string[];
  /** Templates by key; those of the service stay for the keys that are missing. */
  readonly texts?: Readonly<Record<string, Template>>;
  /** The language of `texts`, by whose plural categories their forms go. Absent: that of `info`. */
  readonly language?: string;
  /** Returns the name of a piece. */
  readonly nameOf?: (piece: PieceInfo) => string;
}

/** Writes the phrases of a game (docs/words.md): as labels are, or in a language of one's own. */
export class Words {
  private readonly phrases: ReadonlyMap<string, PhraseInfo>;
  private readonly names: ReadonlyMap<string, string>;
  private readonly texts: Readonly<Record<string, Template>>;
  private readonly seatNames: readonly string[];
  private readonly plurals: Intl.PluralRules;

  /**
   * `info`: from ListGames with `phrases` and `pieces`, in the language of that call.
   */
  constructor(info: GameInfo, wording: Wording = {}) {
    const { seatNames = [], texts = {}, language = info.language, nameOf = ({ name }) => name } = wording;
    this.phrases = new Map(info.phrases.map((phrase) => [phrase.key, phrase]));
    this.names = new Map(info.pieces.map((piece) => [`${piece.kind} ${piece.number}`, nameOf(piece)]));
    this.seatNames = seatNames;
    this.texts = texts;
    this.plurals = new Intl.PluralRules(language);
  }

  /** Return a phrase as text; throws for one that is not of this game. */
  write({ key, arguments: said }: Phrase): string {
    const info = given(this.phrases.get(key), `the template ${key}`);
    const kinds = new Map(info.arguments.map(({ name, kind }) => [name, kind]));
    const written = new Map(
      said.map(({ name, numbers }) => [name, this.#list(numbers.map((number) => this.#name(kinds.get(name), number)))]),
    );
    const counted = said.find(({ name }) => name === info.pluralArgument);
    const text = this.#form(info, counted, kinds.get(info.pluralArgument));
    return text.replace(/\{(\w+)\}/g, (_, name: string) => given(written.get(name), `the argument ${name} of ${key}`));
  }

  /** Return the text, in the form that the argument it goes by asks for. */
  #form(info: PhraseInfo, counted: PhraseArgument | undefined, kind: string | undefined): string {
    const forms =
      this.texts[info.key] ??
      ({ other: info.text, ...Object.fromEntries(info.forms.map(({ category, text }) => [category, text])) } as const);
    if (typeof forms === "string") {
      return forms;
    }
    const count = kind === "" ? Math.abs(counted?.numbers[0] ?? 0) : (counted?.numbers.length ?? 0);
    return forms[this.plurals.select(count)] ?? forms.other;
  }

  #name(kind: string | undefined, number: number): string {
    if (kind === "seat") {
      return this.seatNames[number] ?? this.#common("argument.seat").replace("{number}", String(number));
    }
    return kind === "" ? String(number) : given(this.names.get(`${kind} ${number}`), `${kind} ${number}`);
  }

  #list(parts: readonly string[]): string {
    if (parts.length === 2) {
      return parts.join(this.#common("list.two"));
    }
    const others = parts.slice(0, -1).join(this.#common("list.middle"));
    return [...(parts.length > 1 ? [others] : []), ...parts.slice(-1)].join(this.#common("list.last"));
  }

  /** Return a text that all games have. */
  #common(key: string): string {
    const text = this.texts[key] ?? given(this.phrases.get(key), key).text;
    return typeof text === "string" ? text : text.other;
  }
}
