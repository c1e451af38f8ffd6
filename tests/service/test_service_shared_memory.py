"""Streams in shared memory: the same games as in all other ways, and clients that only harm themselves."""

import gc
import os
import pickle
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prometheus_client import CollectorRegistry
from tools.needs import needs

from chatiere import engine
from chatiere.clients import BatchClient, ChatiereError, FastStream, TransportError, VectorEnv
from chatiere.clients.calls import batch_requests
from chatiere.clients.calls.batch_messages import put_inner
from chatiere.clients.transport.shared_call import SharedCall, StepColumns
from chatiere.engine import Game
from chatiere.engine.wire import Buffer
from chatiere.envs import TableEnv
from chatiere.envs.batch_env import BatchEnv
from chatiere.service.base.errors import limit_exceeded, status_of
from chatiere.service.base.settings import Settings
from chatiere.service.ports.fast import shared
from chatiere.service.ports.server import Server, create_server
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, NewGamesRequest, PlayRequest, PlayResponse

from .batches import MOST_PLAYOUTS, by_batches, digest, endless, in_process
from .process import wait_until
from .support import PATIENCE, LogLines
from .test_service_access import write_tokens

pytestmark = needs("libnghttp2")

DISCAT = engine.game("discat")
SETUP = BatchSetup(game="discat", players=2)
LARGE = BatchSetup(game="discat", players=DISCAT.max_players)
UNDER_WAY = "bytes of requests under way and answers not yet taken"
# A program that leaves playouts without end in flight, until it is killed.
CLIENT = """
import sys
from chatiere.clients.transport.shared_call import SharedCall
call = SharedCall(sys.argv[1], 60)
call.send([bytes.fromhex(sys.argv[2])])
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def serving(**more: Any) -> Iterator[tuple[Server, Path]]:
    """Run a server. Yield it with the path of the Unix socket of its fast door."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fast.sock"
        settings = Settings(address="127.0.0.1:0", fast_address=f"unix:{path}", log_calls=True, **more)
        server, _ = create_server(settings, CollectorRegistry())
        server.start()
        try:
            yield server, path
        finally:
            assert server.stop(None).wait(PATIENCE)
        assert server._guards.budget.held == 0


@pytest.fixture(scope="module")
def path() -> Iterator[Path]:
    with serving() as (_, found):
        yield found


def call_at(path: Path, token: str | None = None) -> SharedCall:
    return SharedCall(f"shm:{path}", PATIENCE, token)


def ask(call: SharedCall, request: PlayRequest) -> PlayResponse:
    call.send([request.SerializeToString()])
    response = call.receive(PATIENCE)
    assert not isinstance(response, StepColumns)
    return PlayResponse.FromString(bytes(response))


def assert_serves(path: Path) -> None:
    """Assert that the service answers another client."""
    with FastStream(f"shm:{path}") as stream:
        assert len(stream.submit(batch_requests.new_games(SETUP, [1, 2])).result(PATIENCE).actors) == 2


def kept_games(call: SharedCall, number: int = 1) -> Any:
    """Begin two games that the stream keeps. Return their positions and the rest of a StepRequest."""
    columns = Columns(legal=True)
    request = batch_requests.new_games(SETUP, [1, 2], columns=columns)
    call.send(
        [*put_inner(PlayRequest.NEW_GAMES_FIELD_NUMBER, request.pieces), PlayRequest(keep=number).SerializeToString()]
    )
    positions = PlayResponse.FromString(bytes(call.receive(PATIENCE))).new_games.positions  # type: ignore[arg-type]
    *_, rest = batch_requests.step(SETUP, b"", [0], columns=columns).pieces
    return positions, bytes(rest)


def first_moves(offsets: Buffer, ids: Buffer) -> bytes:
    found = np.frombuffer(ids, "<u2")
    return b"".join(found[a].tobytes() for a, _ in pairwise(np.frombuffer(offsets, "<u4")))


# The same games


