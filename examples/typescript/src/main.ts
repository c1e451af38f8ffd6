// Plays the games with all numbers of players, and prints some of the screens:
//
//     node build/src/main.js HOST:PORT [GAME [PLAYERS]]

import { createGrpcTransport } from "@connectrpc/connect-node";

import type { Action, GameInfo, ViewerScore } from "../generated/chatiere/v1/game_pb.js";
import { checkUpdates } from "./checks.js";
import { draw } from "./draw/index.js";
import { at, given } from "./given.js";
import { type Host, Service } from "./host.js";
import { type Language, LANGUAGES, Pieces } from "./pieces.js";
import { refusalOf } from "./refusals.js";

/** All screens are drawn after every move. The acting seat's screen is printed once in this number of plies. */
const PRINTED = 25;

/** Play a game to its end, in the language of `info`. */
async function play(service: Service, info: GameInfo, players: number, language: Language): Promise<void> {
  const pieces = new Pieces(info);
  const host = await service.begin(info.name, players, BigInt(players), language);
  console.log(`\n=== ${info.title}, ${players} players`);
  let screens = drawAll(host, pieces);
  let drawn = screens.length;
  let refused = false;
  while (host.seat !== undefined) {
    const { ply, seat } = host;
    const { legalActions, score } = at(host.updates, seat);
    const action = choose(legalActions, ply);
    if (ply % PRINTED === 0) {
      console.log(`\nply ${ply}, seat ${seat} of ${written(score)}`);
      console.log(at(screens, seat).join("\n"));
      console.log(`chooses of ${legalActions.length}: ${action.label}`);
    }
    await host.move(action);
    if (host.ply !== ply + 1) {
      throw new Error(`ply ${host.ply} follows ply ${ply}`);
    }
    screens = drawAll(host, pieces);
    drawn += screens.length;
    refused ||= await showRefusals(host, action);
  }
  const { events, score } = at(host.updates, players);
  console.log(`\nthe end, as a spectator sees it: ${written(score)}`);
  console.log(at(screens, players).join("\n"));
  console.log(events.map(({ label }) => label).join("\n"));
  console.log(`over after ${host.ply} plies, ${drawn} screens drawn: ${given(host.end, "end").label}`);
}

/** Choose an action of a different kind each time, so that rare kinds also occur. Every run makes the same choices. */
function choose(actions: readonly Action[], ply: number): Action {
  const kindOf = ({ game }: Action) => game.value?.action.case;
  const kinds = [...new Set(actions.map(kindOf))];
  const kind = at(kinds, ply % kinds.length);
  const alike = actions.filter((action) => kindOf(action) === kind);
  return at(alike, (7919 * ply) % alike.length);
}

/** Draw the views of the seats, in order, then a spectator's. */
function drawAll(host: Host, pieces: Pieces): string[][] {
  checkUpdates(host);
  return host.updates.map(({ view }) => draw(given(view, "view"), pieces));
}

/** Try an action again. Print its refusal in all languages, or return false if it is not refused. */
async function showRefusals(host: Host, action: Action): Promise<boolean> {
  for (const language of LANGUAGES) {
    const refusal = await refusalOf(host.tried(action, language));
    if (refusal === undefined) {
      return false;
    }
    console.log(`refused (${refusal.reason} ${refusal.ruleKey} at ${refusal.field}), ${language}: ${refusal.text}`);
  }
  return true;
}

/** Return the totals of the seats ("?" if hidden from the viewer) and the winners, as text. */
function written(score: ViewerScore | undefined): string {
  const { totals, final, winners } = given(score, "score");
  const known = `totals ${totals.map(({ total }) => total ?? "?").join(" ")}`;
  return final ? `${known}, won by seat ${winners.join(" and ")}` : known;
}

const [address, game, players] = process.argv.slice(2);
if (address === undefined) {
  console.error("usage: node build/src/main.js HOST:PORT [GAME [PLAYERS]]");
  process.exit(2);
}
const service = new Service(createGrpcTransport({ baseUrl: `http://${address}` }));
// Games with an even number of players are in English, the rest in French.
const [english, french] = [await service.games("en"), await service.games("fr")];
for (const [index, info] of english.entries()) {
  for (const table of info.byPlayers) {
    if ((game ?? info.name) === info.name && Number(players ?? table.players) === table.players) {
      const inFrench = table.players % 2 === 1;
      await play(service, inFrench ? at(french, index) : info, table.players, inFrench ? "fr" : "en");
    }
  }
}
