"""Data at the fast door: frames, windows, both ends writing at the same time, resets, and clients that leave."""

import random
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tools.needs import needs
from tools.played_frames import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    FRAME_SIZE,
    GOAWAY,
    HEADER_LIST_SIZE,
    HEADERS,
    MAX_NUMBER,
    PING,
    PREFACE,
    PRIORITY_FLAG,
    SETTINGS,
    STREAMS,
    TABLE_SIZE,
    UNKNOWN_KIND,
    WINDOW,
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
from chatiere.clients import BatchClient
from chatiere.clients.calls import batch_requests
from chatiere.service.calls.play_stream import PlayStream
from chatiere.service.exchange.door import Door
from chatiere.service.ports.fast import port
from chatiere.v1.batch_service_pb2 import BatchSetup
from chatiere.v1.game_service_pb2 import ListGamesRequest, ListGamesResponse

from ..process import served, wait_until
from ..support import PATIENCE, Running, game_stub
from ..support import running as running_server
from .peer import LIST_GAMES, OK, PLAY, TAKES_ALL, Peer, fast_address
from .servers import Slow, handled, in_flight, playing

pytestmark = needs("libnghttp2")

# The window of a stream, and the window of a connection before the server enlarges it.
STREAM_WINDOW, FIRST_WINDOW = 2**22, 65_535


class Sender:
    """Sends the bytes of a connection's first stream as far as the server's windows allow."""

    def __init__(self, peer: Peer) -> None:
        # Until the ping is answered, frames and windows may have HTTP/2's initial sizes.
        peer.ping()
        peer.send(peer.headers())
        self._peer, self._stream = peer, 1
        self._of_stream, self._of_connection = STREAM_WINDOW, FIRST_WINDOW + peer.given

    def send(self, content: bytes, *, ends: bool = False) -> None:
        """Send all of the content. When a window is used up, read frames until it is enlarged."""
        while content:
            room = min(self._of_stream, self._of_connection, 2**20)
            if not room:
                self.read()
                continue
            part, content = content[:room], content[room:]
            self._peer.send(data(part, END_STREAM if ends and not content else 0, self._stream))
            self._of_stream -= len(part)
            self._of_connection -= len(part)

    def read(self) -> None:
        """Read a frame. The frame may enlarge a window."""
        frame = self._peer.frame()
        if frame.kind == WINDOW_UPDATE and frame.stream == 0:
            self._of_connection += int.from_bytes(frame.payload)
        elif frame.kind == WINDOW_UPDATE and frame.stream == self._stream:
            self._of_stream += int.from_bytes(frame.payload)


# The start of a connection


def test_the_server_announces_its_limits(peer: Peer) -> None:
    peer.ping()
    expected = {STREAMS: 1000, WINDOW: STREAM_WINDOW, FRAME_SIZE: STREAM_WINDOW, HEADER_LIST_SIZE: 2**14}
    assert expected.items() <= peer.settings.items()


def test_a_connection_that_starts_byte_by_byte(server: Running) -> None:
    with Peer(server, greets=False) as peer:
        peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in PREFACE + b"".join(map(bytes, [Frame(SETTINGS, 0, 0, b""), *peer.call()])):
            peer.send(bytes([byte]))
        assert peer.end() == OK


@pytest.mark.parametrize("beginning", [b"", PREFACE[:5], PREFACE])
def test_a_client_that_sends_no_call_is_disconnected(beginning: bytes) -> None:
    with playing(request_timeout=0.05) as server, Peer(server, greets=False) as peer:
        peer.send(beginning)
        peer.rest()


# Frames


def test_meaningless_frames_are_ignored(peer: Peer) -> None:
    nothing = [
        Frame(UNKNOWN_KIND, 0xFF, 7, bytes(70_000)),
        Frame(PING, ACK, 0, bytes(8)),
        setting(0xABCD, 5),
        window(0, 5),
    ]
    half = message(b"meow")
    peer.ping()
    peer.send(*nothing, peer.headers(), *nothing, data(half[:3]), *nothing, data(half[3:]), data(b""))
    # The highest bit of a stream's number has no meaning.
    peer.send(data(message(b"purr"))._replace(stream=0x80000001))
    assert peer.answers(2) == [b"meow", b"purr"]


