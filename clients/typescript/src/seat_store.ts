// Where a seat at sealed tables is kept.

/** A store of texts by key, which never forgets one. A store is one seat. */
export interface SeatStore {
  /**
   * Keep a text under a key, unless there is one already. Return the text that is now kept there.
   *
   * It returns (or resolves) only when the text would survive a crash: then an acknowledgement is given away.
   */
  keep(key: string, text: string): string | Promise<string>;
}

/** A seat in the browser's localStorage: every page of the origin can read it. Let one page at a time use it. */
export class LocalStorageStore implements SeatStore {
  /** `name`: of the seat, so that there can be several. */
  constructor(private readonly name: string) {}

  /** See SeatStore. Throws the DOMException of a full or forbidden storage. */
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

/** A seat in a Map, which lasts as long as the program: for tests, and for games that need not outlive it. */
export class MapStore implements SeatStore {
  constructor(private readonly texts = new Map<string, string>()) {}

  /** See SeatStore. */
  keep(key: string, text: string): string {
    const kept = this.texts.get(key) ?? text;
    this.texts.set(key, kept);
    return kept;
  }
}
