// The service that the tests call, and helpers for playing games.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { type Action, Chatiere, ChatiereError, type GameInfo, type Settings } from "@chatiere/client";

/** The URL of the service's web door. */
export const DOOR = fromEnvironment("CHATIERE_DOOR");
/** The URL of the service's gRPC port. */
export const GRPC = fromEnvironment("CHATIERE_GRPC");

/** The URLs of proxies to the service's web door and to its gRPC port. The proxies break connections. */
export const CUT = fromEnvironment("CHATIERE_CUT");
export const CUT_GRPC = fromEnvironment("CHATIERE_CUT_GRPC");
/** The ids of rooms in which names are posted. The last name is "last", after the proxy has broken all connections. */
export const CUT_ROOM = fromEnvironment("CHATIERE_CUT_ROOM");
export const CUT_GRPC_ROOM = fromEnvironment("CHATIERE_CUT_GRPC_ROOM");

/** Return the contents of a file of test vectors. The tests of other clients also use these files. */
export function vectorsIn(name: string): unknown {
  return JSON.parse(readFileSync(join(fromEnvironment("CHATIERE_VECTORS"), name), "utf8"));
}

/** Return a client. */
export function connected(settings?: Settings): Chatiere {
  return new Chatiere(DOOR, settings);
}

/** Return the descriptions of all games in a language, with phrases and pieces. */
export async function gamesIn(language: string): Promise<GameInfo[]> {
  return (await connected({ language }).games.listGames({ phrases: true, pieces: true })).games;
}

/** Choose an action deterministically. Each kind of action is chosen in turn, even if it is rare. */
export function choose(actions: readonly Action[], ply: number): Action {
  const kindOf = ({ game }: Action) => game.value?.action.case;
  const kinds = [...new Set(actions.map(kindOf))];
  const alike = actions.filter((action) => kindOf(action) === kinds[ply % kinds.length]);
  return at(alike, (7919 * ply) % alike.length);
}

/** Return an element of a list; throw if it is absent. */
export function at<T>(items: readonly T[], index: number): T {
  const found = items[index];
  assert(found !== undefined, `no element ${index} of ${items.length}`);
  return found;
}

/** Return a value; throw if it is absent. */
export function present<T>(value: T | undefined): T {
  assert(value !== undefined);
  return value;
}

/** Return the error of a call that must fail. */
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
  assert(value, `the environment variable ${name} is not set`);
  return value;
}