def test_headers_in_parts_with_padding_and_priority(peer: Peer) -> None:
    whole = peer.headers(grpc_timeout="1H").payload
    first = padded(Frame(HEADERS, PRIORITY_FLAG, 1, bytes(5) + whole[:10]), 3)
    parts = [Frame(CONTINUATION, 0, 1, whole[10:11]), Frame(CONTINUATION, 0, 1, b"")]
    peer.send(first, *parts, Frame(CONTINUATION, END_HEADERS, 1, whole[11:]))
    peer.send(padded(data(message(b"meow"), END_STREAM), 255))
    assert peer.answers(1) == [b"meow"]
    assert peer.end() == OK


@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    contents=st.lists(st.integers(0, 80_000).map(lambda size: (b"meow" * 20_000)[:size]), max_size=4),
    cuts=st.lists(st.integers(0, 70_000), max_size=8),
    paddings=st.lists(st.integers(0, 255) | st.none(), max_size=8),
)
def test_requests_may_be_split_into_frames_in_any_way(
    echoing: Running, contents: list[bytes], cuts: list[int], paddings: list[int | None]
) -> None:
    with Peer(echoing, *TAKES_ALL) as peer:
        # The connection's window exceeds the total once the server has enlarged it.
        peer.ping()
        peer.send(peer.headers())
        left = b"".join(map(message, contents))
        for cut, padding in zip(cuts, [*paddings, *[None] * 8], strict=False):
            frame, left = data(left[:cut]), left[cut:]
            peer.send(frame if padding is None else padded(frame, padding))
        peer.send(data(left, END_STREAM))
        assert peer.end() == OK
        assert peer.messages.get(1, []) == contents


@pytest.mark.parametrize("path", [LIST_GAMES, PLAY])
@pytest.mark.parametrize("how", ["with the last", "empty", "trailers"])
def test_requests_may_end_with_data_or_trailers(peer: Peer, path: str, how: str) -> None:
    last = data(message(b""), END_STREAM if how == "with the last" else 0)
    trailers = Frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x00\x09x-trailer\x011")
    more = {"with the last": [], "empty": [data(b"", END_STREAM)], "trailers": [trailers]}[how]
    peer.send(peer.headers(path=path), last, *more)
    assert peer.end() == OK
    assert len(peer.messages[1]) == 1
    peer.calls(3)


def test_a_stream_without_requests_ends_with_ok(peer: Peer) -> None:
    peer.send(peer.headers(flags=END_HEADERS | END_STREAM))
    assert peer.end() == OK
    assert 1 not in peer.messages
    peer.calls(3)


def test_pings_are_answered_in_the_middle_of_a_message_and_between_calls(peer: Peer) -> None:
    peer.ping(b"no calls")
    whole = message(bytes(50_000))
    peer.send(peer.headers(), data(whole[:30_000]))
    peer.ping(b"half one")
    peer.send(data(whole[30_000:], END_STREAM))
    assert peer.end() == OK
    peer.ping(b"no calls")


def test_a_client_without_memory_for_headers_is_answered(echoing: Running) -> None:
    with Peer(echoing, setting(TABLE_SIZE, 0)) as peer:
        peer.decoder.max_allowed_table_size = 0
        peer.decoder.header_table_size = 0
        for stream in 1, 3, 5:
            peer.calls(stream, b"meow")


# Windows


def test_pings_and_other_calls_are_answered_while_a_response_waits_for_a_window(echoing: Running) -> None:
    with Peer(echoing, setting(WINDOW, 0)) as peer:
        peer.send(peer.headers(), data(message(b"meow")), peer.headers(3), data(message(b"purr"), END_STREAM, 3))
        peer.ping()
        assert not peer.messages
        peer.send(window(3, 9))
        assert peer.end(3) == OK
        assert peer.messages == {3: [b"purr"]}
        peer.send(window(1, 9))
        assert peer.answers(1) == [b"meow"]


