"""The port for streams: both ends write at once; clients say anything, or leave."""

import os
import random
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest
from hpack import Encoder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from played_frames import (
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    PREFACE,
    SETTINGS,
    WINDOW_UPDATE,
    Frame,
    data,
    message,
    padded,
    reset,
    setting,
    window,
)

from chatiere import engine
from chatiere.clients import BatchClient, SocketStream
from chatiere.clients.calls import batch_requests
from chatiere.service.ports import play_port
from chatiere.v1.batch_service_pb2 import (
    NewGamesRequest,
    PlayRequest,
    Table,
)

from ..process import wait_until
from ..support import PATIENCE, LogLines, Running, running
from .peer import (
    AHEAD,
    FRAME_SIZE,
    PLAY,
    WINDOW,
    Peer,
    Slow,
    connections_end,
    everything_is_answered,
    handled,
    in_flight,
    own,
    fast_address,
    playing,
)

# Both ends write at once


def test_as_many_large_requests_as_the_window_allows_before_any_answer_is_read(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 2**31 - 1), setting(FRAME_SIZE, 2**24 - 1), window(0, 2**30)) as peer:
        content = random.Random(7).randbytes(1_000_000)
        request = data(message(content))
        room, sent = 65_535, 0
        peer.send(peer.headers())
        while sent < 30:
            # All buffers between the ends are full when the first frame is read.
            while room >= len(request.payload) and sent < 30:
                peer.send(request)
                room -= len(request.payload)
                sent += 1
            while (frame := peer.skip_to(WINDOW_UPDATE)).stream:
                pass
            room += int.from_bytes(frame.payload)
        assert peer.answers(30) == [content] * 30


