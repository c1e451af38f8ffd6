// Plays the games with all numbers of players, and prints some of what the players would see:
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

/** All screens are drawn after every move; those of the seat to decide are printed once in so many plies. */
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
      throw new Error(`ply ${host.ply} comes after ply ${ply}`);
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

/** Choose an action, the same in every run: each kind of action gets its turn, however few there are of it. */
function choose(actions: readonly Action[], ply: number): Action {
  const kindOf = ({ game }: Action) => game.value?.action.case;
  const kinds = [...new Set(actions.map(kindOf))];
  const kind = at(kinds, ply % kinds.length);
  const alike = actions.filter((action) => kindOf(action) === kind);
  return at(alike, (7919 * ply) % alike.length);
}

/** Draw what the seats see, in their order, then what a spectator sees. */
function drawAll(host: Host, pieces: Pieces): string[][] {
  checkUpdates(host);
  return host.updates.map(({ view }) => draw(given(view, "view"), pieces));
}

/** Print in all languages why an action cannot be repeated; return false if it can. */
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

/** Return the totals of the seats, "?" for those that the viewer may not know, and who won. */
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
// Seats of even numbers of players read English, the others French.
const [english, french] = [await service.games("en"), await service.games("fr")];
for (const [index, info] of english.entries()) {
  for (const table of info.byPlayers) {
    if ((game ?? info.name) === info.name && Number(players ?? table.players) === table.players) {
      const inFrench = table.players % 2 === 1;
      await play(service, inFrench ? at(french, index) : info, table.players, inFrench ? "fr" : "en");
    }
  }
}
