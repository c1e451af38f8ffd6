// Lets the page open without a connection, in browsers that can.

import { Refusal } from "./api.js";
import { GAMES } from "./game.js";
import { askGames, factsOf, shelfOfGames } from "./games.js";
import { keep, kept, lookedAfter } from "./kept.js";
import { endOfSample } from "./lessons/sheet.js";

// The name of the files' cache begins so, and ends with their version.
const FILES = "chatiere page ";
// The version of the files with which all rule sheets were kept.
const VERSION = "version";

/** Keep the page's files and, once for each version of them, what the rule sheets of all games are made of. */
export async function prepare() {
  try {
    await navigator.serviceWorker?.register("sw.js");
  } catch {
    // Some browsers let no worker in, in private windows for example: the page is as without one.
    return;
  }
  await lookedAfter();
  try {
    await keepSheets();
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    // The service wants a token, perhaps: the sheets are kept another time.
  }
}

async function keepSheets() {
  const shelf = shelfOfGames();
  const version = (await caches.keys()).find((name) => name.startsWith(FILES));
  // While an update is under way there is none.
  if (version !== undefined && (await kept(shelf, VERSION)) !== version) {
    await askGames({});
    for (const game of GAMES) {
      await askGames(factsOf(game));
      await endOfSample(game);
    }
    await keep(shelf, VERSION, version);
  }
}
