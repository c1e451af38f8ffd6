"""Calls that do not progress: half-open, incomplete or unread. Other clients are not affected."""

import asyncio
import gc
import socket
import struct
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import CollectorRegistry

from chatiere.engine import memory
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.base.settings import Settings
from chatiere.service.calls import game_service
from chatiere.service.calls.batch_service import BatchService
from chatiere.service.calls.table_service import TableService
from chatiere.service.guards import memory as memory_watch
from chatiere.service.guards.limits import CallSlots
from chatiere.service.guards.memory import Holding, MemoryBudget, MemoryWatch
from chatiere.service.guards.tokens import new_token
from chatiere.service.rooms.followers import HEARTBEAT
from chatiere.v1 import batch_service_pb2, game_service_pb2

from .clock import Clock
from .process import served, wait_until
from .support import (
    PATIENCE,
    Door,
    Running,
    batch_stub,
    code_of,
    game_stub,
    refusal,
    running,
    served_socket,
)

pytestmark = pytest.mark.long

LIST_GAMES = game_service_pb2.ListGamesRequest()
OK = grpc.StatusCode.OK
APPLY, STEP, CHECK = (
    "/chatiere.v1.GameService/Apply",
    "/chatiere.v1.BatchService/Step",
    "/grpc.health.v1.Health/Check",
)
MIB = 2**20


class Peer:
    """A client that sends exactly the given bytes. Its source address can be chosen."""

    def __init__(self, address: str, window: int = 65_535, source: str = "127.0.0.2") -> None:
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)), PATIENCE, source_address=(source, 0))
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        sizes = {h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window}
        self.connection.local_settings = h2.settings.Settings(initial_values=sizes)
        self.connection.initiate_connection()
        self.events: list[Any] = []
        self.flush()
        # Wait for the server's settings.
        self.wait_for(h2.events.RemoteSettingsChanged)

    def flush(self) -> None:
        self.socket.sendall(self.connection.data_to_send())

    def begin(self, path: str, *metadata: tuple[str, str]) -> int:
        """Send the headers of a call, and return its stream."""
        stream: int = self.connection.get_next_available_stream_id()
        head = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "test")]
        kind = [("content-type", "application/grpc"), ("te", "trailers")]
        self.connection.send_headers(stream, [*head, *kind, *metadata])
        self.flush()
        return stream

    def send(self, stream: int, message: bytes, *, claims: int | None = None, ends: bool = False) -> None:
        """Send a message as far as the windows allow. With `claims`, the message announces this length."""
        data = b"\0" + struct.pack(">I", len(message) if claims is None else claims) + message
        while data:
            if any(isinstance(event, h2.events.StreamReset) and event.stream_id == stream for event in self.events):
                raise h2.exceptions.StreamClosedError(stream)
            room = self.connection.local_flow_control_window(stream)
            if not room:
                self._read()
                continue
            part, data = data[: min(room, 16_384)], data[min(room, 16_384) :]
            self.connection.send_data(stream, part, end_stream=ends and not data)
            self.flush()

    def wait_for(self, kind: type, stream: int | None = None) -> Any:
        """Return the next event of a kind, on any stream or on the given one."""
        while True:
            for event in self.events:
                if isinstance(event, kind) and stream in (None, getattr(event, "stream_id", None)):
                    self.events.remove(event)
                    return event
            self._read()

    def _read(self) -> None:
        came = self.socket.recv(65_536)
        assert came, "the connection has ended"
        self.events += self.connection.receive_data(came)
        self.flush()

    def status(self, stream: int) -> tuple[int, str]:
        """Wait for the end of a call. Return its code and its message."""
        while True:
            for event in self.events:
                fields = dict(getattr(event, "headers", None) or ())
                if getattr(event, "stream_id", None) == stream and "grpc-status" in fields:
                    return int(fields["grpc-status"]), fields.get("grpc-message", "")
            self._read()

    def close(self) -> None:
        self.socket.close()


@contextmanager
def attacker(server: Running, window: int = 65_535) -> Iterator[Peer]:
    with closing(Peer(server.address, window)) as peer:
        yield peer


def started(server: Running, method: str) -> float:
    labels = {"grpc_type": "unary", "grpc_service": "chatiere.v1.GameService", "grpc_method": method}
    return server.sample("grpc_server_started_total", **labels)


# Half-open


