"""The calls of a well-behaved client, at a gRPC port and at the web door."""

import http.client
import json
import secrets
import ssl
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chatiere import engine
from chatiere.clients import FastStream
from chatiere.clients.calls import batch_requests
from chatiere.v1 import batch_service_pb2 as batch
from chatiere.v1 import batch_service_pb2_grpc, game_service_pb2_grpc, room_service_pb2_grpc, table_service_pb2_grpc
from chatiere.v1 import game_service_pb2 as game
from chatiere.v1 import room_service_pb2 as room
from chatiere.v1 import table_service_pb2 as tables
from chatiere.v1.game_pb2 import Include

Calls = tuple[Callable[[], object], ...]
# The timeout of a call, in seconds.
_TIMEOUT = 5.0
_GAMES = 64
# Do not retry, so that failures are visible.
_OPTIONS = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0), ("grpc.enable_http_proxy", 0))
_FIRST = engine.games()[0]
_TABLE = tables.NewTableRequest(
    game=_FIRST.name,
    players=_FIRST.min_players,
    seats=[tables.TableSeat()] * _FIRST.min_players,
    acknowledgement=tables.ACKNOWLEDGEMENT_NONE,
)


class GrpcCalls:
    """Calls at a gRPC port. All calls except health checks share one channel."""

    def __init__(self, address: str, token: str | None, authority: bytes | None, *, has_rooms: bool = False) -> None:
        """Connect.

        Args:
            address: The address of the port.
            token: The bearer token, or None if the server requires no token.
            authority: The certificate authority, or None if the server has no TLS.
            has_rooms: True if the server has rooms.
        """
        self._address = address
        self._credentials = None if authority is None else grpc.ssl_channel_credentials(authority)
        metadata = () if token is None else (("authorization", f"Bearer {token}"),)
        self._named: dict[str, Any] = {"timeout": _TIMEOUT, "metadata": metadata}
        self._metadata = metadata
        self._channel = self._connect()
        self._game_stub = game_service_pb2_grpc.GameServiceStub(self._channel)
        self._table_stub = table_service_pb2_grpc.TableServiceStub(self._channel)
        self._batch_stub = batch_service_pb2_grpc.BatchServiceStub(self._channel)
        self._begin = game.NewGameRequest(
            game=_FIRST.name, players=_FIRST.min_players, seed=7, include=Include(legal_actions=True)
        )
        table = batch.BatchSetup(game=_FIRST.name, players=_FIRST.min_players)
        self._new_games = batch.NewGamesRequest(setup=table, count=_GAMES)
        self._asked: SimpleQueue[batch.PlayRequest | None] = SimpleQueue()
        self._stream: Any = None
        self.kinds: dict[str, Callable[[], Calls]] = {
            "game": self._game,
            "batch": self._batch,
            "health": self._health,
            "stream": self._on_stream,
        }
        if has_rooms:
            self._room_stub = room_service_pb2_grpc.RoomServiceStub(self._channel)
            self._room, self._secret = secrets.token_bytes(16), secrets.token_bytes(16)
            self._follower: Any = None
            self.kinds["room"] = self._in_room

    def close(self) -> None:
        """End all streams, and close the channel."""
        self._asked.put(None)
        self._channel.close()

    def _connect(self) -> grpc.Channel:
        if self._credentials is None:
            return grpc.insecure_channel(self._address, options=_OPTIONS)
        return grpc.secure_channel(self._address, self._credentials, options=_OPTIONS)

    def _game(self) -> Calls:
        position = None

        def begin() -> None:
            nonlocal position
            position = self._game_stub.NewGame(self._begin, **self._named).position

        def actions() -> None:
            if position is not None:
                self._game_stub.ListLegalActions(game.ListLegalActionsRequest(state=position.state), **self._named)

        def move() -> None:
            if position is not None:
                request = game.ApplyRequest(state=position.state, action=position.legal_actions[0])
                self._game_stub.Apply(request, **self._named)

        def sit_down() -> None:
            self._table_stub.NewTable(_TABLE, **self._named)

        return begin, actions, move, sit_down

    def _batch(self) -> Calls:
        def single() -> None:
            self._batch_stub.NewGames(self._new_games, **self._named)

        def stream() -> None:
            requests = iter([batch.PlayRequest(new_games=self._new_games)])
            assert len(list(self._batch_stub.Play(requests, **self._named))) == 1

        return single, stream

    def _health(self) -> Calls:
        # Use a separate connection, as Kubernetes does.
        def check() -> None:
            with self._connect() as channel:
                health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=_TIMEOUT)

        return (check,)

    def _on_stream(self) -> Calls:
        # Use one stream that stays open, as learners do. After a failure, open another stream.
        def ask() -> None:
            if self._stream is None:
                self._asked = SimpleQueue()
                self._stream = self._batch_stub.Play(iter(self._asked.get, None), metadata=self._metadata)
            timer = threading.Timer(_TIMEOUT, self._stream.cancel)
            timer.start()
            try:
                self._asked.put(batch.PlayRequest(new_games=self._new_games))
                next(self._stream)
            except BaseException:
                self._asked.put(None)
                self._stream = None
                raise
            finally:
                timer.cancel()

        return (ask,)

    def _in_room(self) -> Calls:
        # Post names, each of which must reach a follower of the room. Use the same room for all calls, like people who
        # play several games.
        def post() -> None:
            if self._follower is None:
                request = room.FollowRequest(room=self._room, secret=self._secret)
                self._follower = self._room_stub.Follow(request, metadata=self._metadata)
            timer = threading.Timer(_TIMEOUT, self._follower.cancel)
            timer.start()
            try:
                name = secrets.token_hex(8)
                self._room_stub.Post(room.PostRequest(room=self._room, secret=self._secret, name=name), **self._named)
                while all(entry.name.name != name for entry in next(self._follower).entries):
                    pass
            except BaseException:
                self._follower = None
                raise
            finally:
                timer.cancel()

        return (post,)


