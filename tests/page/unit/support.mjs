// A browser's storage and locks, and a service that tests play: what the page's modules expect of the world.

/** Make globals as a page finds them, with an empty storage; return what is kept in it. */
export function pageGlobals() {
  const stores = [new Map(), new Map()];
  const [local, session] = stores.map((texts) => {
    const store = Object.create({
      getItem: (key) => texts.get(key) ?? null,
      setItem: (key, text) => {
        texts.set(key, text);
        store[key] = text;
      },
      removeItem: (key) => {
        texts.delete(key);
        delete store[key];
      },
    });
    return store;
  });
  const values = {
    localStorage: local,
    sessionStorage: session,
    navigator: { languages: ["en"], locks: { request: (_, work) => work() } },
    isSecureContext: true,
    location: { href: "http://localhost/", hash: "" },
  };
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return stores[0];
}

/** Let calls be answered by `methods`: functions of the request by name; return the calls that were made. */
export function playService(methods) {
  const calls = [];
  globalThis.fetch = async (path, { body }) => {
    const method = path.split("/")[1];
    const request = JSON.parse(body);
    calls.push({ method, request });
    const { status = 200, ...response } = methods[method](request);
    return { ok: status === 200, status, headers: new Headers(), json: async () => response };
  };
  return calls;
}

/** The response of a service that refuses a call. */
export function refused(reason) {
  return { status: 400, message: reason, details: [{ type: "google.rpc.ErrorInfo", debug: { reason } }] };
}