def test_a_seeded_trajectory_is_the_same_in_shared_memory(path: Path, game: Game) -> None:
    call = call_at(path)

    def through(name: str) -> Any:
        return lambda request: getattr(ask(call, PlayRequest(**{name: request})), name)

    played = by_batches(through("new_games"), through("step"), game, game.min_players, [3, 5], 120)
    assert digest(played) == digest(in_process(game, game.min_players, [3, 5], 120))
    call.close()


def test_an_environment_plays_the_same_games_as_in_process(
    path: Path, game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    received = []
    init = StepColumns.__init__

    def counted(*arguments: Any) -> None:
        received.append(1)
        init(*arguments)

    monkeypatch.setattr(StepColumns, "__init__", counted)
    numbers: dict[str, Any] = {"num_envs": 6, "games": 13, "observations": True, "batches": 3}
    with TableEnv(game.name, game.min_players, **numbers) as env:
        expected = games_of(env)
    with VectorEnv(
        f"unix:{path}", game.name, game.min_players, fast_address=f"shm:{path}", states=False, **numbers
    ) as shared_env:
        assert games_of(shared_env) == expected
    assert received


def games_of(env: BatchEnv) -> list[bytes]:
    """Play all games, and return the columns of all batches."""
    batch = env.reset(7)
    columns: list[Any] = []
    while len(batch):
        columns += [batch.game_numbers, batch.legal_ids, batch.observations, batch.ended.totals]
        batch = env.step(batch.random_actions())
    return [column.tobytes() for column in columns]


def test_requests_of_any_size_are_answered_in_order(path: Path) -> None:
    sizes = [1, 5000, 2, 9000, 3]
    with FastStream(f"shm:{path}") as stream:
        futures = [stream.submit(batch_requests.new_games(SETUP, range(size))) for size in sizes]
        assert [len(future.result(PATIENCE).actors) for future in futures] == sizes


def test_a_failed_item_of_a_kept_step_is_reported(path: Path) -> None:
    call = call_at(path)
    positions, rest = kept_games(call)
    good = first_moves(positions.legal_offsets, positions.legal_ids)
    moves = good[:2] + b"\xff\xff"
    call.send_step(9, 1, moves, rest)
    response = PlayResponse.FromString(bytes(call.receive(PATIENCE)))  # type: ignore[arg-type]
    assert response.tag == 9
    assert [fault.item for fault in response.step.faults.items] == [1]
    assert not response.step.positions.states
    call.close()


@pytest.mark.parametrize(
    ("number", "moves", "field"), [(2, bytes(4), "take"), (1, bytes(2), "step.moves"), (1, bytes(3), "step.moves")]
)
def test_a_refused_step_changes_no_states(path: Path, number: int, moves: bytes, field: str) -> None:
    call = call_at(path)
    positions, rest = kept_games(call)
    call.send_step(3, number, moves, rest)
    refused = PlayResponse.FromString(bytes(call.receive(PATIENCE)))  # type: ignore[arg-type]
    assert (refused.tag, refused.refusal.field) == (3, field)
    call.send_step(4, 1, first_moves(positions.legal_offsets, positions.legal_ids), rest)
    stepped = call.receive(PATIENCE)
    assert isinstance(stepped, StepColumns)
    assert stepped.number("tag") == 4
    call.close()


def test_a_batch_client_has_the_same_results_in_shared_memory(path: Path, game: Game) -> None:
    def results(client: BatchClient) -> Iterator[Any]:
        setup = BatchSetup(game=game.name, players=game.min_players)
        columns = Columns(legal=True, scores=True)
        begun = client.new_games(setup, seeds=[1, 2], game_numbers=[3, 4], columns=columns)
        yield begun
        moves = begun.legal_ids[begun.legal_offsets[:-1]]
        stepped = client.step(setup, begun.states, moves, columns=columns)
        yield stepped.positions
        states = stepped.positions.states
        yield client.playout(setup, states, 2, seed=5)
        yield client.evaluate(setup, states, worlds=1, playouts=1, seed=5)
        yield client.score(setup, states)
        yield client.resample(setup, states, stepped.positions.actors, 5)
        yield client.observe(setup, states, stepped.positions.actors)
        unpacked = client.unpack(setup, states)
        yield unpacked
        assert unpacked.typed_states is not None
        yield client.pack(setup, unpacked.typed_states)

    with BatchClient(f"shm:{path}") as mine, BatchClient(f"unix:{path}") as theirs, pickled(mine) as copied:
        assert mine._shared is not None
        for one, other, third in zip(results(mine), results(theirs), results(copied), strict=True):
            assert repr(one) == repr(other) == repr(third)
        with mine.stream() as stream:
            assert len(stream.submit(batch_requests.new_games(SETUP, [1])).result(PATIENCE).actors) == 1
    with pytest.raises(TransportError, match="the client is closed"):
        mine.new_games(SETUP, [1])


def pickled(client: BatchClient) -> BatchClient:
    copied: BatchClient = pickle.loads(pickle.dumps(client))
    return copied


def test_a_batch_client_in_shared_memory_may_be_used_by_several_threads(path: Path) -> None:
    with BatchClient(f"shm:{path}") as client, ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda size: len(client.new_games(SETUP, range(size)).actors), range(1, 40))
        assert list(found) == list(range(1, 40))