def test_the_server_respects_windows_and_frame_sizes(echoing: Running) -> None:
    with Peer(echoing, setting(WINDOW, 1000)) as peer:
        content = random.Random(7).randbytes(200_000)
        peer.ping()
        peer.send(peer.headers(), data(message(content)))
        came = 0

        def comes(*frames: Frame, until: int, largest: int) -> None:
            """Send these frames. Then check the total number of bytes received, and the maximum size of the frames."""
            nonlocal came
            peer.send(*frames)
            while came < until:
                size = len(peer.skip_to(DATA).payload)
                assert size <= largest
                came += size
            peer.ping()
            assert came == until

        def is_silent() -> None:
            before = len(peer._parts[1])
            peer.ping()
            assert len(peer._parts[1]) == before

        # The stream's window is the limit, then the connection's (65,535 at first), then the stream's again.
        comes(until=1000, largest=16_384)
        is_silent()
        comes(window(1, 300), until=1300, largest=16_384)
        comes(setting(WINDOW, 1100), until=1400, largest=16_384)
        peer.send(setting(WINDOW, 0), window(1, 1000))
        is_silent()
        comes(setting(WINDOW, 1000), window(1, 99_000), until=65_535, largest=16_384)
        is_silent()
        comes(window(0, 100_000), until=101_300, largest=16_384)
        comes(setting(FRAME_SIZE, 50_000), window(1, 200_000), until=165_535, largest=50_000)
        is_silent()
        comes(window(0, 200_000), until=200_005, largest=50_000)
        assert peer.messages == {1: [content]}


def test_the_end_of_a_call_needs_no_window(echoing: Running) -> None:
    answer = message(b"meow")
    with Peer(echoing, setting(WINDOW, len(answer))) as peer:
        peer.send(peer.headers(), data(answer, END_STREAM))
        assert peer.end() == OK
        assert peer.messages[1] == [b"meow"]
        peer.send(peer.headers(3), data(answer, 0, 3))
        assert peer.answers(1, 3) == [b"meow"]
        peer.send(data(b"", END_STREAM, 3))
        assert peer.end(3) == OK


def test_large_requests_up_to_the_window_before_any_response_is_read(echoing: Running) -> None:
    with Peer(echoing, *TAKES_ALL) as peer:
        content = random.Random(7).randbytes(1_000_000)
        sender = Sender(peer)
        for _ in range(30):
            # The client reads only when a window is used up. By then all buffers between client and server are full.
            sender.send(message(content))
        assert peer.answers(30) == [content] * 30


