"""Helpers for the tests of the service: a running server, refusals as clients see them, and games through calls."""

import dataclasses
import logging
import os
import queue
import random
import re
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from prometheus_client import CollectorRegistry
from tools.needs import needs, require
from tools.over import over
from tools.patience import PATIENCE as PATIENCE

from chatiere.engine.core.cancellation import Cancellation, Cancelled
from chatiere.engine.wire import Buffer
from chatiere.service.base.settings import Settings
from chatiere.service.calls.batch_service import BatchService
from chatiere.service.ports.server import Server, create_server
from chatiere.v1 import batch_service_pb2 as pb
from chatiere.v1 import batch_service_pb2_grpc, game_pb2, game_service_pb2, game_service_pb2_grpc

from .web.channel import WebChannel

# The doors of a server: the door of grpcio, the door at `fast_address`, and the door at `web_address`.
Door = Literal["grpcio", "fast", "web"]


# The doors at which a module's tests run by default: both gRPC doors. They run at all doors if DOORS is ALL_DOORS.
GRPC_DOORS = ("grpcio", pytest.param("fast", marks=needs("libnghttp2")))
ALL_DOORS = (*GRPC_DOORS, "web")
# For tests of features that the fast door does not have: TLS, reflection, channelz.
only_grpcio = pytest.mark.parametrize("door", ["grpcio"], indirect=True)
# In modules for all doors, for tests of features that the web door does not have: batches and request streams.
only_grpc = over("door", GRPC_DOORS, indirect=True)


def game_stub(channel: grpc.Channel) -> Any:
    """Return a stub of GameService. The generated code does not have types for it."""
    return game_service_pb2_grpc.GameServiceStub(channel)


def batch_stub(channel: grpc.Channel) -> Any:
    """Return a stub of BatchService. The generated code does not have types for it."""
    return batch_service_pb2_grpc.BatchServiceStub(channel)


@dataclass
class Running:
    """A started server, the address of one of its doors, and a channel to it."""

    server: Server
    address: str
    registry: CollectorRegistry
    channel: grpc.Channel
    stub: Any = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.stub = game_stub(self.channel)

    def sample(self, name: str, **labels: str) -> float:
        """Return a metric's value, or 0 if the metric does not exist yet."""
        return self.registry.get_sample_value(name, labels) or 0.0


def channel_to(address: str, door: Door) -> Any:
    """Return a channel to a door. The channel to the web door has only unary calls."""
    if door == "web":
        return WebChannel(address)
    # A whole game with all parts of its positions exceeds gRPC's default limit of 4 MB.
    return grpc.insecure_channel(address, [("grpc.max_receive_message_length", -1)])


@contextmanager
def running(settings: Settings | None = None, door: Door = "grpcio") -> Iterator[Running]:
    """Run a server on free ports, and stop it at the end. It is called at the given door.

    The test is skipped if the door was not built.
    """
    if door == "fast":
        require("libnghttp2")
    settings = settings or Settings(address="127.0.0.1:0", log_calls=True)
    if door != "grpcio":
        name = "fast_address" if door == "fast" else "web_address"
        settings = dataclasses.replace(settings, **{name: "127.0.0.1:0"})  # type: ignore[arg-type]
    registry = CollectorRegistry()
    server, port = create_server(settings, registry)
    server.start()
    address = f"127.0.0.1:{ {'grpcio': port, 'fast': server.fast_port, 'web': server.web_port}[door] }"
    with channel_to(address, door) as channel:
        yield Running(server, address, registry, channel)
    assert server.stop(None).wait(PATIENCE)


def raw(server: Running, method: str) -> Any:
    """Return a method of GameService whose request and response are bytes."""
    return server.channel.unary_unary(f"/chatiere.v1.GameService/{method}")


def served_socket(client: socket.socket) -> socket.socket:
    """Return a new descriptor for the server's end of a connection. The server is in this process."""
    for number in map(int, os.listdir("/dev/fd")):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                found = socket.socket(fileno=os.dup(number))
                with suppress(OSError):
                    if found.getpeername() == client.getsockname():
                        return found
                found.close()
    raise AssertionError("this process does not have the server's end")


@dataclass
class Refused:
    """An error as a client sees it. Reason, field and metadata are empty if the error does not have them."""

    code: grpc.StatusCode
    message: str
    reason: str = ""
    domain: str = ""
    field: str = ""
    metadata: dict[str, str] = dataclasses.field(default_factory=dict)
    # Each call has another id.
    request_id: str = dataclasses.field(default="", compare=False)
    # The number of seconds, or None if the error does not have it.
    retry_after: float | None = None