def test_a_batch_client_in_shared_memory_raises_errors_and_continues(path: Path) -> None:
    with BatchClient(f"shm:{path}") as client:
        with pytest.raises(ChatiereError) as raised:
            client.new_games(BatchSetup(game="discat", players=99), [1])
        assert raised.value.reason == "INVALID_PLAYERS"
        assert len(client.new_games(SETUP, [1]).actors) == 1


def test_a_batch_client_in_shared_memory_survives_a_restart(tmp_path: Path) -> None:
    settings = Settings(address="127.0.0.1:0", fast_address=f"unix:{tmp_path}/fast.sock")
    with BatchClient(f"shm:{tmp_path}/fast.sock", timeout=PATIENCE) as client:
        for _ in range(2):
            server, _ = create_server(settings, CollectorRegistry())
            server.start()
            assert len(client.new_games(SETUP, [1]).actors) == 1
            assert server.stop(None).wait(PATIENCE)


def test_a_batch_client_in_shared_memory_has_a_time_limit() -> None:
    with serving(max_playouts=MOST_PLAYOUTS) as (_, path), BatchClient(f"shm:{path}") as client:
        request = endless(DISCAT, LARGE)
        with pytest.raises(TransportError) as raised:
            client.playout(LARGE, request.states, request.playouts, seed=1, timeout=0.1)
        assert raised.value.code.name == "DEADLINE_EXCEEDED"
        assert len(client.new_games(SETUP, [1]).actors) == 1


def test_an_environment_takes_the_address_of_shared_memory_as_its_target(path: Path) -> None:
    with VectorEnv(f"shm:{path}", "discat", 2, num_envs=4) as env:
        assert isinstance(env._stream._call, SharedCall)
        assert len(env.reset()) == 2


# Guards


def test_the_socket_has_the_permissions_of_the_fast_door_and_is_removed() -> None:
    with serving() as (_, path):
        places = path, Path(f"{path}.shm")
        assert [stat.S_IMODE(place.stat().st_mode) for place in places] == [0o660, 0o660]
    assert not places[1].exists()


def test_a_token_is_required(tmp_path: Path) -> None:
    (token,) = write_tokens(tmp_path / "tokens", "alice")
    with serving(tokens=tmp_path / "tokens") as (_, path):
        for wrong in (None, "x"):
            with pytest.raises(ChatiereError) as raised:
                call_at(path, wrong).receive(PATIENCE)
            assert raised.value.reason == "UNAUTHENTICATED"
        call = call_at(path, token)
        assert ask(call, PlayRequest(tag=5)).tag == 5
        call.close()


@contextmanager
def kept_areas() -> Iterator[list[int]]:
    """Yield a list to which the descriptors of all areas are added, as a client could keep them."""
    kept: list[int] = []
    take = socket.recv_fds

    def keeping(*arguments: Any) -> Any:
        found = take(*arguments)
        kept.extend(map(os.dup, found[1]))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "recv_fds", keeping)
        yield kept
    for each in kept:
        os.close(each)