def test_a_client_may_send_many_requests_before_it_reads(server: Running) -> None:
    game = max(engine.games(), key=lambda game: game.packed_size)
    table = BatchSetup(game=game.name, players=game.max_players)
    count = STREAM_WINDOW // game.packed_size
    with BatchClient(fast_address(server)) as client, client.stream() as stream:
        begun = stream.submit(batch_requests.new_games(table, range(count // 4))).result(PATIENCE)
        calls = [batch_requests.resample(table, begun.states, [0] * len(begun.states), 3) for _ in range(20)]
        futures = [stream.submit(call) for call in calls]
        states = [future.result(PATIENCE).states.tobytes() for future in futures]
        assert len(states[0]) == begun.states.nbytes
        assert set(states) == {states[0]}


def test_a_client_that_does_not_read_delays_no_other_client(echoing: Running) -> None:
    content = random.Random(7).randbytes(2**24)
    with Peer(echoing, *TAKES_ALL) as slow, Peer(echoing) as other:
        # The requests are larger than all buffers between client and server.
        sender = Sender(slow)
        sender.send(message(content))
        other.calls(1, b"meow")
        slow.send(data(message(b"meow"), END_STREAM))
        assert slow.end() == OK
        assert slow.messages[1] == [content, b"meow"]


def test_requests_wait_while_responses_wait(echoing: Running) -> None:
    """If a stream has unread responses, the server reads only up to its window. Later it answers all requests."""
    with Peer(echoing, setting(WINDOW, 0), window(0, MAX_NUMBER - FIRST_WINDOW)) as peer:
        long = random.Random(7).randbytes(2 * STREAM_WINDOW)
        sender = Sender(peer)
        sender.send(message(b"one") + message(b"two") + message(long[: STREAM_WINDOW // 2]))
        peer.send(window(1, MAX_NUMBER))
        sender.send(message(long), ends=True)
        assert peer.end() == OK
        assert peer.messages[1] == [b"one", b"two", long[: STREAM_WINDOW // 2], long]


def test_padding_is_returned_to_the_windows(peer: Peer) -> None:
    peer.ping()
    before = peer.given
    padding = padded(data(b""), 255)
    peer.send(peer.headers())
    # This is more than half of the stream's window, in fewer frames than the limit for floods.
    for _ in range(9):
        peer.send(*[padding] * 1000)
        peer.ping()
    # The answer to a ping overtakes other frames.
    peer.ping()
    assert peer.given - before >= STREAM_WINDOW // 2
    peer.send(data(message(b"meow")))
    assert peer.answers(1) == [b"meow"]


def test_more_small_requests_than_memory_should_hold(echoing: Running) -> None:
    with Peer(echoing, setting(WINDOW, 0), window(0, 2**30)) as peer:
        peer.send(peer.headers(), data(message(b"first")))
        peer.ping()
        # Some requests are answered immediately, and their responses wait.
        for _ in range(4):
            peer.send(data(message(b"") * 2**14))
        peer.ping()
        peer.send(window(1, 2**30))
        code, words = peer.end()
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert str(2**14) in words
        peer.send(setting(WINDOW, 100))
        peer.calls(3)


@pytest.mark.parametrize("path", [LIST_GAMES, PLAY])
def test_frames_sent_to_a_call_that_has_just_ended_are_ignored(echo: None, path: str) -> None:
    with playing(max_message_bytes=1000) as server, Peer(server) as peer:
        peer.ping()
        peer.send(peer.headers(path=path), data(message(bytes(1001)) + bytes(2**20)))
        peer.send(*[data(bytes(2**20))] * 2)
        assert peer.end()[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
        peer.calls(3, b"meow")


# Resets


def test_a_reset_between_requests_and_in_the_middle_of_one(peer: Peer) -> None:
    peer.send(peer.headers(), data(message(b"one")))
    peer.answers(1)
    # The next call follows immediately.
    peer.send(reset(1), peer.headers(3), data(message(b"two")[:6], 0, 3), reset(3), peer.headers(5))
    peer.send(data(message(b"three"), END_STREAM, 5))
    assert peer.end(5) == OK
    assert peer.messages == {1: [b"one"], 5: [b"three"]}
    assert not peer.resets.keys() & {5}
    peer.calls(7)


def test_a_reset_while_a_response_is_computed(slow: Slow) -> None:
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(b"one")), data(message(b"two")))
        slow.wait_for_request()
        peer.send(reset(1), peer.headers(3), data(message(b"three"), END_STREAM, 3))
        slow.released.release(3)
        assert peer.end(3) == OK
        assert peer.messages[3] == [b"three"]
        assert not peer.resets.keys() & {3}
        wait_until(lambda: not in_flight(server), "both calls are over")
        assert handled(server) == {"OK": 1, "Canceled": 1}


def test_a_reset_while_a_response_waits_for_a_window(echoing: Running) -> None:
    with Peer(echoing, setting(WINDOW, 3)) as peer:
        peer.send(peer.headers(), data(message(b"one")))
        peer.skip_to(DATA)
        peer.send(reset(1), peer.headers(3), window(3, 100), data(message(b"two"), END_STREAM, 3))
        assert peer.end(3) == OK
        assert peer.messages[3] == [b"two"]


def test_a_grpc_client_that_cancels_a_call_can_make_another(echoing: Running) -> None:
    play: Any = echoing.channel.stream_stream(PLAY)
    for _ in range(20):
        left = play(iter(threading.Event().wait, None), timeout=PATIENCE)
        left.cancel()
        assert list(play(iter([b"meow"]), timeout=PATIENCE)) == [b"meow"]


def test_a_reset_while_a_response_is_being_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    # The response is larger than all buffers between client and server, so part of it waits for the socket.
    monkeypatch.setattr(PlayStream, "answer", lambda *_: [bytes(50_000_000)])
    with playing() as server, Peer(server, *TAKES_ALL) as peer:
        peer.send(peer.headers(), data(message(b"meow")))
        peer.skip_to(DATA)
        peer.send(reset(1))
        wait_until(lambda: not in_flight(server), "the call is over")
        peer.send(*peer.call(3))
        assert peer.end(3) == OK
        assert ListGamesResponse.FromString(peer.messages[3][0]).games
        assert 1 not in peer.messages
        # The frame whose sending had begun is complete and correct.
        assert not any(peer._parts[1][5:])


# Clients that have left


def hang_up(peer: Peer) -> None:
    """Close the client's socket with a reset. The server's system detects it with the next packet that it sends."""
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.socket.close()


def test_responses_for_a_client_that_has_left_are_neither_computed_nor_kept(slow: Slow) -> None:
    with playing() as server, Peer(server, *TAKES_ALL) as peer:
        peer.send(peer.headers(), data(message(b"meow") * 1000))
        slow.wait_for_request()
        hang_up(peer)
        slow.released.release(1000)
        wait_until(lambda: not in_flight(server), "the call is over")
        assert handled(server) == {"Canceled": 1}
        assert len(slow.cancelled) <= 2


def test_a_client_that_closes_its_side_of_the_connection_has_left(slow: Slow) -> None:
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(b"meow"), END_STREAM))
        slow.wait_for_request()
        peer.socket.shutdown(socket.SHUT_WR)
        peer.rest()
        slow.released.release()
        wait_until(lambda: not in_flight(server), "the call is over")
        assert handled(server) == {"Canceled": 1}


def test_resources_are_freed_after_clients_have_left() -> None:
    with running_server() as warm:
        assert warm.server.fast_port is None
    before = set(threading.enumerate()), len(list(Path("/proc/self/fd").iterdir()))
    with playing() as server:
        for number in range(100):
            with Peer(server) as peer:
                calls = [peer.call(1, content=bytes(100)), [peer.headers(3)], [peer.headers(5), data(b"\0\0")]]
                peer.send(*[frame for call in calls[: number % 4] for frame in call])
                if number % 3 == 0:
                    hang_up(peer)
                elif number % 3 == 1:
                    peer.send(Frame(GOAWAY, 0, 0, bytes(8)))
        with Peer(server) as peer:
            peer.send(*peer.call())
            assert peer.end() == OK
        wait_until(lambda: not in_flight(server), "the streams are over")
        unary = {"grpc_type": "unary"}
        wait_until(lambda: not server.sample("chatiere_calls_in_flight", **unary), "the calls are over")

    def is_as_before() -> bool:
        left = set(threading.enumerate()) - before[0]
        return not left and len(list(Path("/proc/self/fd").iterdir())) <= before[1]

    wait_until(is_as_before, "threads and files are as before")


def test_a_process_without_free_descriptors_continues() -> None:
    with served(door="fast", prefix=("sh", "-c", 'ulimit -n 64; exec "$@"', "sh")) as server:
        host, port = server.address.split(":")
        silent = [socket.create_connection((host, int(port)), PATIENCE) for _ in range(200)]
        for each in silent:
            each.close()
        with grpc.insecure_channel(server.address) as channel:
            assert game_stub(channel).ListGames(ListGamesRequest(), timeout=PATIENCE, wait_for_ready=True).games
        assert server.total("chatiere_workers_restarted_total") == 0


def test_the_memory_is_checked_often_only_while_calls_receive_data(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    monkeypatch.setattr(Door, "look_at_memory", lambda door, held: looks.append(held))
    # The idle door never looks again by itself.
    monkeypatch.setattr(port, "IDLE_LOOK", 1e6)
    with playing() as server:
        for path in (LIST_GAMES, PLAY):
            wait_until(lambda: server.server._fast._looks_rarely, "the door is idle")  # type: ignore[union-attr]
            before = len(looks)
            with Peer(server) as peer:
                peer.send(peer.headers(path=path), data(b"part"))
                wait_until(lambda: len(looks) > before + 2, "the memory is checked")  # noqa: B023
