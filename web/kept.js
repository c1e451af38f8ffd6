// Stores responses of the service that are the same for all users at all times: facts about games, and positions of
// records. If the page opens offline, the responses are stored, so that rule sheets and records also open offline.

import { call } from "./api.js";
import { sha256, toText } from "./shared/bytes.js";

/** @typedef {import("./api.js").Methods} Methods */

const CACHE = "chatiere kept";
// The path of stored responses. The server has no files at this path.
const PATH = "kept/";

/** Return true if a service worker controls this page, so that the page opens offline. */
export function isLookedAfter() {
  // Browsers allow service workers only on pages that were loaded over HTTPS or from the same machine.
  return Boolean(navigator.serviceWorker?.controller);
}

/** Wait until a service worker controls this page. This may never happen. */
export async function lookedAfter() {
  const { serviceWorker } = navigator;
  if (!isLookedAfter()) {
    await new Promise((resolve) =>
      serviceWorker?.addEventListener("controllerchange", resolve, { once: true }),
    );
  }
}

/**
 * Make a call like `call`, and store the response. If the service cannot be reached, return the stored response.
 * @template {keyof Methods} Method
 * @param {string} shelf the name of a group of responses that are deleted together
 * @param {Method} method
 * @param {Methods[Method][0]} request
 * @returns {Promise<Methods[Method][1]>}
 */
export async function callOrKept(shelf, method, request) {
  if (!isLookedAfter()) {
    return call(method, request);
  }
  const name = `${method}/${await hashOf(request)}`;
  const answer = await call(method, request, () => kept(shelf, name));
  keep(shelf, name, answer);
  return answer;
}

/**
 * Return the hash of a value, as text.
 * @param {unknown} value
 */
export async function hashOf(value) {
  return toText(await sha256(new TextEncoder().encode(JSON.stringify(value))));
}

/**
 * Return the value stored under a name, or undefined if the name is unknown.
 * @param {string} shelf
 * @param {string} name
 */
export async function kept(shelf, name) {
  const found = await (await caches.open(CACHE)).match(PATH + shelf + "/" + name);
  const text = found?.body?.pipeThrough(new DecompressionStream("gzip"));
  return text && new Response(text).json();
}

/**
 * Store a value as the newest value.
 * @param {string} shelf
 * @param {string} name
 * @param {unknown} value
 */
export async function keep(shelf, name, value) {
  const packed = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("gzip"));
  try {
    await (await caches.open(CACHE)).put(PATH + shelf + "/" + name, new Response(packed));
  } catch {
    // The browser has no space for the value, so it is unavailable offline.
  }
}

/**
 * List the shelves whose names begin with a prefix, from the least to the most recently changed shelf.
 * @param {string} prefix
 */
export async function shelves(prefix) {
  const names = (await keys()).map(({ shelf }) => shelf).filter((name) => name.startsWith(prefix));
  return [...new Set(names.reverse())].reverse();
}

/**
 * Delete everything on a shelf.
 * @param {string} name
 */
export async function forgetShelf(name) {
  const cache = await caches.open(CACHE);
  const found = (await keys()).filter(({ shelf }) => shelf === name);
  await Promise.all(found.map(({ key }) => cache.delete(key)));
}

async function keys() {
  const found = await (await caches.open(CACHE)).keys();
  return found.map((key) => ({ key, shelf: key.url.split(`/${PATH}`)[1]?.split("/")[0] ?? "" }));
}
