"""No call causes its client's next calls to be refused. For each method, the call has the largest default request.

The next calls are made each time that the first call's memory grows, and while its client does not read the response.
"""

import json
import random
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from functools import cache, partial
from typing import Any

import h2.events
import numpy as np
import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from grpc_channelz.v1 import channelz_pb2
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from hypothesis import given
from hypothesis import strategies as st
from tables.support import Host, begun, human, played, secret_of
from tools.over import over
from tools.sample_records import TRACES, record_of

from chatiere import engine
from chatiere.bots.bot import Decisions
from chatiere.engine import Position
from chatiere.service.base.errors import Refusal
from chatiere.service.base.settings import MEMORY, Settings, split_address
from chatiere.service.guards.memory import Holding, MemoryBudget
from chatiere.v1 import batch_service_pb2 as batch_pb
from chatiere.v1 import bot_service_pb2 as bot_pb
from chatiere.v1 import bot_service_pb2_grpc, game_pb2, room_service_pb2
from chatiere.v1 import game_service_pb2 as game_service
from chatiere.v1 import table_service_pb2 as table_pb

from .process import wait_until
from .support import ALL_DOORS, PATIENCE, Door, Running, running
from .test_service_half_open import Peer
from .web.client import envelope

DOORS = ALL_DOORS
# With these settings, a large call holds more memory than all calls may hold.
SETTINGS = Settings(address="127.0.0.1:0", relay=MEMORY, channelz=True, max_undelivered_bytes=8 << 20)
# The game with the largest states and observations, and the most players.
GAME = engine.game("chat_cartonne")
PLAYERS = GAME.max_players
# The number of decisions before the position in requests.
PLY = 10
# The number of decisions whose positions fit into a response.
REPLAYED = 100
RECORD = record_of(TRACES / GAME.name / f"{PLAYERS}p-1.jsonl")
# Each character has four bytes in UTF-8, and twelve in JSON.
NAMES = [chr(0x10400 + seat) * 40 for seat in range(PLAYERS)]
EVERYTHING = game_pb2.Include(legal_actions=True, score=True, viewers=range(PLAYERS), spectator=True, seat_names=NAMES)
COLUMNS = batch_pb.Columns(legal=True, scores=True, observations=True, final_scores=True)
SETUP = batch_pb.BatchSetup(game=GAME.name, players=PLAYERS)
ITEMS, PLAYOUTS = SETTINGS.max_batch_items, SETTINGS.max_playouts
HINT = f"ismcts:simulations={SETTINGS.max_table_playouts}"
ROOM, SECRET = bytes(16), secret_of(0)
# The number of moments of a call at which other calls are made. A search has thousands of moments.
MOMENTS = 2
# Methods with many requests, and methods with many responses to one request.
STREAMS, FEEDS = ("/Play", "/ServerReflectionInfo"), ("/Follow", "/Watch")
Build = Callable[[Running], Message]


@cache
def position() -> Position:
    """Return a position in the middle of a game."""
    found, choices = GAME.new_game(PLAYERS, seed=7), random.Random(7)
    for _ in range(PLY):
        found.apply(choices.choice(found.legal_actions()))
    return found


def states(items: int = ITEMS) -> bytes:
    return position().pack() * items


def state(server: Running) -> game_pb2.State:
    """Return the state of a position in the middle of a game."""
    request = game_service.ReplayRequest(record=RECORD, from_ply=PLY, to_ply=PLY)
    found: game_pb2.State = server.stub.Replay(request, timeout=PATIENCE).positions[0].state
    return found


def apply_request(server: Running) -> Message:
    request = game_service.ApplyRequest(state=state(server), include=EVERYTHING)
    request.action.id = RECORD.actions[PLY]
    return request


def step_request() -> batch_pb.StepRequest:
    moves = np.full(ITEMS, position().legal_actions()[0], np.uint16)
    return batch_pb.StepRequest(setup=SETUP, states=states(), moves=moves.tobytes(), columns=COLUMNS)


