"""An Apply runs the functions listed in docs/architecture.md ("The life of a call"), in order."""

import asyncio
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from importlib import import_module
from types import FrameType
from typing import Any, get_args

import grpc
import grpc.aio
import pytest
from prometheus_client import CollectorRegistry
from service.process import wait_until
from service.support import Door
from tools.client_package import ROOT
from tools.needs import require
from tools.patience import PATIENCE

from chatiere.engine import game
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import Server, create_server
from chatiere.v1 import game_pb2, game_service_pb2

APPLY = "/chatiere.v1.GameService/Apply"
# The start of the line before the list of each door.
TITLES = {"grpcio": "At grpcio's port", "fast": "At the fast door", "web": "At the web door"}
THREADS = {"grpcio": "serving loop", "fast": "fast door", "web": "serving loop"}
STEP = re.compile(r"^\d+\. `([\w.]+)` `([\w.<>]+)` ", re.MULTILINE)
# Functions of the port that are not part of a call.
OTHER_WORK = re.compile(
    r"\.ports\.(server|fast\.(port|loop)|web\.(port|acceptor))$|\.exchange\.(door|turns)$"
    # This function runs only if the message arrives after the headers.
    r"|\.guards\.idle$"
)
PERIODIC = {"_look", "look_regularly", "look_at_memory"}
Step = tuple[str, str]


def listed(door: Door) -> list[Step]:
    """Return the documented steps of a call at a door, as module and function."""
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    text = page.partition("### The headers arrive")[2].partition("### Steps that an editor cannot follow")[0]
    of_door = True
    steps = []
    for block in text.split("\n\n"):
        found = STEP.findall(block)
        if found and of_door:
            steps += found
        title = next((each for each, title in TITLES.items() if re.search(f"^{title}", block, re.MULTILINE)), None)
        of_door = title in (None, door)
    return [(f"chatiere.{module}", function) for module, function in steps]


def source_of(module: str) -> tuple[str, str]:
    """Return the suffix and the text of a module's source file."""
    folder = "http2" if module.startswith("chatiere.http2") else module.split(".")[1]
    path = ROOT / folder / module.replace(".", "/")
    suffix = next(each for each in (".pyx", ".py", ".c") if path.with_suffix(each).is_file())
    return suffix, path.with_suffix(suffix).read_text("utf-8")


def is_traced(module: str) -> bool:
    """Return whether a module is plain Python, so that its calls can be observed."""
    suffix, _ = source_of(module)
    return suffix == ".py" and str(import_module(module).__file__).endswith(".py")


def is_periodic(frame: FrameType | None) -> bool:
    """Return whether a function is part of a port's periodic checks of its memory and connections."""
    while frame is not None and frame.f_code.co_name not in PERIODIC:
        frame = frame.f_back
    return frame is not None


class Tracer:
    """Records the functions that run in the thread named `thread`, in the order of their first calls."""

    def __init__(self) -> None:
        self.thread = ""
        self.steps: dict[Step, None] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or threading.current_thread().name != self.thread or is_periodic(frame):
            return
        module = str(frame.f_globals.get("__name__"))
        if module.startswith("chatiere."):
            self.steps.setdefault((module, frame.f_code.co_qualname))


@pytest.fixture(scope="module")
def tracer() -> Tracer:
    return Tracer()


@pytest.fixture(scope="module")
def server(tracer: Tracer) -> Iterator[Server]:
    # All servers of the process share gRPC's own thread. The thread must start before the profiler, so that it is not
    # observed.
    async def begin() -> None:
        grpc.aio.init_grpc_aio()

    asyncio.run(begin())
    settings = Settings(address="127.0.0.1:0", fast_address="127.0.0.1:0", web_address="127.0.0.1:0")
    require("libnghttp2")
    threading.setprofile(tracer)
    try:
        server, _ = create_server(settings, CollectorRegistry())
        server.start()
    finally:
        threading.setprofile(None)
    yield server
    assert server.stop(None).wait(PATIENCE)


def apply_request() -> bytes:
    """Return a request to apply the first legal action of a game, with the following legal actions in the response."""
    from chatiere.service.calls.game_service import get_position, new_game

    request = game_service_pb2.NewGameRequest(game=game("discat").name, players=2, seed=7)
    begun = game_service_pb2.NewGameResponse.FromString(new_game(request.SerializeToString(), Settings()))
    include = game_pb2.Include(legal_actions=True)
    ask = game_service_pb2.GetPositionRequest(state=begun.position.state, include=include)
    found = game_service_pb2.GetPositionResponse.FromString(get_position(ask.SerializeToString()))
    action = found.position.legal_actions[0]
    return game_service_pb2.ApplyRequest(
        state=found.position.state, action=game_pb2.Action(id=action.id), include=include
    ).SerializeToString()


@contextmanager
def caller(port: int, door: Door, request: bytes) -> Iterator[Callable[[], bytes]]:
    """Yield a function that makes the call at a door. At the web door, head and body arrive together."""
    if door != "web":
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            call: Any = channel.unary_unary(APPLY)
            yield lambda: call(request)
        return
    head = f"POST {APPLY} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/proto\r\n"
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:

        def post() -> bytes:
            connection.sendall(f"{head}content-length: {len(request)}\r\n\r\n".encode() + request)
            with HTTPResponse(connection) as response:
                response.begin()
                assert response.status == 200
                return response.read()

        yield post


@pytest.mark.parametrize("door", get_args(Door))
def test_a_call_runs_the_listed_functions_in_order(door: Door, server: Server, tracer: Tracer) -> None:
    port = {"grpcio": server.port, "fast": server.fast_port, "web": server.web_port}[door]
    assert port is not None
    steps = [step for step in listed(door) if is_traced(step[0])]
    assert len(steps) > 2
    with caller(port, door, apply_request()) as call:
        tracer.thread = THREADS[door]
        # The first call opens the connection and is not recorded. A call may end after the client has the response.
        for _ in range(2):
            tracer.steps.clear()
            assert call()
            wait_until(lambda: steps[-1] in tracer.steps, "the last step")
        tracer.thread = ""
    passed = dict(tracer.steps)
    assert [step for step in passed if step in steps] == steps
    modules = {module for module, _ in passed if not OTHER_WORK.search(module)}
    assert modules - {module for module, _ in listed(door)} == set()


@pytest.mark.parametrize("door", get_args(Door))
def test_the_listed_compiled_functions_exist(door: Door) -> None:
    steps = [step for step in listed(door) if not is_traced(step[0])]
    assert steps
    for module, function in steps:
        _, text = source_of(module)
        assert all(re.search(rf"\b{name}\b.*[(:]", text) for name in function.split(".")), (module, function)
