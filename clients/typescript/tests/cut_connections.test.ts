import assert from "node:assert/strict";
import { test } from "node:test";

import { createGrpcTransport } from "@connectrpc/connect-node";

import { Chatiere, TransportError } from "@chatiere/client";

import { CUT, CUT_GRPC, CUT_GRPC_ROOM, CUT_ROOM } from "./support.js";

/**
 * The milliseconds of silence after which the client considers a connection broken, and the shorter time in this test.
 */
const SILENCE = 45_000;
const SHORT_SILENCE = 1000;

const PORTS = [
  { name: "the web door", service: CUT, id: CUT_ROOM },
  { name: "the gRPC port", service: () => createGrpcTransport({ baseUrl: CUT_GRPC }), id: CUT_GRPC_ROOM },
];

for (const { name, service, id } of PORTS) {
  test(`a client of ${name} continues after each way in which a connection can break`, async (t) => {
    const delayed = setTimeout;
    // Node's fetch also calls setTimeout, with arguments for `run`.
    t.mock.method(globalThis, "setTimeout", (run: () => void, milliseconds: number, ...rest: []) =>
      delayed(run, milliseconds === SILENCE ? SHORT_SILENCE : milliseconds, ...rest),
    );
    const chatiere = new Chatiere(service, { timeoutMs: SHORT_SILENCE });
    const room = await chatiere.enter(id);
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
}