def new_games_request() -> batch_pb.NewGamesRequest:
    return batch_pb.NewGamesRequest(setup=SETUP, count=ITEMS, columns=COLUMNS)


def of_state(kind: Any, **fields: Any) -> Build:
    return lambda server: kind(state=state(server), **fields)


def of_states(kind: Any, **fields: Any) -> Build:
    return lambda _: kind(setup=SETUP, states=states(), **fields)


def always(request: Callable[[], Message]) -> Build:
    return lambda _: request()


def table_of(server: Running, *bots: str) -> bytes:
    table, _ = begun(Host(server.server._table_keys), GAME, PLAYERS, bots=bots)
    return table


def bot_s_turn(server: Running) -> Message:
    """Return a request that makes a bot decide with the maximum number of simulations."""
    host = Host(server.server._table_keys)
    table, secrets = begun(host, GAME, PLAYERS, bots=[HINT] * (PLAYERS - 1))
    for each in played(host, table, secrets, random.Random(1)):
        if host.look(each).view.turn.seat:
            return table_pb.MoveRequest(table=each)
    raise AssertionError("no bot decides")


def seat_s_turn(server: Running) -> Message:
    table = table_of(server)
    seat = Host(server.server._table_keys).look(table).view.turn.seat
    return table_pb.SuggestMoveRequest(table=table, secret=secret_of(seat), bot=HINT)


def whole_game(server: Running) -> Message:
    host = Host(server.server._table_keys)
    return table_pb.GetRecordRequest(tables=list(played(host, *begun(host, GAME, PLAYERS), random.Random(1))))


def return_to_the_beginning(server: Running) -> Message:
    """Return a request to take back all decisions of a game that is not over."""
    host = Host(server.server._table_keys)
    table, secrets = begun(host, GAME, PLAYERS, mode=table_pb.ACKNOWLEDGEMENT_NONE)
    tables = [each for each, _ in zip(played(host, table, secrets, random.Random(1)), range(128), strict=False)]
    # The game of the last table may be over.
    *tables, _ = tables
    return table_pb.AmendRequest(
        table=tables[-1],
        secret=secret_of(0),
        take_back=table_pb.TableTakeBack(ply=0),
        earlier=tables[:-1],
    )