class SharedCalls(GrpcCalls):
    """Calls at the Unix socket of a fast door. The stream that stays open is in shared memory."""

    def __init__(self, address: str, token: str | None, authority: bytes | None, *, has_rooms: bool = False) -> None:
        """See GrpcCalls."""
        super().__init__(address, token, authority, has_rooms=has_rooms)
        self._token = token
        self._shared: FastStream | None = None

    def close(self) -> None:
        """End all streams, and close the channel."""
        super().close()
        if self._shared is not None:
            self._shared.close()

    def _on_stream(self) -> Calls:
        def ask() -> None:
            if self._shared is None:
                address = self._address.replace("unix:", "shm:", 1)
                self._shared = FastStream(address, timeout=_TIMEOUT, token=self._token)
            request = batch_requests.new_games(self._new_games.setup, count=_GAMES)
            try:
                self._shared.submit(request).result(_TIMEOUT)
            except BaseException:
                self._shared.close()
                self._shared = None
                raise

        return (ask,)


class WebCallError(Exception):
    """A call at the web door failed."""


class WebCalls:
    """Calls at the web door, in JSON. All calls except health checks share one HTTP/1.1 connection."""

    def __init__(self, address: str, token: str | None, authority: bytes | None) -> None:
        """Connect. For arguments see GrpcCalls."""
        self._address = address
        self._context = None if authority is None else ssl.create_default_context(cadata=authority.decode())
        self._headers = {"content-type": "application/json"}
        if token is not None:
            self._headers["authorization"] = f"Bearer {token}"
        self._connection = self._connect()
        self._begin = {
            "game": _FIRST.name,
            "players": _FIRST.min_players,
            "seed": "7",
            "include": {"legalActions": True},
        }
        self.kinds: dict[str, Callable[[], Calls]] = {"game": self._game, "health": self._health}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(self._address, timeout=_TIMEOUT)
        return http.client.HTTPSConnection(self._address, timeout=_TIMEOUT, context=self._context)

    def _game(self) -> Calls:
        position: Any = None

        def begin() -> None:
            nonlocal position
            position = self._call("GameService/NewGame", self._begin)["position"]

        def actions() -> None:
            if position is not None:
                self._call("GameService/ListLegalActions", {"state": position["state"]})

        def move() -> None:
            if position is not None:
                request = {"state": position["state"], "action": position["legalActions"][0]}
                self._call("GameService/Apply", request)

        def sit_down() -> None:
            self._call("TableService/NewTable", MessageToDict(_TABLE))

        return begin, actions, move, sit_down

    def _call(self, method: str, request: dict[str, Any]) -> Any:
        try:
            self._connection.request("POST", f"/chatiere.v1.{method}", json.dumps(request), headers=self._headers)
            return json.loads(_read(self._connection))
        except (OSError, http.client.HTTPException):
            # The next call connects again.
            self._connection.close()
            raise

    def _health(self) -> Calls:
        # Use a separate connection, like the health checks at gRPC ports.
        def check() -> None:
            connection = self._connect()
            try:
                connection.request("GET", "/healthz")
                _read(connection)
            finally:
                connection.close()

        return (check,)


def _read(connection: http.client.HTTPConnection) -> bytes:
    with connection.getresponse() as response:
        content = response.read()
    if response.status != 200:
        raise WebCallError(f"HTTP {response.status}: {content.decode(errors='replace')}")
    return content


def cause(error: Exception) -> str:
    """Return the reason why a call failed. Failures with the same cause have the same text."""
    return f"{error.code().name}: {error.details()}" if isinstance(error, grpc.RpcError) else repr(error)
