import assert from "node:assert/strict";
import { test } from "node:test";

import { Chatiere, TransportError } from "@chatiere/client";

import { CUT, CUT_ROOM } from "./support.js";

/**
 * The milliseconds of silence after which the client considers a connection broken, and the shorter time in this test.
 */
const SILENCE = 45_000;
const SHORT_SILENCE = 1000;

test("a client continues after each way in which a connection can break", async (t) => {
  const delayed = setTimeout;
  t.mock.method(globalThis, "setTimeout", (run: () => void, milliseconds: number) =>
    delayed(run, milliseconds === SILENCE ? SHORT_SILENCE : milliseconds),
  );
  const chatiere = new Chatiere(CUT, { timeoutMs: SHORT_SILENCE });
  const room = await chatiere.enter(CUT_ROOM);
  let isOver = false;
  const follow = async () => {
    try {
      for await (const _ of room.follow()) {
        if ([...room.contents.names.values()].includes("last")) {
          room.close();
        }
      }
    } finally {
      isOver = true;
    }
  };
  const call = async () => {
    while (!isOver) {
      try {
        await chatiere.games.listGames({});
      } catch (error) {
        assert(error instanceof TransportError, String(error));
      }
    }
  };
  await Promise.all([follow(), call()]);
  await chatiere.games.listGames({});
});
