import assert from "node:assert/strict";
import { test } from "node:test";

import { LocalStorageStore, MapStore } from "@chatiere/client";

/** A substitute for the browser's localStorage. */
class Storage {
  readonly items = new Map<string, string>();
  getItem(key: string): string | null {
    return this.items.get(key) ?? null;
  }
  setItem(key: string, text: string): void {
    this.items.set(key, text);
  }
}

const storage = new Storage();
Object.defineProperty(globalThis, "localStorage", { value: storage });

for (const [name, store, again] of [
  ["localStorage", new LocalStorageStore("anna"), new LocalStorageStore("anna")],
  ["a Map", ...(() => [new MapStore(new Map()), undefined] as const)()],
] as const) {
  test(`${name} stores only the first text of a key`, () => {
    assert.equal(store.keep("key", "first"), "first");
    assert.equal(store.keep("key", "second"), "first");
    assert.equal(store.keep("other", "second"), "second");
    assert.equal((again ?? store).keep("key", "third"), "first");
  });
}

test("stores with different names are independent", () => {
  new LocalStorageStore("bea").keep("key", "bea's");
  assert.equal(new LocalStorageStore("anna").keep("key", ""), "first");
  assert.equal(storage.items.get("bea: key"), "bea's");
});
