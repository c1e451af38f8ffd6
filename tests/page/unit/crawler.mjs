// A crawler that clicks every item of a table in every order of picks. CHATIERE_CRAWL names a file with positions of a
// game, the language, and the address of a service that explains illegal actions. See test_page_crawler.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { pageGlobals, textsIn } from "./support.mjs";

pageGlobals();
const { Refusal } = await import("../../../web/api.js");
const { clicked, explained, optionsOf } = await import("../../../web/clicks.js");
const { loadGame } = await import("../../../web/game.js");
const { gameKit } = await import("../../../web/kit.js");
const { follow } = await import("../../../web/picks.js");
const { loaded } = await import("../../../web/settings.js");
const { whyOf } = await import("../../../web/trouble.js");
const { contextOf, seatToDecide } = await import("../../../web/views.js");

const {
  address,
  language,
  game: name,
  info,
  positions,
} = JSON.parse(readFileSync(process.env.CHATIERE_CRAWL, "utf8"));
localStorage.setItem("language", language);
// The number of sets of picks after which all items of a position are clicked.
const MOST_PICKS = 40;
// Names of the API, numbers of pieces and seats, and values that are not text.
const NOT_FOR_PLAYERS =
  /[a-z]_[a-z]|[a-z][A-Z]|[A-Z]{2}_|\b(seat|siège|card|cell|joint|space|zone|action) \d|undefined|NaN|\[object|\{\w+\}/;

loaded.set("words", await textsIn("words", language));
const texts = await textsIn(`games/${name}`, language);
const kit = gameKit(name, await loadGame(name), info, texts, language);

/** Assert that a text consists of sentences in the player's words. */
function assertSentences(text, what) {
  assert.match(text, /^\P{Ll}.*[.!?…]["”»]?$/su, what);
  assert.doesNotMatch(text, NOT_FOR_PLAYERS, what);
}

/** Return the service's refusal of an action; undefined if the action is legal. */
async function refusalOf(state, action) {
  const response = await fetch(`http://${address}/chatiere.v1.GameService/Apply`, {
    method: "POST",
    headers: { "content-type": "application/json", "accept-language": language },
    body: JSON.stringify({ state, action }),
  });
  const body = await response.json();
  return response.ok ? undefined : new Refusal(response.status, body);
}

/** Click all items of a position after each order of picks. Return the number of clicks. */
async function crawl({ state, update }) {
  const me = seatToDecide(update);
  const looked = contextOf(kit, update, { width: 900, height: 700 });
  const base = { ...looked, me, turn: me, actions: update.legalActions };
  const options = optionsOf(kit, base);
  const explanations = new Map();
  const reached = new Set([""]);
  let clicks = 0;
  for (const waiting = [[]]; waiting.length > 0;) {
    const picked = waiting.shift();
    const context = { ...base, picked, candidates: follow(options, picked).candidates };
    for (const item of kit.game.draw(context).items) {
      const what = `${item.pick ?? item.key} after [${picked}] in ${JSON.stringify(update.view)}`;
      const click = item.pick === undefined ? undefined : clicked(kit, context, options, item.pick);
      clicks += 1;
      if (click === undefined) {
        assertSentences(explained(kit, context, item), what);
      } else if ("told" in click) {
        assertSentences(click.told, what);
      } else if ("tried" in click) {
        const action = JSON.stringify(click.tried);
        if (!explanations.has(action)) {
          explanations.set(action, await refusalOf(state, click.tried));
        }
        const refusal = explanations.get(action);
        assert(refusal, `${what} makes a move that was not picked: ${action}`);
        assert.equal(refusal.reason, "ILLEGAL_ACTION", `${what}: ${action}: ${refusal.message}`);
        assertSentences(whyOf(refusal), what);
      } else if (!("action" in click) && reached.size < MOST_PICKS && !reached.has(click.picked.join())) {
        reached.add(click.picked.join());
        waiting.push(click.picked);
      }
    }
  }
  return clicks;
}

test(`${name} in ${language}: every click is answered`, async () => {
  let clicks = 0;
  for (const position of positions) {
    clicks += await crawl(position);
  }
  assert(clicks > 10 * positions.length);
});
