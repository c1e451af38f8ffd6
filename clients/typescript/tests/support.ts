// The service that the tests call, and how they play.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { type Action, Chatiere, ChatiereError, type GameInfo, type Settings } from "@chatiere/client";

/** The URL of the service's door for browsers. */
export const DOOR = fromEnvironment("CHATIERE_DOOR");
/** The URL of its port for gRPC. */
export const GRPC = fromEnvironment("CHATIERE_GRPC");

/** Return what a file of vectors holds, which other clients are held against, too. */
export function vectorsIn(name: string): unknown {
  return JSON.parse(readFileSync(join(fromEnvironment("CHATIERE_VECTORS"), name), "utf8"));
}

/** Return a client. */
export function connected(settings?: Settings): Chatiere {
  return new Chatiere(DOOR, settings);
}

/** All games, with words and pieces, in a language. */
export async function gamesIn(language: string): Promise<GameInfo[]> {
  return (await connected({ language }).games.listGames({ phrases: true, pieces: true })).games;
}

/** Choose an action, the same in every run: each kind of action gets its turn, however few there are of it. */
export function choose(actions: readonly Action[], ply: number): Action {
  const kindOf = ({ game }: Action) => game.value?.action.case;
  const kinds = [...new Set(actions.map(kindOf))];
  const alike = actions.filter((action) => kindOf(action) === kinds[ply % kinds.length]);
  return at(alike, (7919 * ply) % alike.length);
}

/** Return an element of a list that has it. */
export function at<T>(items: readonly T[], index: number): T {
  const found = items[index];
  assert(found !== undefined, `no element ${index} of ${items.length}`);
  return found;
}

/** Return a value that is there. */
export function present<T>(value: T | undefined): T {
  assert(value !== undefined);
  return value;
}

/** Return the error of a call that has to fail. */
export async function refusalOf(call: Promise<unknown>): Promise<ChatiereError> {
  try {
    await call;
  } catch (error) {
    assert(error instanceof ChatiereError, String(error));
    return error;
  }
  assert.fail("nothing was refused");
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  assert(value, `${name} says where the service is`);
  return value;
}
