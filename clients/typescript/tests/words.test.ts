import assert from "node:assert/strict";
import { test } from "node:test";

import { type GameInfo, type Phrase, Words } from "@chatiere/client";

import { at, choose, connected, gamesIn, present } from "./support.js";

interface Labelled {
  readonly label: string;
  readonly phrase?: Phrase | undefined;
}

/** Play a game, and return all messages that have labels. */
async function labelledIn(language: string, { name, maxPlayers }: GameInfo): Promise<Labelled[]> {
  const chatiere = connected({ language });
  const table = await chatiere.newGame({ game: name, players: maxPlayers, seed: 11n });
  const labelled: Labelled[] = [...table.events];
  while (table.seat !== undefined) {
    labelled.push(...table.legalActions);
    await table.move(choose(table.legalActions, table.ply));
    labelled.push(...table.events, ...table.spectator.events, ...table.seats.flatMap(({ events }) => events));
  }
  const explicit = await chatiere.newGame({ game: name, players: maxPlayers, explicitChance: true });
  return [...labelled, present(table.end), ...explicit.chanceOutcomes];
}

for (const language of ["en", "fr"] as const) {
  for (const info of await gamesIn(language)) {
    test(`phrases of ${info.name} are converted to the service's labels (${language})`, async () => {
      const words = new Words(info);
      const labelled = await labelledIn(language, info);
      assert(labelled.length > 100);
      for (const { label, phrase } of labelled) {
        assert.equal(words.write(present(phrase)), label);
      }
    });
  }
}

test("another language can have its own texts and names", async () => {
  const info = present((await gamesIn("en")).find(({ name }) => name === "discat"));
  const texts = { "action.play": "{card} ausspielen" };
  const words = new Words(info, { texts, nameOf: ({ number }) => `Karte ${number}` });
  const table = await connected().newGame({ game: "discat", players: 2, seed: 7n });
  const { phrase } = at(table.legalActions, 0);
  assert.match(words.write(present(phrase)), /^Karte \d+ ausspielen$/);
});

test("labels contain the players' names, and agree with numbers", async () => {
  const phrase = (key: string, values: Record<string, number[]>) =>
    ({ key, arguments: Object.entries(values).map(([name, numbers]) => ({ name, numbers })) }) as unknown as Phrase;
  const drawn = (count: number) => phrase("event.turn_begun", { seat: [0], draws: [count], other_seat: [2] });
  const ranked = phrase("event.trick_ranked", { ranking: [2, 0, 1] });
  for (const [language, one, two, ranking] of [
    ["en", "is to draw 1 card from Zoé", "is to draw 2 cards from Zoé", "ranking: Zoé, Ann, and Bo"],
    ["fr", "doit piocher 1 carte chez Zoé", "doit piocher 2 cartes chez Zoé", "classement\u202f: Zoé, Ann et Bo"],
  ] as const) {
    const games = await gamesIn(language);
    const wordsOf = (game: string) =>
      new Words(present(games.find(({ name }) => name === game)), { seatNames: ["Ann", "Bo", "Zoé"] });
    const momistigri = wordsOf("momistigri");
    assert.equal(momistigri.write(drawn(1)), `Ann ${one}`);
    assert.equal(momistigri.write(drawn(2)), `Ann ${two}`);
    assert.equal(wordsOf("chatpentiers").write(ranked), ranking);
  }
});

test("another language can have its own plural categories", async () => {
  const info = present((await gamesIn("en")).find(({ name }) => name === "momistigri"));
  const few = "{seat}: {draws} karty ({other_seat})";
  const texts = { "event.turn_begun": { few, other: "{seat}: {draws} karet ({other_seat})" } };
  const words = new Words(info, { texts, language: "cs" });
  const begun = (count: number) =>
    ({
      key: "event.turn_begun",
      arguments: [
        { name: "seat", numbers: [0] },
        { name: "draws", numbers: [count] },
        { name: "other_seat", numbers: [1] },
      ],
    }) as unknown as Phrase;
  assert.equal(words.write(begun(3)), "seat 0: 3 karty (seat 1)");
  assert.equal(words.write(begun(5)), "seat 0: 5 karet (seat 1)");
});

test("a phrase of another game is refused", async () => {
  const [first, second] = await gamesIn("en");
  const words = new Words(present(first));
  const { name, minPlayers } = present(second);
  const table = await connected().newGame({ game: name, players: minPlayers, seed: 7n });
  const foreign = { ...present(at(table.legalActions, 0).phrase), key: "action.of_another_game" };
  assert.throws(() => words.write(foreign), /the template action.of_another_game is absent/);
});
