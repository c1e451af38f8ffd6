// The script of a page for tests in browsers. It can play games with several client libraries.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { GrpcWebClientBase, MethodDescriptor, MethodType, StatusCode } from "grpc-web";

import { play } from "./game.js";
import { clientOver, GeneratedClient } from "./generated_client.js";
import { GameService } from "./generated/chatiere/v1/game_service_pb.js";
import { ErrorInfoSchema } from "./generated/google/rpc/error_details_pb.js";
import { StatusSchema } from "./generated/google/rpc/status_pb.js";

/** Create a client with the library grpc-web. Its messages are those of Protobuf-ES instead of google-protobuf. */
function grpcWebClient(url) {
  // The service does not support its other format, text.
  const client = new GrpcWebClientBase({ format: "binary" });
  const callOf = ({ name, input, output }) => {
    const path = `${url}/${GameService.typeName}/${name}`;
    const write = (request) => toBinary(input, request);
    const read = (response) => fromBinary(output, response);
    const method = new MethodDescriptor(path, MethodType.UNARY, Object, Object, write, read);
    return (request) => client.unaryCall(path, create(input, request), {}, method);
  };
  const { newGame, apply } = GameService.method;
  return new GeneratedClient({ newGame: callOf(newGame), apply: callOf(apply) }, (error) => {
    if (error.code !== StatusCode.INVALID_ARGUMENT) {
      throw error;
    }
    const status = fromBinary(StatusSchema, base64Decode(error.metadata["grpc-status-details-bin"]));
    return status.details.map((detail) => anyUnpack(detail, ErrorInfoSchema)).find((info) => info !== undefined);
  });
}

/** A client that uses JSON without a library. */
class FetchClient {
  constructor(url) {
    this.url = url;
  }

  async newGame(game, players, seed) {
    return await this.call("NewGame", { game, players, seed: String(seed) });
  }

  async apply(state, action) {
    return await this.call("Apply", { state, action });
  }

  byType({ id, label, phrase, ...typed }) {
    return typed;
  }

  reasonOf({ cause }) {
    return cause.details.find(({ type }) => type === "google.rpc.ErrorInfo").debug.reason;
  }

  async call(method, request) {
    const response = await fetch(`${this.url}/chatiere.v1.GameService/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...request, include: { legalActions: true, score: true } }),
    });
    const found = await response.json();
    if (!response.ok) {
      throw new Error(found.message, { cause: found });
    }
    return found.position;
  }
}

const CLIENTS = {
  "connect-web": (baseUrl) => clientOver(createConnectTransport({ baseUrl, useBinaryFormat: true })),
  "connect-web in JSON": (baseUrl) => clientOver(createConnectTransport({ baseUrl })),
  "connect-web by gRPC-Web": (baseUrl) => clientOver(createGrpcWebTransport({ baseUrl })),
  "grpc-web": grpcWebClient,
  fetch: (url) => new FetchClient(url),
};

/** Play a game against the service at `url`. */
globalThis.playWith = (client, url, game, players, seed) => play(CLIENTS[client](url), game, players, seed);

/** Return the names of the games. They are requested by a GET, because a browser sends a GET without a preflight
    request. */
globalThis.listGames = async (url) => {
  const query = new URLSearchParams({ connect: "v1", encoding: "json", message: "{}" });
  const response = await fetch(`${url}/chatiere.v1.GameService/ListGames?${query}`);
  return (await response.json()).games.map(({ name }) => name);
};
