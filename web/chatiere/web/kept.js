// Answers of the service that are the same for everybody at any time: what it tells of its games, and the positions of records.
// Where the page opens without a connection, they are kept, so that rule sheets and records do, too.

import { call } from "./api.js";
import { sha256, toText } from "./shared/bytes.js";

/** @typedef {import("./api.js").Methods} Methods */

const CACHE = "chatiere kept";
// The path of what is kept, where the server has nothing.
const PATH = "kept/";

/** Whether this page is looked after by the worker that lets it open without a connection. */
export function isLookedAfter() {
  // Browsers have workers only for pages by https, or from this machine.
  return Boolean(navigator.serviceWorker?.controller);
}

/** Wait until this page is looked after, which may never be so. */
export async function lookedAfter() {
  const { serviceWorker } = navigator;
  if (!isLookedAfter()) {
    await new Promise((resolve) =>
      serviceWorker?.addEventListener("controllerchange", resolve, { once: true }),
    );
  }
}

/**
 * Make a call as `call` does and keep the answer; without a connection, return what was kept.
 * @template {keyof Methods} Method
 * @param {string} shelf where it is kept: what is on one shelf is forgotten together
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
 * Return the hash of a value.
 * @param {unknown} value
 */
export async function hashOf(value) {
  return toText(await sha256(new TextEncoder().encode(JSON.stringify(value))));
}

/**
 * Return what is kept under a name; undefined if nothing is.
 * @param {string} shelf
 * @param {string} name
 */
export async function kept(shelf, name) {
  const found = await (await caches.open(CACHE)).match(PATH + shelf + "/" + name);
  const text = found?.body?.pipeThrough(new DecompressionStream("gzip"));
  return text && new Response(text).json();
}

/**
 * Keep a value, as the newest thing.
 * @param {string} shelf
 * @param {string} name
 * @param {unknown} value
 */
export async function keep(shelf, name, value) {
  const packed = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("gzip"));
  try {
    await (await caches.open(CACHE)).put(PATH + shelf + "/" + name, new Response(packed));
  } catch {
    // The browser has no room for it: without a connection it will be missing.
  }
}

/**
 * List the shelves whose names begin so, the one that was changed first first.
 * @param {string} prefix
 */
export async function shelves(prefix) {
  const names = (await keys()).map(({ shelf }) => shelf).filter((name) => name.startsWith(prefix));
  return [...new Set(names.reverse())].reverse();
}

/**
 * Forget all that is on a shelf.
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
