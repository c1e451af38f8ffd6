// The page without a connection: this worker keeps the page's files, and hands them out while the server does not answer. What it
// answers is not asked of it: calls, and whatever is no file of the page, pass it by.

/**
 * The files of the page, as the server has them, which writes this line anew: a hash of all, and the SHA-256 of each by its path.
 * @type {{version: string, files: Record<string, string>}}
 */
const SITE = { version: "", files: {} };

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const PREFIX = "chatiere page ";
const CACHE = PREFIX + SITE.version;
// HTTP's statuses of a proxy whose server does not answer.
const AWAY = new Set([502, 503, 504]);
// HTTP's statuses of a server that has no such file any more.
const GONE = new Set([404, 410]);

worker.addEventListener("install", (event) => event.waitUntil(keepFiles()));
worker.addEventListener("activate", (event) => event.waitUntil(takeOver()));
worker.addEventListener("fetch", (event) => {
  const path = pathOf(event.request);
  if (path !== undefined) {
    event.respondWith(responseTo(event, path));
  }
});

/** Keep all files, of this version alone: the browser tries again later where the server has another one by now. */
async function keepFiles() {
  const cache = await caches.open(CACHE);
  // One at a time, so that calls do not wait for them.
  for (const [path, hash] of Object.entries(SITE.files)) {
    const response = await fetch(path, { integrity: `sha256-${hash}`, cache: "no-cache" });
    if (!response.ok) {
      throw new Error(`HTTP ${response.status} for ${path}`);
    }
    await cache.put(path, response);
  }
  await worker.skipWaiting();
}

/** Forget the files of other versions, and look after the pages that are open. */
async function takeOver() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/**
 * Return the path of the file that is asked for; undefined if it is none of the page's.
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
 * Return what the server has, or what is kept if it does not answer.
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

/** Forget the files if the server has others by now, and leave if it has no worker: nothing old is ever shown beside new files. */
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
