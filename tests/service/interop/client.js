// Calls a service with grpc-js and the API's descriptor set, as a frontend would. Prints the responses as JSON.
// Usage: node client.js HOST:PORT DESCRIPTORS COUNT. COUNT is the number of simultaneous calls.
"use strict";
const crypto = require("crypto");
const fs = require("fs");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const [address, descriptors, count] = process.argv.slice(2);
const asWritten = { keepCase: true, longs: String, defaults: true };
const definition = loader.loadFileDescriptorSetFromBuffer(fs.readFileSync(descriptors), asWritten);
const { GameService, BatchService } = grpc.loadPackageDefinition(definition).chatiere.v1;
const options = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
const plaintext = grpc.credentials.createInsecure();
const games = new GameService(address, plaintext, options);
// This client uses the connection of the first one.
const batches = new BatchService(address, plaintext, { ...options, channelOverride: games.getChannel() });

// Returns the outcome of a unary call: the response, or the error's code and message, and the trailers.
function call(stub, method, request, metadata = new grpc.Metadata()) {
  return new Promise((resolve) => {
    const outcome = {};
    const made = stub[method](request, metadata, (error, response) => {
      Object.assign(outcome, error ? { code: error.code, message: error.details } : { code: 0, response });
    });
    made.on("status", (status) => resolve({ ...outcome, trailers: status.metadata }));
  });
}

function play(requests) {
  return new Promise((resolve, reject) => {
    const responses = [];
    const stream = batches.Play();
    stream.on("data", (response) => responses.push(response));
    stream.on("error", reject);
    stream.on("end", () => resolve(responses));
    requests.forEach((request) => stream.write(request));
    stream.end();
  });
}

// Returns the details of an error, as messages by name.
function detailsOf(packed) {
  const status = definition["google.rpc.Status"].deserialize(packed);
  const read = status.details.map(({ type_url, value }) => {
    const name = type_url.split("/")[1];
    return [name, definition[name].deserialize(value)];
  });
  return Object.fromEntries(read);
}

const digest = (bytes) => crypto.createHash("sha256").update(bytes).digest("hex");

async function main() {
  const metadata = new grpc.Metadata();
  metadata.set("X-Request-Id", "Cat-1");
  metadata.set("Paw-Bin", Buffer.from([0, 255]));
  const listed = await call(games, "ListGames", {}, metadata);
  const refused = await call(games, "GetScore", {});
  const setup = { game: "discat", players: 2 };
  const many = { setup, seeds: Buffer.alloc(8 * 10000), columns: { observations: true } };
  const large = (await call(batches, "NewGames", many)).response.positions;
  const asked = Array.from({ length: Number(count) }, (_, seed) =>
    call(games, "NewGame", { game: "discat", players: 2, seed }),
  );
  const begun = await Promise.all(asked);
  const back = { setup, states: large.states };
  const streamed = await play([{ tag: "1", score: back }, { tag: "2" }, { tag: "3", score: { setup } }]);
  console.log(
    JSON.stringify({
      games: listed.response.games.map((game) => game.name),
      request_id: listed.trailers.get("x-request-id"),
      refused: { code: refused.code, message: refused.message },
      details: refused.trailers.get("grpc-status-details-bin").map(detailsOf),
      seeds: begun.map((each) => Number(each.response.position.state.stream.seed)),
      states: digest(large.states),
      observations: digest(large.observations),
      streamed: streamed.map((each) => [Number(each.tag), each.score ? each.score.final.length : each.refusal.field]),
    }),
  );
  games.close();
}

main();