# Methods whose calls hold little memory: they have a position, a list or a feed.
SMALL: dict[str, Build] = {
    "chatiere.v1.GameService/ListGames": always(lambda: game_service.ListGamesRequest(phrases=True)),
    "chatiere.v1.GameService/GetRules": always(
        lambda: game_service.GetRulesRequest(game=GAME.name, audience=game_service.RULES_AUDIENCE_AUTHORS)
    ),
    "chatiere.v1.GameService/NewGame": always(
        lambda: game_service.NewGameRequest(game=GAME.name, players=PLAYERS, seed=7, include=EVERYTHING)
    ),
    "chatiere.v1.GameService/ListLegalActions": of_state(game_service.ListLegalActionsRequest),
    "chatiere.v1.GameService/Apply": apply_request,
    "chatiere.v1.GameService/GetPosition": of_state(game_service.GetPositionRequest, include=EVERYTHING),
    "chatiere.v1.GameService/GetScore": of_state(game_service.GetScoreRequest),
    "chatiere.v1.GameService/GetView": of_state(game_service.GetViewRequest, seat=0),
    "chatiere.v1.GameService/Resample": of_state(game_service.ResampleRequest, seat=0),
    "chatiere.v1.BotService/ListBots": always(lambda: bot_pb.ListBotsRequest(game=GAME.name)),
    "chatiere.v1.TableService/NewTable": always(
        lambda: table_pb.NewTableRequest(
            game=GAME.name,
            players=PLAYERS,
            seats=[human(secret_of(seat)) for seat in range(PLAYERS)],
            acknowledgement=table_pb.ACKNOWLEDGEMENT_NEXT,
        )
    ),
    "chatiere.v1.TableService/Look": lambda server: table_pb.LookRequest(table=table_of(server), secret=SECRET),
    "chatiere.v1.TableService/Acknowledge": lambda server: table_pb.AcknowledgeRequest(
        table=table_of(server), secret=SECRET
    ),
    "chatiere.v1.RoomService/Post": lambda server: room_service_pb2.PostRequest(
        room=ROOM, secret=SECRET, table=table_of(server)
    ),
    "chatiere.v1.RoomService/Follow": always(lambda: room_service_pb2.FollowRequest(room=ROOM, secret=SECRET)),
    "grpc.health.v1.Health/Check": always(health_pb2.HealthCheckRequest),
    "grpc.health.v1.Health/Watch": always(health_pb2.HealthCheckRequest),
    **{
        # Both versions have the same messages.
        f"grpc.reflection.{version}.ServerReflection/ServerReflectionInfo": always(
            lambda: reflection_pb2.ServerReflectionRequest(file_containing_symbol="chatiere.v1.GameService")
        )
        for version in ("v1", "v1alpha")
    },
    **{
        f"grpc.channelz.v1.Channelz/{each.name}": always(getattr(channelz_pb2, each.input_type.name))
        for each in channelz_pb2.DESCRIPTOR.services_by_name["Channelz"].methods
    },
}
# Map a method and a case to a function that builds the largest request, and to whether the response takes longer than a
# test should wait.
LARGE: dict[tuple[str, str], tuple[Build, bool]] = {
    ("chatiere.v1.GameService/Replay", ""): (
        always(lambda: game_service.ReplayRequest(record=RECORD, to_ply=REPLAYED, include=EVERYTHING)),
        False,
    ),
    ("chatiere.v1.BatchService/NewGames", ""): (always(new_games_request), False),
    ("chatiere.v1.BatchService/Step", ""): (always(step_request), False),
    ("chatiere.v1.BatchService/Playout", ""): (of_states(batch_pb.PlayoutRequest, playouts=PLAYOUTS // ITEMS), True),
    ("chatiere.v1.BatchService/Evaluate", ""): (of_states(batch_pb.EvaluateRequest, worlds=1, playouts=1), True),
    ("chatiere.v1.BatchService/Score", ""): (of_states(batch_pb.ScoreRequest), False),
    ("chatiere.v1.BatchService/ResampleStates", ""): (
        of_states(batch_pb.ResampleStatesRequest, seats=bytes(ITEMS)),
        False,
    ),
    ("chatiere.v1.BatchService/Observe", ""): (of_states(batch_pb.ObserveRequest, seats=bytes(ITEMS)), False),
    ("chatiere.v1.BatchService/Convert", ""): (of_states(batch_pb.ConvertRequest), True),
    ("chatiere.v1.BatchService/Play", ""): (
        always(lambda: batch_pb.PlayRequest(new_games=new_games_request(), keep=1)),
        False,
    ),
    **{
        ("chatiere.v1.BotService/Suggest", bot): (of_state(bot_pb.SuggestRequest, bot=bot), True)
        for bot in ("ismcts:simulations=1000000", "ismcts:milliseconds=600000", "flat:playouts=1000000")
    },
    ("chatiere.v1.BotService/Analyse", ""): (
        always(lambda: bot_pb.AnalyseRequest(record=RECORD, simulations=PLAYOUTS // len(RECORD.actions))),
        True,
    ),
    ("chatiere.v1.TableService/Move", ""): (bot_s_turn, True),
    ("chatiere.v1.TableService/SuggestMove", ""): (seat_s_turn, True),
    ("chatiere.v1.TableService/GetRecord", ""): (whole_game, False),
    ("chatiere.v1.TableService/Amend", ""): (return_to_the_beginning, False),
}


# Calls whose clients do not read the response


class GrpcCall:
    """A call at a gRPC door. Its client's window is closed."""

    def __init__(self, address: str, path: str, request: bytes) -> None:
        self._peer = Peer(address, window=0, source="127.0.0.1")
        stream = self._peer.begin(path)
        self._peer.send(stream, request, ends=not path.endswith(STREAMS))
        self._came = False

    def has_response(self) -> bool:
        """Return whether the headers of the response have arrived."""
        while select.select([self._peer.socket], [], [], 0)[0]:
            self._peer._read()
        return any(isinstance(event, h2.events.ResponseReceived) for event in self._peer.events)

    def is_served(self) -> bool:
        """Return whether the call was served: the response must not consist only of headers."""
        (received,) = (event for event in self._peer.events if isinstance(event, h2.events.ResponseReceived))
        # The headers are text here, contrary to h2's types.
        headers: dict[Any, Any] = dict(received.headers)
        return "grpc-status" not in headers

    def close(self) -> None:
        self._peer.close()


class WebCall:
    """A call at the web door. It uses JSON, because JSON needs the most memory."""

    def __init__(self, address: str, path: str, request: Message) -> None:
        content = json.dumps(MessageToDict(request)).encode()
        kind, body = ("connect+json", envelope(content)) if path.endswith(FEEDS) else ("json", content)
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/{kind}\r\n"
        self._socket = socket.create_connection(split_address(address), PATIENCE)
        self._socket.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)

    def has_response(self) -> bool:
        return bool(select.select([self._socket], [], [], 0)[0])

    def is_served(self) -> bool:
        return self._socket.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 200"

    def close(self) -> None:
        self._socket.close()


class Moments:
    """Stops a call each time its memory grows or its search draws worlds, until the call may continue."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._may_go_on = threading.Semaphore(0)
        self._is_armed = False
        self._thread: int | None = None
        beside, worlds = Holding.beside, Decisions.worlds

        def stopping(holding: Holding, request: Any) -> Callable[[int], None]:
            hold = beside(holding, request)

            def held(size: int) -> None:
                hold(size)
                self._stop()

            return held

        def drawn(decisions: Decisions, *arguments: Any) -> Any:
            self._stop()
            return worlds(decisions, *arguments)

        monkeypatch.setattr(Holding, "beside", stopping)
        monkeypatch.setattr(Decisions, "worlds", drawn)

    def _stop(self) -> None:
        # Later calls run in other threads, and are not stopped.
        if self._is_armed and self._thread in (None, threading.get_ident()):
            self._thread = threading.get_ident()
            self.count += 1
            assert self._may_go_on.acquire(timeout=PATIENCE)

    def arm(self) -> None:
        self._is_armed = True

    def has_come_to(self, number: int, call: GrpcCall | WebCall) -> bool:
        """Return whether the call has reached that number of moments, or has a response."""
        return self.count >= number or call.has_response()

    def go_on(self) -> None:
        self._may_go_on.release()

    def close(self) -> None:
        """Let all calls run to their ends."""
        self._is_armed = False
        self._may_go_on.release(1_000_000)


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch) -> Iterator[Moments]:
    found = Moments(monkeypatch)
    yield found
    found.close()


# The promise


@pytest.fixture(scope="module")
def server(door: Door) -> Iterator[Running]:
    with running(SETTINGS, door) as server:
        yield server


def methods_at(server: Running, door: Door) -> set[str]:
    """Return the paths of all methods of a server at a door."""
    methods = server.server.methods
    if door == "grpcio":
        return set(server.server.handlers._handlers)
    batches = [each for each in methods.batches if door == "fast" or "BatchService" not in each.path]
    play = [methods.play] if door == "fast" else []
    served: list[Any] = [*methods.singles, *batches, methods.check, *methods.feeds, *play]
    return {each.path for each in served}


def test_each_method_has_a_largest_request(server: Running, door: Door) -> None:
    paths = {f"/{path}" for path in (*SMALL, *(path for path, _ in LARGE))}
    assert methods_at(server, door) <= paths
    assert door != "grpcio" or methods_at(server, door) == paths


def make_the_next_calls(server: Running) -> None:
    """Make calls of the same client. They must be served."""
    games = server.stub.ListGames(game_service.ListGamesRequest(phrases=True), timeout=PATIENCE)
    assert len(games.games) == len(engine.games())
    request = game_service.NewGameRequest(game=GAME.name, players=PLAYERS, include=EVERYTHING)
    begun = server.stub.NewGame(request, timeout=PATIENCE).position
    bots: Any = bot_service_pb2_grpc.BotServiceStub(server.channel)
    assert bots.ListBots(bot_pb.ListBotsRequest(game=GAME.name), timeout=PATIENCE).bots
    asked = bot_pb.SuggestRequest(state=begun.state, bot="ismcts:simulations=10")
    assert bots.Suggest(asked, timeout=PATIENCE).HasField("action")


def call_of(server: Running, door: Door, path: str, request: Message) -> GrpcCall | WebCall:
    """Make a call whose client does not read the response."""
    if door == "web":
        return WebCall(server.address, f"/{path}", request)
    return GrpcCall(server.address, f"/{path}", request.SerializeToString())


def test_the_next_calls_are_served_during_all_small_calls(server: Running, door: Door) -> None:
    with ExitStack() as calls:
        for path, build in SMALL.items():
            if f"/{path}" in methods_at(server, door):
                call = calls.enter_context(closing(call_of(server, door, path, build(server))))
                wait_until(call.has_response, f"the response of {path}")
                # No channel or socket has the number 0.
                assert call.is_served() or "Channelz" in path, path
        make_the_next_calls(server)
    wait_until(lambda: not server.server._guards.budget.held, "no memory is held")


@pytest.mark.long
# The fast door holds less memory for a call than grpcio's port.
@over("door", ["grpcio", "web"], indirect=True)
@over(("path", "case"), LARGE)
def test_the_next_calls_are_served_during_a_large_call(
    server: Running, door: Door, moments: Moments, path: str, case: str
) -> None:
    build, is_long = LARGE[path, case]
    if f"/{path}" not in methods_at(server, door):
        pytest.skip("this door does not have the method")
    request = build(server)
    moments.arm()
    with closing(call_of(server, door, path, request)) as call:
        for number in range(1, 2 if is_long else MOMENTS + 1):
            wait_until(partial(moments.has_come_to, number, call), "the call reaches a moment or its response")
            if moments.count < number:
                break
            make_the_next_calls(server)
            moments.go_on()
        if is_long:
            assert moments.count
        else:
            moments.close()
            wait_until(call.has_response, "the response")
            assert call.is_served()
            make_the_next_calls(server)
    moments.close()
    wait_until(lambda: not server.server._guards.budget.held, "no memory is held")


CLIENTS = st.sampled_from("abc")


@given(first=st.tuples(CLIENTS, st.integers(1, 1 << 30)), others=st.lists(CLIENTS, max_size=20))
def test_small_calls_are_always_accepted(first: tuple[str, int], others: list[str]) -> None:
    """A worker accepts small calls, no matter how much memory other calls hold, even other calls of the same client."""
    budget = MemoryBudget(Settings().max_undelivered_bytes)
    held = [Holding(budget, client) for client in (first[0], *others)]
    for each, size in zip(held, (first[1], *[1 << 20] * len(others)), strict=True):
        each.hold(size)
    for each in held:
        each.release()
    assert budget.held == 0


@given(st.lists(st.tuples(CLIENTS, st.integers(1, 1 << 28)), max_size=40))
def test_the_memory_of_calls_is_bounded(wanted: list[tuple[str, int]]) -> None:
    most = Settings().max_undelivered_bytes
    budget, held = MemoryBudget(most), []
    for client, size in wanted:
        holding = Holding(budget, client)
        with suppress(Refusal):
            holding.hold(size)
            held.append((client, size))
    alone = max((size for _, size in held), default=0)
    assert budget.held == sum(size for _, size in held) <= max(most, alone) + most // 4
    for client in "abc":
        own = sum(size for each, size in held if each == client)
        assert own <= max(most // 2, alone) + most // 8
