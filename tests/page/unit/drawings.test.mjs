// The drawings of all games, as items. The document of this test only measures text and collects elements.
// CHATIERE_CONTEXTS names a file of positions.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { pageGlobals, textsIn } from "./support.mjs";

pageGlobals();
const { fieldOf, loadGame } = await import("../../../web/game.js");
const { Phrases } = await import("../../../web/phrases.js");
const { follow, pick } = await import("../../../web/picks.js");
const { nameOfSeat } = await import("../../../web/seat_names.js");
const { filled } = await import("../../../web/settings.js");

const GAMES = JSON.parse(readFileSync(process.env.CHATIERE_CONTEXTS, "utf8"));
const WIDTHS = [320, 559, 700, 900, 1400];

/** Return all contexts of a game, as the table makes them. With `canAct`, omit viewers who do not have to act. */
async function contextsOf({ game: name, info, players, positions }, width, canAct) {
  const game = await loadGame(name);
  const texts = await textsIn(`games/${name}`);
  const field = fieldOf(name);
  const phrases = new Phrases(info);
  return positions.flatMap((viewers) =>
    viewers.flatMap((update, me) => {
      const { view } = update;
      const turn = view.turn?.kind === "TURN_KIND_DECISION" ? (view.turn.seat ?? 0) : undefined;
      const context = {
        view: view[field],
        update,
        details: info.pieceDetails[field],
        players,
        me: me < players ? me : undefined,
        turn,
        actions: me === turn ? update.legalActions : [],
        width,
        height: 700,
        picked: [],
        candidates: new Set(),
        ui: {},
        redraw: () => undefined,
        nameOf: (kind, number) => phrases.nameOf(kind, number),
        seatName: nameOfSeat,
        t: (key, values) => filled(texts[key] ?? assert.fail(`no text ${key}`), values),
      };
      return canAct && me !== turn ? [] : [context];
    }),
  );
}

/** Call `see` with each number in a value, and with the path to this number. */
function numbersIn(value, see, way = "") {
  if (typeof value === "number") {
    see(value, way);
  } else if (Array.isArray(value) || value instanceof Map || value instanceof Set) {
    [...value].forEach((each, index) => numbersIn(each, see, `${way}[${index}]`));
  } else if (typeof value === "object" && value !== null) {
    Object.entries(value).forEach(([name, each]) => numbersIn(each, see, `${way}.${name}`));
  }
}

