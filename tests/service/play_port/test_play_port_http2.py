"""The port for streams: HTTP/2, played here frame by frame (RFC 9113)."""

import random
import socket
import struct
import threading
from collections.abc import Callable

import grpc
import pytest
from hpack import Encoder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from played_frames import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PADDED,
    PING,
    PREFACE,
    PRIORITY,
    PRIORITY_FLAG,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    UNKNOWN_KIND,
    WINDOW_UPDATE,
    Frame,
    data,
    message,
    padded,
    reset,
    setting,
    window,
)

from chatiere.http2 import connection as http2_connection
from chatiere.service.ports import play_port

from ..support import PATIENCE, Running
from .peer import (
    AHEAD,
    FRAME_SIZE,
    NO_ERROR,
    PLAY,
    PROTOCOL_ERROR,
    REFUSED_STREAM,
    STREAMS,
    TABLE_SIZE,
    WINDOW,
    Peer,
    Slow,
    everything_is_answered,
    handled,
    in_flight,
    fast_address,
    playing,
)

# HTTP/2: beginnings


BEGINNINGS = {
    "HTTP/1.1": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "TLS": bytes.fromhex("160301010001000100fc0303") + bytes(200),
    "another word": PREFACE[:-6] + b"XX\r\n\r\n",
    "nonsense": bytes(1000),
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_beginning_that_is_not_http2_s(server: Running, name: str) -> None:
    with Peer(server, greets=False) as peer:
        peer.send(BEGINNINGS[name])
        assert peer.goodbye() == (PROTOCOL_ERROR, "this is not gRPC: the client does not begin as HTTP/2 does")
    everything_is_answered(server)


def test_a_beginning_that_comes_in_pieces_or_breaks_off(server: Running) -> None:
    for size in 0, 1, len(PREFACE) - 1:
        with Peer(server, greets=False) as peer:
            peer.send(PREFACE[:size])
            peer.socket.shutdown(socket.SHUT_WR)
            assert peer.goodbye()[0] == NO_ERROR
    with Peer(server, greets=False) as peer:
        for byte in PREFACE + bytes(Frame(PING, 0, 0, b"whothere")):
            peer.send(bytes([byte]))
        assert peer.skip_to(PING) == Frame(PING, ACK, 0, b"whothere")


def test_a_client_that_does_not_begin_is_left(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_port, "_GREETING", 0.0)
    with Peer(server, greets=False) as peer:
        peer.goodbye()


def test_a_connection_without_a_call_is_left_in_the_end(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_port, "_IDLE", 0.0)
    with Peer(server) as peer:
        peer.goodbye()


def test_how_the_service_begins(peer: Peer) -> None:
    first, second = peer.frame(), peer.frame()
    assert (first.kind, first.stream) == (SETTINGS, 0)
    values = dict(struct.iter_unpack(">HI", first.payload))
    assert values[STREAMS] == 1
    assert values[FRAME_SIZE] == 2**24 - 1
    assert second == window(0, AHEAD - 65_535)
    assert peer.frame() == Frame(SETTINGS, ACK, 0, b"")


# HTTP/2: frames and streams


WRONG: dict[str, tuple[Callable[[Peer], list[Frame]], str]] = {
    "data before headers": (lambda peer: [data(message(b""))], "a frame of stream 1"),
    "data of no stream": (lambda peer: [peer.headers(), data(b"", 0, 0)], "a frame of stream 0"),
    "data of a later stream": (lambda peer: [peer.headers(), data(b"", 0, 3)], "a frame of stream 3"),
    "an even stream": (lambda peer: [peer.headers(2)], "headers of stream 2"),
    "no stream": (lambda peer: [peer.headers(0)], "headers of stream 0"),
    "an earlier stream": (lambda peer: [peer.headers(3), reset(3), peer.headers(1)], "headers of stream 1"),
    "headers again": (lambda peer: [peer.headers(), peer.headers()], "headers of stream 1"),
    "a reset of no stream": (lambda peer: [reset(1)], "stream 1 is reset"),
    "a reset of stream 0": (lambda peer: [reset(0)], "stream 0 is reset"),
    "half a reset": (lambda peer: [peer.headers(), Frame(RST_STREAM, 0, 1, b"\0")], ""),
    "a promise": (lambda peer: [Frame(PUSH_PROMISE, END_HEADERS, 1, bytes(8))], "type 5"),
    "headers that go on": (lambda peer: [Frame(CONTINUATION, END_HEADERS, 1, b"")], "without a beginning"),
    "headers that break off": (lambda peer: [Frame(HEADERS, 0, 1, b""), Frame(PING, 0, 0, bytes(8))], "headers go on"),
    "headers of two streams": (
        lambda peer: [Frame(HEADERS, 0, 1, b""), Frame(CONTINUATION, END_HEADERS, 3, b"\x82")],
        "headers go on",
    ),
    "headers without end": (
        lambda peer: [Frame(HEADERS, 0, 1, bytes(2**15)), *[Frame(CONTINUATION, 0, 1, bytes(2**15))] * 2],
        "headers have more than",
    ),
    "long headers": (lambda peer: [Frame(HEADERS, END_HEADERS, 1, bytes(70_000))], "70000 bytes"),
    "many headers": (
        lambda peer: [Frame(HEADERS, END_HEADERS, 1, Encoder().encode([("a", "b" * 2**12)]) + b"\xbe" * 2**14)],
        "",
    ),
    "broken headers": (lambda peer: [Frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff")], ""),
    "no text in headers": (lambda peer: [Frame(HEADERS, END_HEADERS, 1, b"\x00\x01a\x01\xff")], ""),
    "headers of padding alone": (lambda peer: [Frame(HEADERS, END_HEADERS | PADDED, 1, b"\x09" + bytes(5))], "padding"),
    "headers without padding": (lambda peer: [Frame(HEADERS, END_HEADERS | PADDED, 1, b"")], ""),
    "data of padding alone": (lambda peer: [peer.headers(), Frame(DATA, PADDED, 1, b"\x05\0\0")], "padding"),
    "half a setting": (lambda peer: [Frame(SETTINGS, 0, 0, b"\0")], ""),
    "a window too large": (lambda peer: [setting(WINDOW, 2**31)], "a window of"),
    "frames too large": (lambda peer: [setting(FRAME_SIZE, 2**24)], "frames of"),
    "frames too small": (lambda peer: [setting(FRAME_SIZE, 2**14 - 1)], "frames of"),
    "an update of nothing": (lambda peer: [window(0, 0)], "grows by 0"),
    "an update of nothing of the stream": (lambda peer: [peer.headers(), window(1, 0)], "grows by 0"),
    "updates beyond the largest": (lambda peer: [window(0, 2**31 - 1)], "grows by"),
    "updates of the stream beyond": (lambda peer: [peer.headers(), window(1, 2**31 - 1)], "grows by"),
    "half an update": (lambda peer: [Frame(WINDOW_UPDATE, 0, 0, b"\0")], ""),
    "a long ping": (lambda peer: [Frame(PING, 0, 0, bytes(60_000))], "a ping of 60000 bytes"),
    "half a farewell": (lambda peer: [Frame(GOAWAY, 0, 0, b"\0")], ""),
    "more than the window": (
        lambda peer: [peer.headers(), data(struct.pack(">BI", 0, 2**24) + bytes(AHEAD - 5)), data(b"x")],
        "more comes than the window has room for",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_grpc_ends_the_connection_with_a_reason(
    server: Running, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else what is taken would be given back.
    monkeypatch.setattr(http2_connection, "_SHARES", 1)
    make, words = WRONG[name]
    with Peer(server) as peer:
        peer.send(*make(peer))
        error, said = peer.goodbye()
        assert error == PROTOCOL_ERROR
        assert said.startswith("this is not gRPC: ")
        assert words in said
        assert not peer.ends, "a call that broke has no status"
    everything_is_answered(server)


def test_what_means_nothing_is_passed_over(peer: Peer, echo: None) -> None:
    nothing = [
        Frame(PRIORITY, 0, 1, bytes(5)),
        Frame(UNKNOWN_KIND, 0xFF, 7, bytes(70_000)),
        Frame(SETTINGS, ACK, 0, b""),
        Frame(PING, ACK, 0, bytes(8)),
        Frame(GOAWAY, 0, 0, bytes(8) + b"later"),
        setting(0xABCD, 5),
        window(99, 5),
    ]
    half = message(b"meow")
    peer.send(*nothing, peer.headers(), *nothing, data(half[:3]), *nothing, data(half[3:]), *nothing, data(b""))
    # The highest bit of a stream's number.
    peer.send(data(message(b"purr"))._replace(stream=0x80000001))
    assert peer.answers(2) == [b"meow", b"purr"]


def test_headers_in_parts_with_padding_and_priority(peer: Peer, echo: None) -> None:
    whole = peer.headers(grpc_timeout="1H").payload
    first = padded(Frame(HEADERS, PRIORITY_FLAG, 1, bytes(5) + whole[:10]), 3)
    parts = [Frame(CONTINUATION, 0, 1, whole[10:11]), Frame(CONTINUATION, 0, 1, b"")]
    peer.send(first, *parts, Frame(CONTINUATION, END_HEADERS, 1, whole[11:]))
    peer.send(padded(data(message(b"meow"), END_STREAM), 255))
    assert peer.answers(1) == [b"meow"]
    assert peer.end()[0] is grpc.StatusCode.OK


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    contents=st.lists(st.integers(0, 80_000).map(lambda size: (b"meow" * 20_000)[:size]), max_size=4),
    cuts=st.lists(st.integers(0, 70_000), max_size=8),
    paddings=st.lists(st.integers(0, 255) | st.none(), max_size=8),
)
def test_requests_arrive_however_they_are_cut_into_frames(
    server: Running, echo: None, contents: list[bytes], cuts: list[int], paddings: list[int | None]
) -> None:
    with Peer(server, setting(WINDOW, 2**31 - 1), window(0, 2**30)) as peer:
        peer.send(peer.headers())
        left = b"".join(map(message, contents))
        for cut, padding in zip(cuts, [*paddings, *[None] * 8], strict=False):
            frame, left = data(left[:cut]), left[cut:]
            peer.send(frame if padding is None else padded(frame, padding))
        peer.send(data(left, END_STREAM))
        assert peer.end() == (grpc.StatusCode.OK, "")
        assert peer.messages.get(1, []) == contents


@pytest.mark.parametrize("how", ["with the last", "empty", "trailers"])
def test_how_a_client_may_end_its_requests(peer: Peer, echo: None, how: str) -> None:
    last = data(message(b"meow"), END_STREAM if how == "with the last" else 0)
    trailers = Frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x00\x09x-trailer\x011")
    more = {"with the last": [], "empty": [data(b"", END_STREAM)], "trailers": [trailers]}[how]
    peer.send(peer.headers(), last, *more)
    assert peer.end() == (grpc.StatusCode.OK, "")
    assert peer.messages == {1: [b"meow"]}
    peer.calls(3)


def test_a_call_without_requests(peer: Peer, echo: None) -> None:
    peer.send(peer.headers(flags=END_HEADERS | END_STREAM))
    assert peer.end() == (grpc.StatusCode.OK, "")
    peer.calls(3)


def test_a_request_that_breaks_off(peer: Peer, echo: None) -> None:
    for stream, part in (1, message(b"meow")[:7]), (3, message(b"meow")[:3]), (5, message(b"meow")[:5]):
        peer.send(peer.headers(stream), data(message(b"whole") + part, END_STREAM, stream))
        code, words = peer.end(stream)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert "the last message breaks off" in words
        assert peer.messages[stream] == [b"whole"]
    peer.calls(7)


def test_a_second_stream_is_refused_and_the_first_goes_on(peer: Peer, echo: None) -> None:
    peer.send(peer.headers(), data(message(b"one")))
    peer.answers(1)
    peer.send(peer.headers(3), data(message(b"other"), END_STREAM, 3), data(message(b"two"), END_STREAM))
    assert peer.end() == (grpc.StatusCode.OK, "")
    assert peer.messages == {1: [b"one", b"two"]}
    assert peer.resets[3] == REFUSED_STREAM
    peer.calls(5)


def test_pings_are_answered_in_the_middle_of_a_message_and_between_calls(peer: Peer, echo: None) -> None:
    peer.ping(b"no calls")
    whole = message(bytes(50_000))
    peer.send(peer.headers(), data(whole[:30_000]))
    peer.ping(b"half one")
    peer.send(data(whole[30_000:], END_STREAM))
    assert peer.end()[0] is grpc.StatusCode.OK
    peer.ping(b"no calls")


def test_pings_are_answered_while_an_answer_waits_for_room(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 0)) as peer:
        peer.send(peer.headers(), data(message(b"meow")))
        peer.ping()
        assert not peer.messages
        peer.send(window(1, 9))
        assert peer.answers(1) == [b"meow"]


def test_no_more_is_sent_than_windows_and_frames_allow(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 1000)) as peer:
        content = random.Random(7).randbytes(200_000)
        peer.send(peer.headers(), data(message(content)))
        left = message(content)
        # What is granted, and the frames that come of it: the stream's window holds, then the connection's (65,535 at
        # first), then the stream's again.
        steps: list[tuple[list[Frame], list[int]]] = [
            ([], [1000]),
            ([window(1, 300)], [300]),
            ([setting(WINDOW, 1100)], [100]),
            ([setting(WINDOW, 0), window(1, 1000)], []),
            ([setting(WINDOW, 1000), window(1, 99_000)], [16_384] * 3 + [65_535 - 1400 - 3 * 16_384]),
            ([window(0, 100_000), setting(FRAME_SIZE, 50_000)], [101_300 - 65_535]),
            ([window(1, 200_000)], [50_000, 165_535 - 101_300 - 50_000]),
            ([window(0, 200_000)], [200_005 - 165_535]),
        ]
        for frames, sizes in steps:
            peer.send(*frames)
            for size in sizes:
                assert peer.skip_to(DATA).payload == left[:size]
                left = left[size:]
            peer.ping()
        assert left == b""
        assert peer.messages == {1: [content]}


def test_a_client_without_memory_for_headers(server: Running, echo: None) -> None:
    with Peer(server, setting(TABLE_SIZE, 0)) as peer:
        peer._decoder.max_allowed_table_size = 0
        peer._decoder.header_table_size = 0
        for stream in 1, 3, 5:
            peer.calls(stream, b"meow")


# Resets


def test_a_reset_between_requests_and_in_the_middle_of_one(peer: Peer, echo: None) -> None:
    peer.send(peer.headers(), data(message(b"one")))
    peer.answers(1)
    # With the next call behind it at once.
    peer.send(reset(1), peer.headers(3), data(message(b"two")[:6], 0, 3), reset(3), peer.headers(5))
    peer.send(data(message(b"three"), END_STREAM, 5))
    assert peer.end(5) == (grpc.StatusCode.OK, "")
    assert peer.messages == {1: [b"one"], 5: [b"three"]}
    assert not peer.resets.keys() & {5}
    # What was under way of those that were reset means nothing.
    peer.send(data(message(b"late"), END_STREAM, 3), window(1, 5), reset(3))
    peer.calls(7)


def test_a_reset_while_an_answer_is_made(slow: Slow) -> None:
    with playing() as server, Peer(server) as peer:
        peer.send(peer.headers(), data(message(b"one")), data(message(b"two")))
        slow.wait_for_request()
        peer.send(reset(1), peer.headers(3), data(message(b"three"), END_STREAM, 3))
        slow.released.release(3)
        assert peer.end(3) == (grpc.StatusCode.OK, "")
        assert peer.messages[3] == [b"three"]
        assert not peer.resets.keys() & {3}
        assert (handled(server), in_flight(server)) == ({"OK": 1, "Canceled": 1}, 0)


def test_a_reset_while_an_answer_waits_for_room(server: Running, echo: None) -> None:
    with Peer(server, setting(WINDOW, 3)) as peer:
        peer.send(peer.headers(), data(message(b"one")))
        peer.skip_to(DATA)
        peer.send(reset(1), peer.headers(3), window(3, 100), data(message(b"two"), END_STREAM, 3))
        assert peer.end(3) == (grpc.StatusCode.OK, "")
        assert peer.messages[3] == [b"two"]


def test_a_call_that_a_grpc_client_leaves(server: Running, echo: None) -> None:
    with grpc.insecure_channel(fast_address(server)) as channel:
        play = channel.stream_stream(PLAY)
        for _ in range(20):
            left = play(iter(threading.Event().wait, None), timeout=PATIENCE)
            left.cancel()
            assert list(play(iter([b"meow"]), timeout=PATIENCE)) == [b"meow"]