def test_an_area_can_arrive_after_its_packet(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take = socket.recv_fds
    errors = [BlockingIOError(), ConnectionResetError()]

    def late(*arguments: Any) -> Any:
        if errors:
            raise errors.pop()
        return take(*arguments)

    monkeypatch.setattr(socket, "recv_fds", late)
    call = call_at(path)
    assert ask(call, PlayRequest(tag=5)).tag == 5
    assert not errors
    call.close()


def memory_of(areas: list[int]) -> int:
    """Return the memory of areas in bytes."""
    return sum(512 * os.fstat(each).st_blocks for each in areas)


def test_areas_cannot_change_their_size(path: Path) -> None:
    with kept_areas() as kept:
        call = call_at(path)
        kept_games(call)
        assert len(kept) == 2
        for file in kept:
            for size in (0, 2**24):
                with pytest.raises(PermissionError):
                    os.ftruncate(file, size)
        call.close()


@pytest.mark.parametrize("by_service", [False, True])
def test_the_memory_of_a_stream_is_freed_even_if_its_client_keeps_the_areas(path: Path, *, by_service: bool) -> None:
    with kept_areas() as kept:
        call = call_at(path)
        for count in (100, 1000, 5000):
            ask(call, PlayRequest(new_games=NewGamesRequest(setup=SETUP, count=count)))
        assert memory_of(kept) > 2**18
        if by_service:
            call._socket.send(ASKED.pack(0, 1, 0, 0, 0))
            wait_until(lambda: not memory_of(kept), "a client that keeps its connection has no memory")
        call.close()
        wait_until(lambda: not memory_of(kept), "the memory is free")


def test_the_memory_of_replaced_areas_counts_until_it_is_freed() -> None:
    with serving() as (server, path), kept_areas() as kept:
        call = call_at(path)
        for count in (100, 1000, 5000, 5000, 5000):
            ask(call, PlayRequest(new_games=NewGamesRequest(setup=SETUP, count=count)))
            assert memory_of(kept) <= server._guards.budget.held
        requests, *replaced, responses = kept
        assert len(replaced) >= 2
        assert not memory_of(replaced)
        assert memory_of([requests])
        assert memory_of([responses])
        call.close()


def test_the_last_responses_can_be_read_after_the_service_has_ended_the_stream(path: Path) -> None:
    call = call_at(path)
    positions, rest = kept_games(call)
    moves = first_moves(positions.legal_offsets, positions.legal_ids)
    with LogLines() as log:
        call.send_step(1, 1, moves, rest)
        call.send([b"\xff" * 100])
        log.wait_for("MALFORMED_REQUEST")
    stepped = call.receive(PATIENCE)
    assert isinstance(stepped, StepColumns)
    assert any(bytes(stepped.column("legal_ids")))
    with pytest.raises(ChatiereError):
        call.receive(PATIENCE)


ASKED = struct.Struct("=5Q")
PACKETS = [
    b"1",
    bytes(41),
    ASKED.pack(7, 1, 1, 1, 1),
    ASKED.pack(0, 0, 0, 0, 0),
    ASKED.pack(0, 2**40, 0, 0, 0),
    ASKED.pack(1, 0, 1, 2**64 - 1, 2**64 - 1),
    ASKED.pack(1, 0, 1, 2**20, 2),
    # An area that is large enough cannot be replaced.
    ASKED.pack(2, 1, 0, 0, 0),
]


@pytest.mark.parametrize("packet", PACKETS)
def test_a_wrong_packet_ends_only_its_connection(path: Path, packet: bytes) -> None:
    call = call_at(path)
    kept_games(call)
    call._socket.send(packet)
    with pytest.raises(TransportError, match="the service closed the connection"):
        call.receive(PATIENCE)
    assert_serves(path)


def test_more_requests_than_fit_end_the_connection() -> None:
    with serving(max_playouts=MOST_PLAYOUTS) as (_, path):
        call = call_at(path)
        kept_games(call)
        call.send([PlayRequest(playout=endless(DISCAT, LARGE)).SerializeToString()])
        for _ in range(2):
            call._socket.send(ASKED.pack(0, 9, 0, 0, 0))
        with pytest.raises(TransportError):
            call.receive(PATIENCE)
        assert_serves(path)


def test_garbage_instead_of_a_request_ends_only_its_stream(path: Path) -> None:
    for kind in (0, 1):
        call = call_at(path)
        _, rest = kept_games(call)
        if kind:
            call.send_step(1, 1, b"\xff" * 4, b"\xff" * len(rest))
        else:
            call.send([b"\xff" * 100])
        with pytest.raises(ChatiereError) as raised:
            call.receive(PATIENCE)
        assert raised.value.reason == "MALFORMED_REQUEST"
        assert_serves(path)


def test_requests_are_limited_by_size_and_by_memory() -> None:
    with serving(max_message_bytes=2**20, max_undelivered_bytes=2**21) as (server, path):
        for size, limit in (
            (2**20 + 1, "bytes of a request"),
            (2**20, UNDER_WAY),
        ):
            call = call_at(path)
            kept_games(call)
            call.send([bytes(size)])
            with pytest.raises(ChatiereError) as raised:
                call.receive(PATIENCE)
            assert raised.value.metadata["limit"] == limit
            wait_until(lambda: server._guards.budget.held == 0, "the memory is free")
        assert_serves(path)


def test_a_killed_client_frees_its_memory_and_stops_its_work() -> None:
    with serving(max_playouts=MOST_PLAYOUTS) as (server, path), LogLines() as log:
        request = PlayRequest(playout=endless(DISCAT, LARGE)).SerializeToString()
        command = (sys.executable, "-c", CLIENT, f"shm:{path}", request.hex())
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
            assert client.stdout is not None
            client.stdout.readline()
            wait_until(lambda: server._guards.budget.held > 0, "the service has the request")
            client.send_signal(signal.SIGKILL)
        log.wait_for("Play CANCELLED")
        wait_until(lambda: server._guards.budget.held == 0, "the memory is free")
        assert server._fast is not None
        wait_until(lambda: server._fast.connections == 0, "the connection has ended")  # type: ignore[union-attr]


def test_a_stream_ends_when_the_service_stops() -> None:
    with serving() as (server, path):
        call = call_at(path)
        kept_games(call)
        stopping = server.stop(PATIENCE)
        with pytest.raises(TransportError, match="the server is stopping"):
            call.receive(PATIENCE)
        assert stopping.wait(PATIENCE)


def threads_of_streams() -> int:
    return sum(each.name == "fast door's stream" for each in threading.enumerate())


def test_a_quiet_stream_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its games continue. Its memory is freed when its client leaves. The stream ends when the service stops."""
    monkeypatch.setattr(shared, "_QUIET", 0.01)
    with serving() as (server, path):
        calls = [call_at(path) for _ in range(3)]
        kept = [kept_games(each) for each in calls]
        wait_until(lambda: not threads_of_streams(), "no stream has a thread")
        calls[0].close()
        wait_until(lambda: server._fast.connections == 2, "the connection has ended")  # type: ignore[union-attr]
        assert not threads_of_streams()
        for call, (positions, rest) in zip(calls[1:], kept[1:], strict=True):
            call.send_step(5, 1, first_moves(positions.legal_offsets, positions.legal_ids), rest)
            assert isinstance(call.receive(PATIENCE), StepColumns)
        wait_until(lambda: not threads_of_streams(), "no stream has a thread")
        stopping = server.stop(PATIENCE)
        for each in calls[1:]:
            with pytest.raises(TransportError, match="the server is stopping"):
                each.receive(PATIENCE)
            each.close()
        assert stopping.wait(PATIENCE)


def test_a_stream_may_send_while_it_gives_its_thread_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "_QUIET", 0.0)
    with closing(call_at(path)) as call:
        for _ in range(200):
            kept_games(call)


def test_silent_connections_do_not_keep_others_out(path: Path) -> None:
    silent = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(shared._MAX_GREETING + 1)]
    for each in silent:
        each.settimeout(PATIENCE)
        each.connect(f"{path}.shm")
    assert silent[0].recv(1) == b""
    assert_serves(path)
    for each in silent:
        each.close()


def door_at(folder: Path, take: Callable[[socket.socket, bytes], None]) -> shared.SharedDoor:
    return shared.SharedDoor(f"unix:{folder}/fast.sock", take, lambda quiet: None, lambda left: None, inf)


def test_a_greeting_is_read_before_its_connection_could_be_closed(tmp_path: Path) -> None:
    """More connections than may be silent arrive together with the first packets of the oldest ones."""
    taken: list[socket.socket] = []
    door = door_at(tmp_path, lambda connected, hello: taken.append(connected))
    clients = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2 * shared._MAX_GREETING)]
    for number, each in enumerate(clients):
        each.connect(f"{tmp_path}/fast.sock.shm")
        if number < shared._MAX_GREETING:
            door._turn()
    for each in clients[: shared._MAX_GREETING]:
        each.send(shared._VERSION)
    while len(taken) < shared._MAX_GREETING:
        door._turn()
    for each in (*taken, *clients, *door._greeting, door._listening):
        each.close()


def test_silent_connections_give_way_by_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest silent connection of the user with the most of them is closed."""
    door = door_at(tmp_path, lambda connected, hello: None)
    clients = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(shared._MAX_GREETING + 1)]
    for number, each in enumerate(clients):
        monkeypatch.setattr(shared, "_peer_of", lambda connected, number=number: f"unix:{min(number, 1)}:7")
        each.connect(f"{tmp_path}/fast.sock.shm")
        door._turn()
    clients[1].settimeout(PATIENCE)
    assert clients[1].recv(1) == b""
    with pytest.raises(BlockingIOError):
        clients[0].recv(1, socket.MSG_DONTWAIT)
    for each in (*clients, *door._greeting, door._listening):
        each.close()


