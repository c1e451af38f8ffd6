// Stores for seats at sealed tables.

/** A store for one seat. It maps keys to texts, and stores every text permanently. */
export interface SeatStore {
  /**
   * Store a string under a key, unless the key already has one. Return the string that is now stored.
   *
   * The function must return (or resolve) only when the string would survive a crash, because the acknowledgement is
   * sent afterwards.
   */
  keep(key: string, text: string): string | Promise<string>;
}

/** A store in the browser's localStorage. All pages of the origin can read it. Use it from one page at a time. */
export class LocalStorageStore implements SeatStore {
  /** `name` distinguishes several seats. */
  constructor(private readonly name: string) {}

  /** See SeatStore. Throws a DOMException if the storage is full or forbidden. */
  keep(key: string, text: string): string {
    const item = `${this.name}: ${key}`;
    const kept = localStorage.getItem(item);
    if (kept !== null) {
      return kept;
    }
    localStorage.setItem(item, text);
    return text;
  }
}

/**
 * A store in a Map. It lasts only as long as the program, so use it for tests and for games that end with the program.
 */
export class MapStore implements SeatStore {
  constructor(private readonly texts = new Map<string, string>()) {}

  /** See SeatStore. */
  keep(key: string, text: string): string {
    const kept = this.texts.get(key) ?? text;
    this.texts.set(key, kept);
    return kept;
  }
}