def refusal(call: Callable[..., Any], *arguments: Any, **options: Any) -> Refused:
    """Return the error of a call that must fail. Check that the request has the field that the error names."""
    try:
        answer = call(*arguments, **options)
    except grpc.RpcError as error:
        refused = read_refusal(error)
        for request in arguments:
            if refused.field and isinstance(request, Message):
                assert has_path(request.DESCRIPTOR, refused.field), refused.field
        return refused
    raise AssertionError(f"not refused: {answer}")


def has_path(message: Any, path: str) -> bool:
    """Return whether a path like `action.discat.play.cards[0]` leads from a message to a field."""
    name, _, rest = path.partition(".")
    found = re.fullmatch(r"(\w+)(\[\d+])?", name)
    field = message.fields_by_name.get(found[1]) if found else None
    if found is None or field is None or (found[2] and not field.is_repeated):
        return False
    return not rest or (field.message_type is not None and has_path(field.message_type, rest))


def read_refusal(error: Any) -> Refused:
    """Read an error and its details."""
    refused = Refused(error.code(), error.details())
    status = rpc_status.from_call(error)
    for detail in status.details if status is not None else ():
        info = error_details_pb2.ErrorInfo()
        bad_request = error_details_pb2.BadRequest()
        request = error_details_pb2.RequestInfo()
        retry = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            refused.reason = info.reason
            refused.domain = info.domain
            refused.metadata = dict(info.metadata)
        elif detail.Unpack(bad_request):
            (violation,) = bad_request.field_violations
            assert violation.description
            refused.field = violation.field
        elif detail.Unpack(request):
            refused.request_id = request.request_id
        elif detail.Unpack(retry):
            refused.retry_after = retry.retry_delay.ToTimedelta().total_seconds()
    return refused


def code_of(call: Callable[..., Any], *arguments: Any, **options: Any) -> grpc.StatusCode:
    """Return the status code of a call. It may be OK."""
    try:
        call(*arguments, **options)
    except grpc.RpcError as error:
        code: grpc.StatusCode = error.code()
        return code
    return grpc.StatusCode.OK


def play_on(
    stub: Any, position: game_pb2.Position, choices: random.Random, include: game_pb2.Include
) -> Iterator[game_pb2.Position]:
    """Play to the end at random. Yield the position after each move. `include` must include the legal actions."""
    while position.turn.kind != game_pb2.TURN_KIND_OVER:
        request = game_service_pb2.ApplyRequest(state=position.state, include=include)
        if position.turn.kind == game_pb2.TURN_KIND_CHANCE:
            request.outcome = choices.choice(position.chance_outcomes).outcome
        else:
            request.action.id = choices.choice(position.legal_actions).id
        position = stub.Apply(request).position
        yield position


def new_game(stub: Any, game: str, players: int, **fields: Any) -> game_pb2.Position:
    """Begin a game. Return its first position, with the legal actions."""
    fields.setdefault("include", game_pb2.Include(legal_actions=True))
    request = game_service_pb2.NewGameRequest(game=game, players=players, **fields)
    position: game_pb2.Position = stub.NewGame(request).position
    return position


class SlowCall:
    """Makes BatchService.NewGames last until `released` is set or its call ends."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.released = threading.Event(), threading.Event()
        self.was_cancelled = False
        self._answer = BatchService.answer
        monkeypatch.setattr(BatchService, "answer", lambda *arguments: self.answer(*arguments))

    def answer(
        self, batches: BatchService, name: str, data: Buffer, cancellation: Cancellation, hold: Any
    ) -> list[Buffer]:
        if name != "new_games":
            return self._answer(batches, name, data, cancellation, hold)
        self.entered.set()
        end = time.monotonic() + PATIENCE
        while not self.released.wait(0.01):
            assert time.monotonic() < end
            if cancellation.cancelled:
                self.was_cancelled = True
                raise Cancelled("the batch was cancelled")
        return [pb.NewGamesResponse(positions=pb.Positions(states=b"answered")).SerializeToString()]


class LogLines(logging.Handler):
    """Collects the lines of the service's log inside a `with` statement. A test can wait for a line."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []
        self._new: queue.Queue[str] = queue.Queue()
        self._logger = logging.getLogger("chatiere.service")

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        self.lines.append(line)
        self._new.put(line)

    def wait_for(self, text: str) -> str:
        """Return the next line that contains `text`."""
        while True:
            line = self._new.get(timeout=PATIENCE)
            if text in line:
                return line

    def __enter__(self) -> "LogLines":
        self._level = self._logger.level
        self._logger.setLevel(logging.INFO)
        self._logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.setLevel(self._level)