def test_ended_connections_release_their_descriptors(path: Path) -> None:
    def files() -> int:
        return len(os.listdir("/proc/self/fd"))

    assert_serves(path)
    before = files()
    gc.disable()
    try:
        for _ in range(20):
            assert_serves(path)
            SharedCall(f"shm:{path}", PATIENCE).close()
        wait_until(lambda: files() <= before, "the descriptors are closed")
    finally:
        gc.enable()


def limit_of(call: SharedCall) -> str:
    """Return the name of the limit because of which the service ends a call."""
    with pytest.raises(ChatiereError) as raised:
        call.receive(PATIENCE)
    assert raised.value.reason == "LIMIT_EXCEEDED"
    return raised.value.metadata["limit"]


def worked(server: Server) -> int:
    """Return the number of idle streams that have had a request."""
    idle = server.methods.streams.idle
    assert idle is not None
    with idle._lock:
        return sum(each.until > each.since for streams in idle._held.values() for each in streams.values())


def test_a_newcomer_takes_the_place_of_an_idle_stream_of_the_client_with_the_most(tmp_path: Path) -> None:
    tokens = dict(zip("abc", write_tokens(tmp_path / "tokens", "a", "b", "c"), strict=True))
    with serving(tokens=tmp_path / "tokens") as (server, path):
        server._fast.most_shared = 5  # type: ignore[union-attr]
        opened: list[SharedCall] = []
        newcomers: list[SharedCall] = []
        for name in "abbbb":
            opened.append(call_at(path, tokens[name]))
            kept_games(opened[-1])
            wait_until(lambda: worked(server) == len(opened), "the stream waits again")
        for _ in range(2):
            newcomers.append(call_at(path, tokens["c"]))
            kept_games(newcomers[-1])
        for lost in opened[1:3]:
            assert limit_of(lost) == "streams whose request has not arrived completely"
        for each in (opened[0], *opened[3:], *newcomers):
            kept_games(each)
            each.close()


