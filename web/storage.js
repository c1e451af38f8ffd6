// The browser's storage. If it is blocked, or if the data need not be kept, the page remembers the data until it is closed.

/** @typedef {"localStorage" | "sessionStorage"} Name */

/** @type {Record<Name, Map<string, string>>} the data that the browser does not store */
const remembered = { localStorage: new Map(), sessionStorage: new Map() };

/**
 * Return the browser's storage, or undefined if it is blocked.
 * @param {Name} name
 */
function storage(name) {
  try {
    return globalThis[name] ?? undefined;
  } catch {
    return undefined;
  }
}

/** Return true if the browser lets the page store data. */
export function canStore() {
  return storage("localStorage") !== undefined;
}

/** Return the browser's locks, which it denies together with its storage; undefined if it has no locks. */
export function locks() {
  return canStore() ? navigator.locks : undefined;
}

/**
 * @param {string} key
 * @param {Name} [name]
 */
export function read(key, name = "localStorage") {
  return remembered[name].get(key) ?? storage(name)?.getItem(key) ?? undefined;
}

/**
 * Store a text. Throws an error if there is no room for it.
 * @param {string} key
 * @param {string} text
 * @param {Name} [name]
 */
export function write(key, text, name = "localStorage") {
  const found = storage(name);
  if (found) {
    found.setItem(key, text);
    remembered[name].delete(key);
  } else {
    remembered[name].set(key, text);
  }
}

/**
 * Store a text or, if there is no room for it, remember it until the page is closed.
 * @param {string} key
 * @param {string} text
 * @param {Name} [name]
 */
export function remember(key, text, name = "localStorage") {
  try {
    write(key, text, name);
  } catch {
    remembered[name].set(key, text);
  }
}

/** @param {string} key */
export function remove(key) {
  remembered.localStorage.delete(key);
  storage("localStorage")?.removeItem(key);
}

/** Return the keys of all texts. */
export function keys() {
  return [...new Set([...Object.keys(storage("localStorage") ?? {}), ...remembered.localStorage.keys()])];
}