def test_half_open_calls_do_not_delay_calls_of_any_service(server: Running) -> None:
    with attacker(server) as peer:
        for _ in range(60):
            for path in APPLY, STEP, CHECK:
                peer.begin(path)
        wait_until(lambda: started(server, "Apply") >= 60, "the calls have begun")
        assert server.stub.ListGames(LIST_GAMES, timeout=PATIENCE).games
        assert code_of(batch_stub(server.channel).Step, batch_service_pb2.StepRequest(), timeout=PATIENCE) is not OK
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        assert health.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE).status


def test_a_call_above_the_limit_ends_the_oldest_of_the_client_with_most(door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", max_calls=3), door) as server, attacker(server) as peer:
        streams = [peer.begin(APPLY) for _ in range(4)]
        code, message = peer.status(streams[0])
        assert code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
        assert "calls whose request has not arrived completely (at most 3)" in message
        assert server.stub.ListGames(LIST_GAMES, timeout=PATIENCE).games
        # The server still waits for the other requests.
        peer.send(streams[3], game_service_pb2.ApplyRequest().SerializeToString(), ends=True)
        assert peer.status(streams[3])[0] == grpc.StatusCode.INVALID_ARGUMENT.value[0]


def test_a_call_that_times_out_while_it_is_replaced_harms_no_other_call(door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", max_calls=1, request_timeout=0.001), door) as server:
        with attacker(server) as peer:
            streams = [peer.begin(APPLY) for _ in range(250)]
            ended = {peer.status(stream)[0] for stream in streams}
        assert ended <= {
            grpc.StatusCode.DEADLINE_EXCEEDED.value[0],
            grpc.StatusCode.RESOURCE_EXHAUSTED.value[0],
        }


def test_without_a_token_a_call_ends_at_its_headers(tmp_path: Path, door: Door) -> None:
    token, line = new_token("alice")
    (tmp_path / "tokens").write_text(line)
    with running(Settings(address="127.0.0.1:0", tokens=tmp_path / "tokens"), door) as server, attacker(server) as peer:
        for path in APPLY, STEP, "/chatiere.v1.BatchService/Play":
            assert peer.status(peer.begin(path))[0] == grpc.StatusCode.UNAUTHENTICATED.value[0]
        stream = peer.begin(APPLY, ("authorization", f"Bearer {token}"))
        peer.send(stream, b"", ends=True)
        assert peer.status(stream)[0] == grpc.StatusCode.INVALID_ARGUMENT.value[0]


def test_an_incomplete_request_ends_in_time(door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", request_timeout=1.5), door) as server, attacker(server) as peer:
        stream = peer.begin(STEP)
        peer.send(stream, bytes(1000), claims=2000)
        code, message = peer.status(stream)
        assert code == grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
        assert "within 1.5 s" in message


def test_the_client_that_holds_most_slots_loses_its_oldest_call() -> None:
    slots, ended = CallSlots(3), list[str]()
    for client, call in ("a", "a1"), ("b", "b1"), ("b", "b2"), ("c", "c1"), ("b", "b3"):
        slots.take(client, call, lambda call=call: ended.append(call))  # type: ignore[misc]
    # b holds two of the three slots when c arrives. Afterwards each client holds one slot, and a's call is the oldest.
    assert ended == ["b1", "a1"]
    assert len(slots) == 3
    # Ended calls are also released, but each slot is freed only once.
    for client, call in ("b", "b1"), ("a", "a1"), ("b", "b2"), ("b", "b3"), ("c", "c1"):
        slots.release(client, call)
    assert len(slots) == 0


# Responses that their clients do not read


def test_a_client_may_hold_half_of_the_budget() -> None:
    budget = MemoryBudget(1000 * MIB)
    first, second, third, other = (Holding(budget, client) for client in ("a", "a", "b", "c"))
    # A large call of any size is accepted while no other large call holds memory.
    other.hold(MIB)
    first.hold(2000 * MIB)
    other.release()
    with pytest.raises(Refusal) as refused:
        third.hold(2 * MIB)
    assert refused.value.retry_after == 1
    first.hold(400 * MIB)
    with pytest.raises(Refusal, match=r"bytes of one client.s answers"):
        second.hold(101 * MIB)
    second.hold(100 * MIB)
    third.hold(500 * MIB)
    with pytest.raises(Refusal, match=r"bytes of requests under way and answers"):
        other.hold(2 * MIB)
    # Part of the budget is reserved for small calls.
    other.hold(MIB)
    assert budget.held == 1001 * MIB
    for each in first, second, third, other:
        each.release()
    assert budget.held == 0


def test_unread_responses_are_held_until_the_connection_ends(door: Door) -> None:
    request = batch_service_pb2.NewGamesRequest(
        setup=batch_service_pb2.BatchSetup(game="discat", players=2),
        count=1000,
        columns=batch_service_pb2.Columns(observations=True),
    ).SerializeToString()
    settings = Settings(address="127.0.0.1:0", max_undelivered_bytes=2 * MIB)
    with running(settings, door) as server:
        held = server.server._guards.budget
        with attacker(server, window=0) as peer:
            streams = [peer.begin("/chatiere.v1.BatchService/NewGames") for _ in range(20)]
            for stream in streams:
                peer.send(stream, request, ends=True)
            refused = peer.status(streams[-1])
            assert refused[0] == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
            assert 0 < held.held <= 3 * MIB
            # Other clients are served.
            assert server.stub.ListGames(LIST_GAMES, timeout=PATIENCE).games
        wait_until(lambda: held.held == 0, "no memory is held")
        with running(settings, door):
            assert batch_stub(server.channel).NewGames(batch_service_pb2.NewGamesRequest.FromString(request)).positions


def test_memory_is_reserved_before_a_response_is_computed() -> None:
    table = batch_service_pb2.BatchSetup(game="discat", players=2)
    request = batch_service_pb2.NewGamesRequest(setup=table, count=1000)
    sizes: list[int] = []

    def hold(size: int) -> None:
        sizes.append(size)
        raise RuntimeError("no more")

    batches: Any = BatchService(Settings(), _metrics())
    with pytest.raises(RuntimeError, match="no more"):
        batches.answer("new_games", request.SerializeToString(), None, hold)
    answer = b"".join(batches.answer("new_games", request.SerializeToString(), None))
    assert len(answer) <= sizes[0] <= 3 * len(answer)


def _metrics() -> Any:
    from chatiere.service.base.metrics import Metrics

    return Metrics(CollectorRegistry())


# Incomplete requests


class Began:
    """A call that has just begun."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.worked = 0.0


class Receiving:
    """Slots of calls, and the calls that were ended."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.slots = CallSlots(10), CallSlots(10)
        for number, client, call in (0, "a", "a1"), (0, "b", "b1"), (0, "b", "b2"), (1, "a", "a2"), (1, "a", "a3"):
            self.take(number, client, call)

    def take(self, number: int, client: str, name: str) -> None:
        """Begin a call."""
        self.slots[number].take(client, Began(), lambda: self.ended.append(name))


class Process:
    """A process for which a test sets how much memory it uses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.allocated = self.resident = 100 * MIB
        self.given_back = 0
        monkeypatch.setattr(memory, "allocated_bytes", lambda: self.allocated)
        monkeypatch.setattr(memory, "resident_bytes", lambda: self.resident)
        monkeypatch.setattr(memory, "give_back_freed_memory", self._give_back)
        monkeypatch.setattr(memory_watch, "LEAST_AGE", 0.0)

    def take(self, size: int) -> None:
        self.allocated = self.resident = size

    def _give_back(self) -> None:
        self.given_back += 1


def test_incomplete_requests_that_take_too_much_memory_end_for_the_client_with_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = Process(monkeypatch)
    held, receiving = MemoryBudget(1000 * MIB), Receiving()
    watch = MemoryWatch(held, 16 * MIB, receiving.slots, lambda: 0)

    def look_twice() -> list[str]:
        watch.look()
        watch.look()
        return receiving.ended

    process.take(220 * MIB)
    assert look_twice() == []
    # The memory of responses is counted separately.
    process.take(420 * MIB)
    Holding(held, "c").hold(200 * MIB)
    assert look_twice() == []
    # Memory that is free again at the next look does not count.
    process.take(440 * MIB)
    watch.look()
    process.take(420 * MIB)
    watch.look()
    assert receiving.ended == []
    # At most 16 MiB are attributed to one call, so two calls have to end for 20 MiB.
    process.take(448 * MIB)
    assert look_twice() == ["b1", "b2"]
    # The memory of the two calls counts as memory that will soon be free.
    watch.look()
    assert receiving.ended == ["b1", "b2"]
    watch.look()
    assert receiving.ended == ["b1", "b2", "a2", "a3"]
    assert look_twice() == ["b1", "b2", "a2", "a3", "a1"]


def test_the_memory_is_checked_often_while_calls_begin_or_hold_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    held, slots, clock = MemoryBudget(1000 * MIB), CallSlots(10), Clock()
    holding, looks = Holding(held, "a"), list[float]()
    watch = MemoryWatch(held, 16 * MIB, (CallSlots(10), slots), lambda: 0)
    monkeypatch.setattr(watch, "look", lambda: looks.append(clock.now))

    def begin_and_end() -> None:
        slots.take("a", "call", lambda: None)
        slots.release("a", "call")

    changes = {
        10.45: lambda: slots.take("a", "call", lambda: None),
        20.45: lambda: slots.release("a", "call"),
        # A call that ends before the next check is followed by one check.
        30.0: begin_and_end,
        40.0: lambda: holding.hold(MIB),
        50.0: lambda: holding.hold(0),
    }
    loop = clock.loop()
    for when, change in changes.items():
        loop.call_at(when, change)
    task = loop.create_task(watch.run())
    loop.call_at(60.0, task.cancel)
    with suppress(asyncio.CancelledError):
        loop.run_until_complete(task)
    loop.close()

    def between(first: float, last: float) -> int:
        return sum(first <= when < last for when in looks)

    assert between(0.0, 10.45) == 10
    assert 98 <= between(10.45, 20.45) <= 101
    assert min(when for when in looks if when > 10.45) == pytest.approx(10.55)
    assert 9 <= between(20.6, 30.0) <= 10
    assert between(30.0, 30.5) == 1
    assert 90 <= between(40.0, 50.0) <= 101
    assert 8 <= between(50.1, 60.0) <= 10


def test_only_calls_begun_since_the_memory_grew_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    process, receiving = Process(monkeypatch), Receiving()
    watch = MemoryWatch(MemoryBudget(1000 * MIB), 16 * MIB, receiving.slots, lambda: 0)
    watch.look()
    receiving.take(1, "c", "new")
    process.take(230 * MIB)
    watch.look()
    watch.look()
    assert receiving.ended == ["new"]


def test_streams_in_use_are_ended_last(monkeypatch: pytest.MonkeyPatch) -> None:
    process, receiving = Process(monkeypatch), Receiving()
    watch = MemoryWatch(MemoryBudget(1000 * MIB), 16 * MIB, receiving.slots, lambda: 0)
    used = Began()
    used.worked = time.perf_counter()
    receiving.slots[1].take("a", used, lambda: receiving.ended.append("used"))
    process.take(100 * MIB + 128 * MIB + 4 * 16 * MIB)
    watch.look()
    watch.look()
    assert sorted(receiving.ended) == ["a1", "a2", "a3", "b1", "b2"]
    watch.look()
    watch.look()
    assert receiving.ended[-1] == "used"


def test_memory_that_is_allocated_but_not_resident_ends_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    process, receiving = Process(monkeypatch), Receiving()
    known = 0
    watch = MemoryWatch(MemoryBudget(1000 * MIB), 16 * MIB, receiving.slots, lambda: known)
    # Thousands of TLS connections have this effect. Their door reports the memory that they take.
    process.allocated, process.resident, known = 1600 * MIB, 330 * MIB, 200 * MIB
    for _ in range(4):
        watch.look()
    # Memory that was freed but that the C library keeps does not count either.
    process.allocated, process.resident = 330 * MIB, 1600 * MIB
    for _ in range(4):
        watch.look()
    assert receiving.ended == []


def test_ended_calls_are_logged_at_intervals(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    process, receiving = Process(monkeypatch), Receiving()
    watch = MemoryWatch(MemoryBudget(1000 * MIB), 16 * MIB, receiving.slots, lambda: 0)
    process.take(1000 * MIB)
    for _ in range(20):
        watch.look()
    # A look that ends no call does not log a line.
    assert [record.getMessage() for record in caplog.records] == ["incomplete requests take 900 MiB: ended 5 calls"]
    caplog.clear()
    receiving.take(0, "d", "d1")
    watch.look()
    watch.look()
    assert receiving.ended[-1] == "d1"
    assert not caplog.records
    monkeypatch.setattr(memory_watch, "_BETWEEN_LINES", 0.0)
    watch.look()
    assert [record.getMessage() for record in caplog.records] == ["incomplete requests take 900 MiB: ended 1 calls"]


def test_freed_memory_is_returned_to_the_system_when_little_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    process, now = Process(monkeypatch), [1000.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], perf_counter=lambda: now[0])
    monkeypatch.setattr(memory_watch, "time", clock)
    watch = MemoryWatch(MemoryBudget(1000 * MIB), 16 * MIB, Receiving().slots, lambda: 0)
    # Memory is not returned while it may be needed again, or if there is little of it.
    process.resident = 140 * MIB
    watch.look()
    now[0] += 100
    process.resident = 130 * MIB
    watch.look()
    assert process.given_back == 0
    process.resident = 140 * MIB
    watch.look()
    assert process.given_back == 1
    # This attempt returned no memory, so the next one is made only after a while.
    now[0] += 1
    watch.look()
    assert process.given_back == 1
    now[0] += 100
    watch.look()
    assert process.given_back == 2


def test_returning_memory_takes_at_most_a_thousandth_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many live objects, a full garbage collection takes a long time, and blocks all calls."""
    process, now = Process(monkeypatch), [1000.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], perf_counter=lambda: now[0])
    monkeypatch.setattr(memory_watch, "time", clock)

    def collect() -> None:
        now[0] += 0.3

    monkeypatch.setattr(gc, "collect", collect)
    watch = MemoryWatch(MemoryBudget(1000 * MIB), 16 * MIB, Receiving().slots, lambda: 0)
    process.resident = 140 * MIB
    now[0] += 10
    watch.look()
    assert process.given_back == 1
    now[0] += 290
    watch.look()
    assert process.given_back == 1
    now[0] += 20
    watch.look()
    assert process.given_back == 2


class Canary:
    """An object whose lifetime a test observes by a weak reference."""


@pytest.mark.parametrize(
    ("place", "name", "path"),
    [
        (game_service, "_open_apply", APPLY),
        (TableService, "answer", "/chatiere.v1.TableService/GetRecord"),
    ],
)
def test_the_parsed_message_of_a_refused_request_is_freed(
    door: Door, place: object, name: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """grpcio keeps the error that ended a call. The error's frames must be freed without a garbage collection."""
    canaries = []

    def refuse(*_: object) -> None:
        canary = Canary()
        canaries.append(weakref.ref(canary))
        raise Refusal(ServiceReason.MALFORMED_REQUEST, "no", metadata={})

    monkeypatch.setattr(place, name, refuse)
    with running(door=door) as server:
        gc.disable()
        try:
            assert refusal(server.channel.unary_unary(path), b"").message == "no"
            wait_until(lambda: canaries[0]() is None, "the object is freed")
        finally:
            gc.enable()


def test_incomplete_requests_do_not_grow_a_worker(door: Door) -> None:
    with served("--request-timeout", "600", door=door) as server:
        pid = server.worker_pid(0)
        with grpc.insecure_channel(server.address) as channel:
            assert game_stub(channel).ListGames(LIST_GAMES, timeout=PATIENCE).games
            idle = _resident(pid)
            with closing(Peer(server.address)) as peer:
                # 40 times 8 MiB is more than incomplete requests may take. The streams end before all of it is sent.
                streams = [peer.begin(STEP) for _ in range(40)]
                with suppress(h2.exceptions.ProtocolError):
                    for stream in streams:
                        peer.send(stream, bytes(8 * MIB), claims=16 * MIB - 10)
                server.find("requests (in flight )?take [0-9]+ MiB")
                assert _resident(pid) < idle + 256 * MIB
                assert game_stub(channel).ListGames(LIST_GAMES, timeout=PATIENCE).games
            wait_until(lambda: _resident(pid) < idle + 64 * MIB, "the memory is given back")


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def test_a_stream_with_an_incomplete_request_is_ended_too(door: Door) -> None:
    with running(door=door) as server, attacker(server) as peer:
        stream = peer.begin("/chatiere.v1.BatchService/Play")
        peer.send(stream, bytes(10), claims=1000)
        streams = (server.server._fast or server.server.handlers).door.streams
        wait_until(lambda: len(streams) == 1, "the call has begun")
        _, client, calls = streams.largest(0.0)
        server.server._loop.call_soon_threadsafe(streams.end, client, calls)
        code, message = peer.status(stream)
        assert code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
        assert "streams whose request has not arrived completely" in message


def test_a_call_refused_for_want_of_a_slot_may_be_retried(door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", max_calls=1), door) as server:
        blocked: Any = server.channel.stream_unary(APPLY)
        never = iter(lambda: server.server.wait_for_termination(PATIENCE), False)
        first = blocked.future(never)
        wait_until(lambda: started(server, "Apply") == 1, "the call has begun")
        second = blocked.future(never)
        assert refusal(first.result).retry_after == 1
        second.cancel()


def test_a_browser_that_does_not_confirm_two_heartbeats_is_no_longer_connected() -> None:
    with running(door="web") as server:
        host, _, port = server.address.rpartition(":")
        with socket.create_connection((host, int(port)), PATIENCE) as client:
            client.sendall(b"GET / HTTP/1.1\r\nhost: " + server.address.encode() + b"\r\n\r\n")
            assert client.recv(1)
            with served_socket(client) as accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 2 * HEARTBEAT * 1000