def test_a_client_without_a_token_takes_no_place(tmp_path: Path) -> None:
    (token,) = write_tokens(tmp_path / "tokens", "a")
    with serving(tokens=tmp_path / "tokens") as (server, path):
        server._fast.most_shared = 1  # type: ignore[union-attr]
        call = call_at(path, token)
        kept_games(call)
        with pytest.raises(ChatiereError) as raised:
            call_at(path).receive(PATIENCE)
        assert raised.value.reason == "UNAUTHENTICATED"
        kept_games(call)
        call.close()


def test_streams_at_work_do_not_give_way() -> None:
    with serving(max_playouts=MOST_PLAYOUTS) as (server, path):
        server._fast.most_shared = 1  # type: ignore[union-attr]
        call = call_at(path)
        kept_games(call)
        call.send([PlayRequest(playout=endless(DISCAT, LARGE)).SerializeToString()])
        wait_until(lambda: not server.methods.streams.idle, "the stream is at work")
        assert limit_of(call_at(path)) == "streams in shared memory"
        call.close()
        wait_until(lambda: server._fast.connections == 0, "the stream has ended")  # type: ignore[union-attr]
        assert_serves(path)


def test_streams_over_http2_take_no_places_of_shared_memory() -> None:
    with serving(max_streams=4) as (server, path):
        server._fast.most_shared = 2  # type: ignore[union-attr]
        with ExitStack() as stack:
            streams = [stack.enter_context(FastStream(f"{kind}:{path}")) for kind in ("unix", "unix", "shm", "shm")]
            for each in streams:
                assert len(each.submit(batch_requests.new_games(SETUP, [1])).result(PATIENCE).actors) == 1
            assert not any(each.is_over for each in streams)


