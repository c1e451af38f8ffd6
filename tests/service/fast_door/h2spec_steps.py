"""The steps of h2spec's cases (h2spec.py): the client's actions, and the server's expected reactions."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

from tools.played_frames import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    FRAME_SIZE,
    HEADER_LIST_SIZE,
    HEADERS,
    PING,
    PREFACE,
    PRIORITY_FLAG,
    PROTOCOL_ERROR,
    PUSH,
    SETTINGS,
    STREAMS,
    TABLE_SIZE,
    UNKNOWN_KIND,
    WINDOW,
    Frame,
    data,
    message,
    priority,
    reset,
    setting,
)

from .peer import LIST_GAMES, OK, Peer

# A frame to send, or an action.
Step = Frame | bytes | Callable[[Peer], None]


class Case(NamedTuple):
    """A case. `steps` are the client's actions (after its greeting if it greets). `then` asserts the reaction."""

    name: str
    text: str
    steps: Callable[[Peer], Iterable[Step]]
    then: Callable[[Peer], None]
    greeting: tuple[Frame, ...] = ()
    greets: bool = True


# The server's reactions


def pong(peer: Peer) -> None:
    assert peer.skip_to(PING, ACK).payload == b"h2spec\0\0"


def answered(peer: Peer) -> None:
    assert peer.end() == OK


def not_allowed(peer: Peer) -> None:
    assert peer.trailers()[":status"] == "405"


def pinged(peer: Peer) -> None:
    peer.ping(b"h2spec\0\0")


def pinged_or_closed(peer: Peer) -> None:
    try:
        peer.ping(b"h2spec\0\0")
    except (EOFError, OSError):
        assert peer.farewell is None or peer.farewell[0] == 0


def acknowledged(peer: Peer) -> None:
    peer.skip_to(SETTINGS, ACK)


def begins(peer: Peer) -> None:
    frame = peer.frame()
    assert (frame.kind, frame.flags) == (SETTINGS, 0)


def closed(peer: Peer) -> None:
    peer.rest()
    assert peer.farewell is None or peer.farewell[0] == PROTOCOL_ERROR


def sends(size: int) -> Callable[[Peer], None]:
    """Expect a DATA frame of this size."""

    def check(peer: Peer) -> None:
        assert len(peer.skip_to(DATA).payload) == size

    return check


def breaks(*errors: int) -> Callable[[Peer], None]:
    """Expect a connection error."""

    def check(peer: Peer) -> None:
        assert peer.goodbye()[0] in errors

    return check


def fails(*errors: int) -> Callable[[Peer], None]:
    """Expect a stream error or a connection error, which RFC 9113 also allows (5.4.2)."""

    def check(peer: Peer) -> None:
        while peer.farewell is None and not set(errors) & set(peer.resets.values()):
            peer.frame()
        assert peer.farewell is None or peer.farewell[0] in errors

    return check


# The client's actions

COMMON = [
    (":method", "POST"),
    (":scheme", "http"),
    (":path", LIST_GAMES),
    (":authority", "localhost"),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
]
MESSAGE = message(b"")
BODY = data(MESSAGE, END_STREAM)
TEST = data(b"test", END_STREAM)
DUMMY = [("x-dummy0", "x" * 4000)]
CLOSED_WINDOW = (setting(WINDOW, 0),)
LAST = END_HEADERS | END_STREAM
UNKNOWN = Frame(UNKNOWN_KIND, 0, 0, bytes(8))


def ended(peer: Peer) -> None:
    """Wait for the end of the first call."""
    peer.end()


def head(peer: Peer, flags: int = END_HEADERS, stream: int = 1, *others: tuple[str, str], without: str = "") -> Frame:
    """Return the headers of a call."""
    return peer.block([(name, value) for name, value in (*COMMON, *others) if name != without], stream, flags)


def more(peer: Peer, flags: int = END_HEADERS, stream: int = 1) -> Frame:
    """Return a CONTINUATION frame with more headers."""
    return peer.block(DUMMY, stream, flags)._replace(kind=CONTINUATION)


