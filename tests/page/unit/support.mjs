// The environment of the page's modules: a browser's storage and locks, and a simulated service.

/** A canvas that measures text. All letters have the same width. */
class Ruler {
  measureText(text) {
    return { width: text.length * 0.66 * Number(/(\d+(\.\d+)?)px/.exec(this.font)[1]) };
  }
}

/** An element that only collects its contents as text. */
class Drawn {
  constructor(name) {
    this.text = name;
  }

  setAttribute(name, value) {
    this.text += ` ${name}=${value}`;
  }

  append(child) {
    this.text += ` (${child.text ?? child})`;
  }

  addEventListener() {}
}

/** Define the globals of a page, with an empty storage. Return the contents of the storage. */
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
    navigator: { languages: ["en"], locks: { request: (...given) => given.at(-1)() } },
    isSecureContext: true,
    location: { href: "http://localhost/", hash: "" },
    document: {
      documentElement: {},
      createElement: () => ({ getContext: () => new Ruler() }),
      createElementNS: (_, name) => new Drawn(name),
    },
    getComputedStyle: () => ({ getPropertyValue: () => "a font" }),
  };
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return stores[0];
}

/** Return the texts of a folder of the page, as the server's modules contain them. */
export async function textsIn(folder, language = "en") {
  return (await import(`../../../web/${folder}/words.js`)).words[language];
}

/** Answer calls with `methods`. It maps each name to a function of the request. Return the list of calls. */
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