def test_connections_are_charged_to_their_user() -> None:
    with serving(max_fast_cost=2 * shared._OF_CONNECTION) as (_, path):
        calls = [call_at(path) for _ in range(3)]
        assert limit_of(calls.pop()) == "calls of one client a second"
        for each in calls:
            kept_games(each)
            each.close()


# The client


def test_a_missing_socket_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TransportError, match="no connection to shm:"):
        call_at(tmp_path / "none.sock")


def test_shared_memory_requires_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ImportError, match="shared memory requires Linux"):
        SharedCall("shm:/fast.sock", PATIENCE)


def test_an_immediate_refusal_is_reported(tmp_path: Path) -> None:
    """The service refuses the connection and closes it before the client's first packet."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(f"{tmp_path}/fast.sock.shm")
        listening.listen()

        def connect_late(made: socket.socket, path: str) -> None:
            connect(made, path)
            shared._refuse(listening.accept()[0], status_of(limit_exceeded("calls", 1), ""))

        connect = socket.socket.connect
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(socket.socket, "connect", connect_late)
            call = call_at(tmp_path / "fast.sock")
        assert limit_of(call) == "calls"


def test_a_refusal_is_reported_although_the_service_has_not_read_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service closes the connection between the two packets that the client receives."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(f"{tmp_path}/fast.sock.shm")
        listening.listen()
        call = call_at(tmp_path / "fast.sock")
        accepted, _ = listening.accept()
    status = status_of(limit_exceeded("calls", 1), "")
    accepted.send(struct.pack("=12Q", shared._STATUS, status.code, *[0] * 10))
    accepted.send(status.details)
    packet = call._packet

    def close_after(*arguments: Any) -> Any:
        received = packet(*arguments)
        accepted.close()
        return received

    monkeypatch.setattr(call, "_packet", close_after)
    assert limit_of(call) == "calls"


@pytest.mark.parametrize("packet", [b"1", struct.pack("=12Q", 0, 1, *[0] * 10), struct.pack("=12Q", 1, 0, *[1] * 10)])
def test_an_unexpected_packet_ends_the_call(tmp_path: Path, packet: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(f"{tmp_path}/fast.sock.shm")
        listening.listen()
        call = call_at(tmp_path / "fast.sock")
        accepted, _ = listening.accept()
    accepted.send(packet)
    with pytest.raises(TransportError, match="unexpected packet from the server"):
        call.receive(PATIENCE)
    accepted.close()


def test_a_closed_call_fails(path: Path) -> None:
    call = call_at(path)
    call.close()
    assert call.is_over
    call.send([b"1"])
    with pytest.raises(TransportError, match="the call was closed"):
        call.receive(PATIENCE)
    assert_serves(path)
