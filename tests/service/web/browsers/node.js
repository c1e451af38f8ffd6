// Plays a game with connect-node, and prints the result as JSON.
// Usage: node node.js PROTOCOL URL GAME PLAYERS SEED

import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";

import { play } from "./game.js";
import { clientOver } from "./generated_client.js";

const [protocol, baseUrl, game, players, seed] = process.argv.slice(2);
const createTransport = { connect: createConnectTransport, "grpc-web": createGrpcWebTransport }[protocol];
const client = clientOver(createTransport({ baseUrl, httpVersion: "1.1" }));
console.log(JSON.stringify(await play(client, game, Number(players), Number(seed))));