for (const entry of GAMES) {
  const { game: name, players } = entry;
  const { game } = await import(`../../../web/games/${name}/game.js`);
  const { layoutOf } = await import(`../../../web/games/${name}/layout.js`);

  for (const width of WIDTHS) {
    test(`${name} with ${players}, ${width} wide: all items are within the drawing`, async () => {
      for (const context of await contextsOf(entry, width, false)) {
        const layout = layoutOf(context);
        numbersIn(layout, (number, way) => assert(Number.isFinite(number), `${way} is ${number}`));
        const { items, height, board, extent } = game.draw(context);
        assert(height > 0 && (board === undefined) === (extent === undefined));
        const keys = items.map(({ key }) => key);
        assert.deepEqual([...keys].sort(), [...new Set(keys)].sort());
        for (const item of items) {
          const { key, x, y, board: onBoard } = item;
          numbersIn(item, (number, way) => assert(Number.isFinite(number), `${key}${way} is ${number}`));
          assert.equal(typeof item.stamp, "string");
          if (!onBoard) {
            assert(x >= -1 && x <= width + 1 && y >= -8 && y <= height + 1, `${key} is at ${x}, ${y}`);
          }
        }
      }
    });
  }

  test(`${name} with ${players}: the areas of the other players do not overlap`, async () => {
    for (const width of WIDTHS) {
      for (const context of await contextsOf(entry, width, false)) {
        const { others = [] } = layoutOf(context);
        const boxes = others.map(({ box, plate, ...own }) => box ?? plate ?? own);
        boxes.forEach((one, index) =>
          boxes.slice(0, index).forEach((other) => {
            const isBeside = one.x >= other.x + other.width || other.x >= one.x + one.width;
            assert(isBeside || one.y >= other.y + other.height || other.y >= one.y + one.height);
          }),
        );
      }
    }
  });

  test(`${name} with ${players}: an item with another look has another stamp`, async () => {
    const looks = new Map();
    for (const width of WIDTHS) {
      for (const context of (await contextsOf(entry, width, false)).filter(({ me }) => !me)) {
        for (const { key, stamp, draw } of game.draw(context).items) {
          const look = draw().text.replaceAll(/copied-\d+/g, "");
          const id = `${key} ${stamp}`;
          assert((looks.get(id) ?? look) === look, id);
          looks.set(id, look);
        }
      }
    }
  });

  test(`${name} with ${players}: each legal action can be picked from drawn items`, async () => {
    const contexts = await contextsOf(entry, 900, true);
    assert(contexts.length > 3);
    for (const context of contexts) {
      const options = context.actions.map((action) => ({ action, picks: game.picks(action, context) }));
      for (const { action, picks } of options) {
        let picked = [];
        for (const key of picks.keys) {
          const { candidates } = follow(options, picked);
          assert(candidates.has(key), `${key} of ${action.label} can't be picked after ${picked}`);
          const { items } = game.draw({ ...context, picked, candidates });
          assert(
            items.some((item) => item.pick === key),
            `${key} of ${action.label} is not drawn`,
          );
          picked = pick(options, picked, key);
        }
        const { complete } = follow(options, picked);
        assert(complete.includes(action), `${action.label} is not picked by ${picks.keys}`);
        assert.notEqual(game.prompt({ ...context, picked }), "");
      }
    }
  });

  test(`${name} with ${players}: each drawn item that can be tried gives one part of an action`, async () => {
    let tried = 0;
    for (const context of await contextsOf(entry, 900, true)) {
      for (const { pick: key } of game.draw(context).items) {
        const part = key === undefined ? undefined : game.attempt([key], context);
        if (part !== undefined) {
          tried += 1;
          assert.equal(Object.keys(part).length, 1);
          numbersIn(part, (number, way) => assert(Number.isInteger(number), `${key}: ${way} is ${number}`));
        }
      }
    }
    assert(tried > 0);
  });

  test(`${name} with ${players}: the description of the table consists of whole sentences`, async () => {
    for (const context of await contextsOf(entry, 900, false)) {
      const scores = context.update.score?.detail?.[fieldOf(name)]?.seats ?? [];
      const sentences = [...game.summary(context)];
      for (let seat = 0; seat < players; seat++) {
        for (const [part, points] of game.breakdown(seat, scores[seat] ?? {}, context)) {
          sentences.push(part);
          assert(Number.isInteger(points));
        }
      }
      assert(sentences.length > 2);
      for (const line of sentences) {
        assert(line.trim() !== "" && !/undefined|NaN|\[object|\{\w+\}/.test(line), line);
      }
      for (const event of context.update.events ?? []) {
        assert.equal(typeof game.isMoment(event), "boolean");
      }
    }
  });
}

test("the Princess is a black cat", async () => {
  const { princess } = await import("../../../web/art/pieces.js");
  const [coat] = /#[0-9a-f]{6}/.exec(princess(66).text.split("path d=M-14-6")[1]);
  const channels = [1, 3, 5].map((at) => parseInt(coat.slice(at, at + 2), 16));
  assert.ok(Math.max(...channels) < 96, coat);
});

test("chat_cartonne: the columns and rows of all cards, and next to them, have their numbers", async () => {
  for (const entry of GAMES.filter(({ game }) => game === "chat_cartonne")) {
    const { game } = await import("../../../web/games/chat_cartonne/game.js");
    for (const context of await contextsOf(entry, 900, false)) {
      const keys = new Set(game.draw(context).items.map(({ key }) => key));
      for (const { laid } of context.view.table ?? []) {
        const { row = 0, column = 0 } = context.details.cells[laid.cell ?? 0];
        for (const step of [-1, 0, 1]) {
          assert(keys.has(`column:${column + step}`) && keys.has(`row:${row + step}`), `${column}, ${row}`);
        }
      }
    }
  }
});

test("a string is cut where it is too wide, between characters that no joiner connects", async () => {
  const { cut, widthOf } = await import("../../../web/art/text.js");
  const family = "👨‍👩‍👧‍👦";
  const persian = "می‌خواهم";
  for (const text of [family.repeat(3), persian.repeat(3), "W".repeat(24)]) {
    const shown = cut(text, widthOf(text, 10) / 2, 10);
    assert.ok(shown.endsWith("…") && widthOf(shown, 10) <= widthOf(text, 10) / 2);
    assert.ok(text.startsWith(shown.slice(0, -1)));
    assert.doesNotMatch(shown, /\u200d…/);
  }
  assert.equal(cut(family.repeat(2), widthOf(family, 10) + widthOf("…", 10), 10), `${family}…`);
  assert.equal(cut(family, widthOf(family, 10), 10), family);
});
