// Prepares the page for use without a connection, in browsers that support it.

import { Refusal } from "./api.js";
import { GAMES } from "./game.js";
import { askGames, factsOf, shelfOfGames } from "./games.js";
import { keep, kept, lookedAfter } from "./kept.js";

// The beginning of the name of the files' cache. The files' version follows it.
const FILES = "chatiere page ";
// The name under which the version of the files is stored after all rule sheets have been stored.
const VERSION = "version";

/** Store the page's files and, once for each version of them, the contents of all rule sheets. */
export async function prepare() {
  try {
    await navigator.serviceWorker?.register("sw.js");
  } catch {
    // Some browsers allow no service worker, for example in private windows. The page works without it.
    return;
  }
  await lookedAfter();
  try {
    await keepSheets();
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    // The service may require a token. The sheets are then stored at a later time.
  }
}

async function keepSheets() {
  const shelf = shelfOfGames();
  const version = (await caches.keys()).find((name) => name.startsWith(FILES));
  // During an update, the files' cache does not exist.
  if (version !== undefined && (await kept(shelf, VERSION)) !== version) {
    await askGames({});
    // Most visits do not need this module.
    const { endOfSample } = await import("./lessons/sheet.js");
    for (const game of GAMES) {
      await askGames(factsOf(game));
      await endOfSample(game);
    }
    await keep(shelf, VERSION, version);
  }
}
