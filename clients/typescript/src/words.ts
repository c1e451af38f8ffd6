import type { GameInfo, Phrase, PhraseArgument, PieceInfo } from "./generated/chatiere/v1/game_pb.js";
import { given } from "./given.js";

/** Writes the phrases of a game (docs/words.md): as labels are, or in a language of one's own. */
export class Words {
  private readonly kinds = new Map<string, string>();
  private readonly names = new Map<string, string>();
  private readonly texts: ReadonlyMap<string, string>;

  /**
   * `info`: from ListGames with `words` and `pieces`. `nameOf`: returns the name of a piece. `texts`: templates by key,
   * instead of those of `info`, which are in the language of the call; a key that is missing is written as in `info`.
   */
  constructor(info: GameInfo, nameOf: (piece: PieceInfo) => string, texts: Readonly<Record<string, string>> = {}) {
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