def whole(peer: Peer, *others: tuple[str, str]) -> list[Step]:
    """Return the steps of a call with its request."""
    return [head(peer, END_HEADERS, 1, *others), BODY]


def with_priority(frame: Frame, on: int, weight: int = 255) -> Frame:
    return frame._replace(
        flags=frame.flags | PRIORITY_FLAG, payload=priority(1, on=on, weight=weight).payload + frame.payload
    )


def in_parts(frame: Frame, *ends: int) -> list[Step]:
    """Split headers into a HEADERS frame and continuations at these places."""
    cuts = [0, *ends, len(frame.payload)]
    parts = [
        Frame(CONTINUATION if start else HEADERS, frame.flags & ~END_HEADERS, frame.stream, frame.payload[start:end])
        for start, end in pairwise(cuts)
    ]
    parts[-1] = parts[-1]._replace(flags=parts[-1].flags | END_HEADERS)
    return [*parts]


def with_representation(representation: str) -> Callable[[Peer], list[Step]]:
    """Make a call with a header field whose representation in HPACK is given in hexadecimal digits."""

    def steps(peer: Peer) -> list[Step]:
        frame = head(peer)
        return [frame._replace(payload=frame.payload + bytes.fromhex(representation)), BODY]

    return steps


def with_headers(*others: tuple[str, str], without: str = "") -> Callable[[Peer], list[Step]]:
    """Make a call without a request, with additional headers."""
    return lambda peer: [head(peer, LAST, 1, *others, without=without)]


def table_size_update(size: int) -> bytes:
    """Return a dynamic table size update (RFC 7541, 6.3). `size` is at least 31."""
    update = bytearray([0x3F])
    left = size - 31
    while left >= 128:
        update.append(left & 0x7F | 0x80)
        left >>= 7
    update.append(left)
    return bytes(update)


def small_table(peer: Peer) -> list[Step]:
    peer.encoder.header_table_size = 128
    return whole(peer)


def before_headers(peer: Peer, update: bytes) -> list[Step]:
    frame = head(peer)
    return [frame._replace(payload=update + frame.payload), BODY]


def other_method(name: str) -> Callable[[Peer], list[Step]]:
    return lambda peer: [peer.block([(":method", name), *COMMON[1:]], flags=LAST)]


def after_reset(frame: Callable[[Peer], Frame]) -> Callable[[Peer], list[Step]]:
    return lambda peer: [head(peer), reset(1), frame(peer)]


def after_end(frame: Callable[[Peer], Frame]) -> Callable[[Peer], list[Step]]:
    # The frame must be made after the call, because both use one HPACK table.
    return lambda peer: [*whole(peer), ended, frame(peer)]


def too_many_streams(peer: Peer) -> list[Step]:
    return [head(peer, END_HEADERS, 1 + 2 * i) for i in range(peer.settings[STREAMS] + 1)]


def frame_size(peer: Peer) -> int:
    return peer.settings.get(FRAME_SIZE, 2**14)


def exactly_16_kib(peer: Peer) -> list[Step]:
    # The message consists of an unknown field. Protobuf ignores it.
    content = b"\x7a\xf8\x7f" + bytes(16_376)
    return [head(peer), data(message(content), END_STREAM)]


def case(
    name: str, text: str, steps: Callable[[Peer], Iterable[Step]], then: Callable[[Peer], None], *greeting: Frame
) -> Case:
    return Case(name, text, steps, then, greeting)


GREETING: list[Step] = [PREFACE, setting(WINDOW, 65_535)]
SIX_SETTINGS = Frame(
    SETTINGS,
    0,
    0,
    b"".join(
        setting(name, value).payload
        for name, value in {TABLE_SIZE: 4096, PUSH: 1, STREAMS: 100, WINDOW: 65_535, FRAME_SIZE: 16_384}.items()
    )
    + setting(HEADER_LIST_SIZE, 100).payload,
)