def test_both_clients_may_ask_much_before_they_read(server: Running) -> None:
    game = max(engine.games(), key=lambda game: game.packed_size)
    table = Table(game=game.name, players=game.max_players)
    count = AHEAD // game.packed_size
    with SocketStream(fast_address(server)) as socket_stream, BatchClient(fast_address(server)) as client:
        for stream in socket_stream, client.stream():
            with stream:
                begun = stream.submit(batch_requests.new_games(table, range(count // 4))).result(PATIENCE)
                calls = [batch_requests.resample(table, begun.states, [0] * len(begun.states), 3) for _ in range(20)]
                futures = [stream.submit(call) for call in calls]
                states = [future.result(PATIENCE).states.tobytes() for future in futures]
                assert len(states[0]) == begun.states.nbytes
                assert set(states) == {states[0]}


def test_a_client_that_reads_slowly(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 2**31 - 1), setting(FRAME_SIZE, 2**24 - 1), window(0, 2**30)) as peer:
        content = random.Random(7).randbytes(4_000_000)
        peer.send(peer.headers(), data(message(content)), data(message(b"meow"), END_STREAM))
        head = peer._came.read(9)
        while head[3] != DATA:
            peer._came.read(int.from_bytes(head[:3]))
            head = peer._came.read(9)
        # The answer waits for its reader, and the ping behind it.
        peer.send(Frame(PING, 0, 0, b"whothere"))
        assert int.from_bytes(head[:3]) == len(message(content))
        assert b"".join(peer._came.read(50_000) for _ in range(80)) + peer._came.read(5) == message(content)
        assert peer.end() == (grpc.StatusCode.OK, "")
        assert peer.messages[1] == [b"meow"]


def test_a_request_longer_than_the_window_behind_another(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 0), window(0, 2**30)) as peer:
        long = message(bytes(2 * AHEAD))
        # While the first answer waits for room, the second request and all that the window has room for come.
        peer.send(peer.headers(), data(message(b"one")))
        peer.ping()
        first = message(b"two") + long[: AHEAD - 16]
        peer.send(data(first))
        peer.ping()
        before = peer.given
        peer.send(window(1, 2**30))
        assert peer.answers(2) == [b"one", b"two"]
        while peer.given - before < len(first):
            peer.frame()
        peer.send(data(long[AHEAD - 16 :][:AHEAD]))
        peer.send(data(long[2 * AHEAD - 16 :]))
        assert peer.answers(3)[2] == long[5:]


def test_padding_is_given_back_to_the_window(peer: Peer, echo: None) -> None:
    padding = padded(data(b""), 255)
    peer.send(peer.headers(), *[padding] * (AHEAD // 256))
    given = 0
    while given < AHEAD // 2:
        given += int.from_bytes(peer.skip_to(WINDOW_UPDATE).payload)
    peer.send(data(message(b"meow")))
    assert peer.answers(1) == [b"meow"]


def test_more_small_requests_than_memory_should_hold(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 0), window(0, 2**30)) as peer:
        peer.send(peer.headers(), data(message(b"first")))
        peer.ping()
        peer.send(data(message(b"") * 2**14))
        peer.ping()
        peer.send(data(message(b"")), window(1, 2**30))
        code, words = peer.end()
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert f"{2**14} messages wait for their answers, which is the most" in words
        assert len(peer.messages[1]) == 1 + 2**14
        peer.send(setting(WINDOW, 100))
        peer.calls(3)


@pytest.mark.parametrize("frame", [Frame(PING, 0, 0, bytes(8)), Frame(SETTINGS, 0, 0, b"")])
def test_a_client_that_asks_and_asks_and_never_reads(
    server: Running, frame: Frame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_port, "_FAREWELL", 0.0)
    with Peer(server) as peer:
        many = bytes(frame) * 10_000

        def ask_for_ever() -> None:
            while True:
                peer.send(many)

        with pytest.raises(ConnectionError):
            ask_for_ever()
    connections_end()
    everything_is_answered(server)


def test_answers_for_a_client_that_is_gone_are_neither_kept_nor_made(slow: Slow) -> None:
    with playing() as server, Peer(server, setting(WINDOW, 2**31 - 1), window(0, 2**30)) as peer:
        peer.send(peer.headers(), data(message(b"meow") * 1000))
        slow.wait_for_request()
        # Its system says so to what is sent next.
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer._came.close()
        peer.socket.close()
        slow.released.release(1000)
        connections_end()
        assert len(slow.cancelled) <= 2
        assert (handled(server), in_flight(server)) == ({"Canceled": 1}, 0)


# Any bytes


def files() -> set[str]:
    return {os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}


def conversation() -> bytes:
    """A whole one, of two calls."""
    encoder = Encoder()
    headers = [(":method", "POST"), (":path", PLAY), ("content-type", "application/grpc"), ("grpc-timeout", "1H")]
    request = PlayRequest(new_games=NewGamesRequest(table=Table(game="discat", players=2), count=3))
    frames = [Frame(SETTINGS, 0, 0, b""), window(0, 2**20), Frame(PING, 0, 0, b"whothere")]
    for stream in 1, 3:
        frames.append(Frame(HEADERS, END_HEADERS, stream, encoder.encode(headers)))
        frames.append(padded(data(message(request.SerializeToString()), 0, stream), 3))
        frames.append(reset(stream))
    return PREFACE + b"".join(map(bytes, frames))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A valid conversation in which bytes are changed, left out, put in and said again."""
    made = bytearray(conversation())
    for _ in range(draw(st.integers(1, 5))):
        begin = draw(st.integers(0, len(made)))
        end = begin + draw(st.integers(0, 20))
        made[begin:end] = draw(st.one_of(st.binary(max_size=20), st.just(bytes(made[begin:end]) * 2)))
    return bytes(made)


_frames = st.lists(
    st.builds(
        Frame, st.integers(0, 10), st.integers(0, 255), st.integers(0, 4), st.binary(max_size=20) | st.just(b"\x82\x84")
    ).map(bytes),
    max_size=8,
)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | _frames.map(lambda frames: PREFACE + b"".join(frames)) | mutated())
def test_any_bytes(server: Running, came: bytes) -> None:
    with Peer(server, greets=False) as peer:
        peer.send(came)
        peer.socket.shutdown(socket.SHUT_WR)
        # It ends, and says so.
        assert peer.skip_to(GOAWAY).stream == 0
        with pytest.raises(EOFError):
            peer.frame()


def test_after_any_bytes_nothing_is_left(caplog: pytest.LogCaptureFixture) -> None:
    noise = random.Random(7)
    with running() as warm:
        assert warm.server.fast_port is None
    before = set(threading.enumerate()), len(list(Path("/proc/self/fd").iterdir()))
    with playing() as server:
        for number in range(100):
            made = bytearray(conversation())
            for _ in range(number % 5):
                made[noise.randrange(len(made))] = noise.randrange(256)
            with Peer(server, greets=False) as peer:
                peer.send(bytes(made))
                peer.socket.shutdown(socket.SHUT_WR)
                peer.skip_to(GOAWAY)
        everything_is_answered(server)
        connections_end()
        assert in_flight(server) == 0

    def is_as_before() -> bool:
        left = {each for each in threading.enumerate() if "play" in each.name} - before[0]
        return not left and len(list(Path("/proc/self/fd").iterdir())) <= before[1]

    wait_until(is_as_before, "threads and files are as before")
    assert not [record for record in caplog.records if record.exc_info]


# Clients that are gone before they are served, and what the process has no more of


def test_clients_that_are_gone_at_once_hold_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(seconds: float) -> None:
        raise AssertionError("nobody is to wait for a client that is gone")

    monkeypatch.setattr(play_port.time, "sleep", sleep)
    port = play_port.PlayPort(own(), "127.0.0.1:0", lambda path: None, share_port=False)
    for _ in range(3):
        gone = socket.create_connection(("127.0.0.1", port.port))
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        gone.close()
    with LogLines() as log, socket.create_connection(("127.0.0.1", port.port), PATIENCE) as client:
        port.start()
        assert client.recv(9)[3] == SETTINGS
        assert not log.lines
    assert port.stop(None).wait(PATIENCE)


def test_a_process_without_more_threads_goes_on(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def fail(thread: threading.Thread) -> None:
        if thread.name == "play":
            raise RuntimeError("can't start new thread")
        start(thread)

    with monkeypatch.context() as patch, LogLines() as log:
        patch.setattr(threading.Thread, "start", fail)
        with Peer(server, greets=False) as peer, pytest.raises(EOFError):
            peer.frame()
        assert log.wait_for("could not be served: can't start new thread")
    everything_is_answered(server)


def test_a_process_without_more_files_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    accept = socket.socket.accept
    failures = [OSError(24, "Too many open files")]

    def fail(listening: socket.socket) -> Any:
        if failures:
            raise failures.pop()
        return accept(listening)

    with playing() as server, LogLines() as log:
        monkeypatch.setattr(socket.socket, "accept", fail)
        everything_is_answered(server)
        assert log.wait_for("could not be taken: .* Too many open files".replace(".* ", "[Errno 24] "))
