// The service worker. It stores the page's files, and serves them while the server does not respond. It handles the
// page's files only, not calls.

/**
 * The files of the page: a hash of all files, and the SHA-256 of each file by its path. The server replaces this line.
 * @type {{version: string, files: Record<string, string>}}
 */
const SITE = { version: "", files: {} };

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const PREFIX = "chatiere page ";
const CACHE = PREFIX + SITE.version;
// The HTTP statuses of a proxy whose server does not respond.
const AWAY = new Set([502, 503, 504]);
// The HTTP statuses of a server that no longer has a file.
const GONE = new Set([404, 410]);

worker.addEventListener("install", (event) => event.waitUntil(keepFiles()));
worker.addEventListener("activate", (event) => event.waitUntil(takeOver()));
worker.addEventListener("fetch", (event) => {
  const path = pathOf(event.request);
  if (path !== undefined) {
    event.respondWith(responseTo(event, path));
  }
});

/**
 * Store all files of this version. If the server has a newer version by now, this fails, and the browser tries again
 * later.
 */
async function keepFiles() {
  const cache = await caches.open(CACHE);
  // Request one file at a time, so that calls do not wait for the files.
  for (const [path, hash] of Object.entries(SITE.files)) {
    const response = await fetch(path, { integrity: `sha256-${hash}`, cache: "no-cache" });
    if (!response.ok) {
      throw new Error(`HTTP ${response.status} for ${path}`);
    }
    await cache.put(path, response);
  }
  await worker.skipWaiting();
}

/** Delete the files of other versions, and control the pages that are open. */
async function takeOver() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/**
 * Return the path of the requested file, or undefined if it is not a file of the page.
 * @param {Request} request
 */
function pathOf({ method, url }) {
  const { origin, pathname } = new URL(url);
  const { scope } = worker.registration;
  const path = (origin + pathname).slice(scope.length) || "index.html";
  const isFile = method === "GET" && (origin + pathname).startsWith(scope) && Object.hasOwn(SITE.files, path);
  return isFile ? path : undefined;
}

/**
 * Return the server's response, or the stored file if the server does not respond.
 * @param {FetchEvent} event
 * @param {string} path
 */
async function responseTo(event, path) {
  const response = await fetch(event.request).catch(() => undefined);
  if (response && !AWAY.has(response.status)) {
    if (event.request.mode === "navigate") {
      event.waitUntil(giveWay());
    }
    return response;
  }
  const kept = await (await caches.open(CACHE)).match(path);
  return kept ?? response ?? Response.error();
}

/**
 * Delete the files if the server has a newer version, and unregister if it has no service worker. Old files must never
 * be mixed with new ones.
 */
async function giveWay() {
  const response = await fetch("sw.js", { cache: "no-cache" }).catch(() => undefined);
  const text = response?.ok ? await response.text() : undefined;
  if (text !== undefined ? !text.includes(SITE.version) : GONE.has(response?.status ?? 0)) {
    await caches.delete(CACHE);
    if (!text?.includes("const SITE = ")) {
      await worker.registration.unregister();
    }
  }
}
