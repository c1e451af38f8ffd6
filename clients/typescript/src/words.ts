import type { GameInfo, Phrase, PhraseArgument, PieceInfo } from "./generated/chatiere/v1/game_pb.js";
import { given } from "./given.js";

/** What is written in another way than the service would. */
export interface Wording {
  /** Templates by key; those of the service stay for the keys that are missing. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Returns the name of a piece. */
  readonly nameOf?: (piece: PieceInfo) => string;
}

/** Writes the phrases of a game (docs/words.md): as labels are, or in a language of one's own. */
export class Words {
  private readonly kinds = new Map<string, string>();
  private readonly names = new Map<string, string>();
  private readonly texts: ReadonlyMap<string, string>;

  /**
   * `info`: from ListGames with `words` and `pieces`, in the language of that call.
   */
  constructor(info: GameInfo, { texts = {}, nameOf = ({ name }) => name }: Wording = {}) {
    for (const { key, arguments: named } of info.phrases) {
      for (const { name, kind } of named) {
        this.kinds.set(`${key} ${name}`, kind);
      }
    }
    for (const piece of info.pieces) {
      this.names.set(`${piece.kind} ${piece.number}`, nameOf(piece));
    }
    this.texts = new Map([...info.phrases.map(({ key, text }) => [key, text] as const), ...Object.entries(texts)]);
  }

  /** Return a phrase as text; throws for one that is not of this game. */
  write({ key, arguments: said }: Phrase): string {
    const written = new Map(said.map((argument) => [argument.name, this.#written(key, argument)]));
    const text = given(this.texts.get(key), `the template ${key}`);
    return text.replace(/\{(\w+)\}/g, (_, name: string) => given(written.get(name), `the argument ${name} of ${key}`));
  }

  #written(key: string, { name, numbers }: PhraseArgument): string {
    const kind = this.kinds.get(`${key} ${name}`) ?? "";
    const isPiece = kind !== "" && kind !== "seat";
    const nameOf = (number: number) => given(this.names.get(`${kind} ${number}`), `${kind} ${number}`);
    const separator = this.texts.get("list.separator") ?? "";
    return numbers.map((number) => (isPiece ? nameOf(number) : String(number))).join(separator);
  }
}
