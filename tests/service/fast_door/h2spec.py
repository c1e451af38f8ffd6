"""The cases of h2spec (https://github.com/summerwind/h2spec, MIT, as of June 2022, af83a65), for a server of gRPC.

Names are h2spec's: the section of RFC 7540 for "http2", of RFC 7541 for "hpack", of a list of its own for "generic".
Requests are POSTs of a unary method, with a message even where h2spec sends none: success is asked for where h2spec is
content with any response. A connection error needs its GOAWAY, where h2spec lets a mere close pass.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

from played_frames import (
    ACK,
    COMPRESSION_ERROR,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    FLOW_CONTROL_ERROR,
    FRAME_SIZE,
    FRAME_SIZE_ERROR,
    GOAWAY,
    HEADER_LIST_SIZE,
    HEADERS,
    LARGEST_NUMBER,
    PADDED,
    PING,
    PREFACE,
    PRIORITY,
    PRIORITY_FLAG,
    PROTOCOL_ERROR,
    PUSH,
    PUSH_PROMISE,
    REFUSED_STREAM,
    RST_STREAM,
    SETTINGS,
    STREAM_CLOSED,
    STREAMS,
    TABLE_SIZE,
    UNKNOWN_KIND,
    WINDOW,
    WINDOW_UPDATE,
    Frame,
    data,
    goaway,
    message,
    padded,
    priority,
    reset,
    setting,
    window,
)

from .peer import LIST_GAMES, OK, Peer

# A frame to be sent, or something to be done first.
Step = Frame | bytes | Callable[[Peer], None]


class Case(NamedTuple):
    """`steps`: what the client does after its greeting, if it greets; `then`: asserts what the server does."""

    name: str
    text: str
    steps: Callable[[Peer], Iterable[Step]]
    then: Callable[[Peer], None]
    greeting: tuple[Frame, ...] = ()
    greets: bool = True


# What the server does


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
    """So many bytes come next."""

    def check(peer: Peer) -> None:
        assert len(peer.skip_to(DATA).payload) == size

    return check


def breaks(*errors: int) -> Callable[[Peer], None]:
    """A connection error."""

    def check(peer: Peer) -> None:
        assert peer.goodbye()[0] in errors

    return check


def fails(*errors: int) -> Callable[[Peer], None]:
    """A stream error, or a connection error instead, as RFC 9113 allows (5.4.2)."""

    def check(peer: Peer) -> None:
        while peer.farewell is None and not set(errors) & set(peer.resets.values()):
            peer.frame()
        assert peer.farewell is None or peer.farewell[0] in errors

    return check


# What the client does

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
    """The headers of a call."""
    return peer.block([(name, value) for name, value in (*COMMON, *others) if name != without], stream, flags)


def more(peer: Peer, flags: int = END_HEADERS, stream: int = 1) -> Frame:
    """More headers."""
    return peer.block(DUMMY, stream, flags)._replace(kind=CONTINUATION)


def whole(peer: Peer, *others: tuple[str, str]) -> list[Step]:
    """A call with its request."""
    return [head(peer, END_HEADERS, 1, *others), BODY]


def with_priority(frame: Frame, on: int, weight: int = 255) -> Frame:
    return frame._replace(
        flags=frame.flags | PRIORITY_FLAG, payload=priority(1, on=on, weight=weight).payload + frame.payload
    )


def in_parts(frame: Frame, *ends: int) -> list[Step]:
    """Headers and continuations, cut at these places."""
    cuts = [0, *ends, len(frame.payload)]
    parts = [
        Frame(CONTINUATION if start else HEADERS, frame.flags & ~END_HEADERS, frame.stream, frame.payload[start:end])
        for start, end in pairwise(cuts)
    ]
    parts[-1] = parts[-1]._replace(flags=parts[-1].flags | END_HEADERS)
    return [*parts]


def with_representation(representation: str) -> Callable[[Peer], list[Step]]:
    """A call with a header field in HPACK, in hexadecimal digits."""

    def steps(peer: Peer) -> list[Step]:
        frame = head(peer)
        return [frame._replace(payload=frame.payload + bytes.fromhex(representation)), BODY]

    return steps


def with_headers(*others: tuple[str, str], without: str = "") -> Callable[[Peer], list[Step]]:
    """A call without request, with other headers."""
    return lambda peer: [head(peer, LAST, 1, *others, without=without)]


def table_size_update(size: int) -> bytes:
    """A dynamic table size update: RFC 7541, 6.3; `size`: 31 and more."""
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
    # The frame is made after the call: both use one HPACK table.
    return lambda peer: [*whole(peer), ended, frame(peer)]


def too_many_streams(peer: Peer) -> list[Step]:
    return [head(peer, END_HEADERS, 1 + 2 * i) for i in range(peer.settings[STREAMS] + 1)]


def frame_size(peer: Peer) -> int:
    return peer.settings.get(FRAME_SIZE, 2**14)


def exactly_16_kib(peer: Peer) -> list[Step]:
    # An unknown field, which protobuf passes over.
    content = b"\x7a\xf8\x7f" + bytes(16_376)
    return [head(peer), data(message(content), END_STREAM)]


def _case(
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
USER_AGENT, HUFFMAN_USER_AGENT = "0a757365722d6167656e74 06683273706563", "87b505b161cc5a93 849c48aca4"
X_TEST, HUFFMAN_X_TEST = "06782d74657374 06683273706563", "85f2b24a84ff 849c48aca4"

GENERIC = [
    Case("generic/1/1", "the preface", lambda peer: GREETING, begins, greets=False),
    _case("generic/2/1", "PRIORITY on an idle stream", lambda peer: [priority(1)], pinged),
    _case(
        "generic/2/2",
        "WINDOW_UPDATE on a half-closed stream",
        lambda peer: [*whole(peer), window(1, 1)],
        sends(1),
        *CLOSED_WINDOW,
    ),
    _case(
        "generic/2/3",
        "PRIORITY on a half-closed stream",
        lambda peer: [*whole(peer), priority(1), window(1, 1)],
        sends(1),
        *CLOSED_WINDOW,
    ),
    _case("generic/2/4", "RST_STREAM on a half-closed stream", lambda peer: [*whole(peer), reset(1)], pinged),
    _case("generic/2/5", "PRIORITY on a closed stream", lambda peer: [*whole(peer), ended, priority(1)], pinged),
    _case("generic/3.1/1", "DATA", whole, answered),
    _case(
        "generic/3.1/2",
        "DATA twice",
        lambda peer: [head(peer), data(MESSAGE[:2]), data(MESSAGE[2:], END_STREAM)],
        answered,
    ),
    _case("generic/3.1/3", "padded DATA", lambda peer: [head(peer), padded(BODY, 5)], answered),
    _case("generic/3.2/1", "HEADERS", whole, answered),
    _case("generic/3.2/2", "padded HEADERS", lambda peer: [padded(head(peer), 8), BODY], answered),
    _case("generic/3.2/3", "HEADERS with a priority", lambda peer: [with_priority(head(peer), 0), BODY], answered),
    _case("generic/3.3/1", "priority 1", lambda peer: [priority(1, weight=0), *whole(peer)], answered),
    _case("generic/3.3/2", "priority 256", lambda peer: [priority(1, weight=255), *whole(peer)], answered),
    _case("generic/3.3/3", "a dependency", lambda peer: [priority(3, on=1, weight=0), *whole(peer)], answered),
    _case(
        "generic/3.3/4",
        "an exclusive priority",
        lambda peer: [priority(1, weight=0, exclusive=True), *whole(peer)],
        answered,
    ),
    _case("generic/3.3/5", "PRIORITY on a later idle stream", lambda peer: [priority(3), *whole(peer)], answered),
    _case("generic/3.4/1", "RST_STREAM", lambda peer: [head(peer), reset(1)], pinged),
    _case("generic/3.5/1", "SETTINGS", lambda peer: [SIX_SETTINGS], acknowledged),
    _case("generic/3.7/1", "PING", lambda peer: [], pinged),
    _case("generic/3.8/1", "GOAWAY", lambda peer: [goaway()], pinged_or_closed),
    _case("generic/3.9/1", "WINDOW_UPDATE of the connection", lambda peer: [window(0, 1)], pinged),
    _case("generic/3.9/2", "WINDOW_UPDATE of a stream", lambda peer: [head(peer), window(1, 1), BODY], answered),
    _case("generic/3.10/1", "CONTINUATION", lambda peer: [*in_parts(head(peer), 5), BODY], answered),
    _case("generic/3.10/2", "CONTINUATION twice", lambda peer: [*in_parts(head(peer), 5, 10), BODY], answered),
    _case("generic/4/1", "GET", other_method("GET"), not_allowed),
    _case("generic/4/2", "HEAD", other_method("HEAD"), not_allowed),
    _case("generic/4/3", "POST", whole, answered),
    _case(
        "generic/4/4",
        "POST with trailers",
        lambda peer: [
            head(peer, END_HEADERS, 1, ("trailer", "x-test")),
            data(MESSAGE),
            peer.block([("x-test", "ok")], flags=LAST),
        ],
        answered,
    ),
    _case("generic/5/1", "an indexed field", with_representation("ba"), answered),
    _case("generic/5/2", "indexing, a known name, Huffman", with_representation("40" + HUFFMAN_USER_AGENT), answered),
    _case("generic/5/3", "indexing, a known name", with_representation("40" + USER_AGENT), answered),
    _case("generic/5/4", "indexing, a new name", with_representation("40" + X_TEST), answered),
    _case("generic/5/5", "indexing, a new name, Huffman", with_representation("40" + HUFFMAN_X_TEST), answered),
    _case("generic/5/6", "no indexing, a known name", with_representation("00" + USER_AGENT), answered),
    _case(
        "generic/5/7", "no indexing, a known name, Huffman", with_representation("00" + HUFFMAN_USER_AGENT), answered
    ),
    _case("generic/5/8", "no indexing, a new name", with_representation("00" + X_TEST), answered),
    _case("generic/5/9", "no indexing, a new name, Huffman", with_representation("00" + HUFFMAN_X_TEST), answered),
    _case("generic/5/10", "never indexed, a known name", with_representation("10" + USER_AGENT), answered),
    _case(
        "generic/5/11", "never indexed, a known name, Huffman", with_representation("10" + HUFFMAN_USER_AGENT), answered
    ),
    _case("generic/5/12", "never indexed, a new name", with_representation("10" + X_TEST), answered),
    _case("generic/5/13", "never indexed, a new name, Huffman", with_representation("10" + HUFFMAN_X_TEST), answered),
    _case("generic/5/14", "a dynamic table size update", small_table, answered),
    _case(
        "generic/5/15",
        "two dynamic table size updates",
        lambda peer: before_headers(peer, table_size_update(128) + table_size_update(4096)),
        answered,
    ),
]

HTTP2 = [
    Case("http2/3.5/1", "the preface", lambda peer: GREETING, begins, greets=False),
    Case("http2/3.5/2", "a wrong preface", lambda peer: [b"INVALID CONNECTION PREFACE\r\n\r\n"], closed, greets=False),
    _case("http2/4.1/1", "an unknown kind of frame", lambda peer: [UNKNOWN], pinged),
    _case("http2/4.1/2", "unknown flags", lambda peer: [Frame(PING, 0x16, 0, b"h2spec\0\0")], pong),
    _case(
        "http2/4.1/3",
        "the reserved bit",
        lambda peer: [Frame(PING, 0x16, 0x80000000, b"h2spec\0\0")],
        pong,
    ),
    _case("http2/4.2/1", "DATA of 2^14 bytes", exactly_16_kib, answered),
    _case(
        "http2/4.2/2",
        "DATA above SETTINGS_MAX_FRAME_SIZE",
        lambda peer: [head(peer), data(bytes(frame_size(peer) + 1), END_STREAM)],
        fails(FRAME_SIZE_ERROR),
    ),
    _case(
        "http2/4.2/3",
        "HEADERS above SETTINGS_MAX_FRAME_SIZE",
        lambda peer: [Frame(HEADERS, LAST, 1, head(peer).payload.ljust(frame_size(peer) + 1, b"\x84"))],
        breaks(FRAME_SIZE_ERROR),
    ),
    _case(
        "http2/4.3/1",
        "a broken header block",
        lambda peer: [Frame(HEADERS, LAST, 1, b"\x40")],
        breaks(COMPRESSION_ERROR),
    ),
    _case(
        "http2/4.3/2",
        "PRIORITY within a header block",
        lambda peer: [head(peer, 0), priority(1), more(peer)],
        breaks(PROTOCOL_ERROR),
    ),
    _case(
        "http2/4.3/3",
        "HEADERS of another stream within a header block",
        lambda peer: [head(peer, 0), head(peer, LAST, 3), more(peer)],
        breaks(PROTOCOL_ERROR),
    ),
    _case("http2/5.1/1", "idle: DATA", lambda peer: [TEST], fails(PROTOCOL_ERROR, STREAM_CLOSED)),
    _case("http2/5.1/2", "idle: RST_STREAM", lambda peer: [reset(1)], breaks(PROTOCOL_ERROR)),
    _case("http2/5.1/3", "idle: WINDOW_UPDATE", lambda peer: [window(1, 100)], breaks(PROTOCOL_ERROR)),
    _case("http2/5.1/4", "idle: CONTINUATION", lambda peer: [more(peer)], breaks(PROTOCOL_ERROR)),
    _case(
        "http2/5.1/5",
        "half-closed: DATA",
        lambda peer: [*whole(peer), TEST],
        fails(STREAM_CLOSED),
        *CLOSED_WINDOW,
    ),
    _case(
        "http2/5.1/6",
        "half-closed: HEADERS",
        lambda peer: [*whole(peer), head(peer, LAST)],
        fails(STREAM_CLOSED),
        *CLOSED_WINDOW,
    ),
    _case(
        "http2/5.1/7",
        "half-closed: CONTINUATION",
        lambda peer: [*whole(peer), more(peer)],
        fails(STREAM_CLOSED, PROTOCOL_ERROR),
        *CLOSED_WINDOW,
    ),
    _case("http2/5.1/8", "reset: DATA", after_reset(lambda peer: TEST), fails(STREAM_CLOSED)),
    _case("http2/5.1/9", "reset: HEADERS", after_reset(lambda peer: head(peer, LAST)), fails(STREAM_CLOSED)),
    _case("http2/5.1/10", "reset: CONTINUATION", after_reset(more), fails(STREAM_CLOSED, PROTOCOL_ERROR)),
    _case("http2/5.1/11", "closed: DATA", after_end(lambda peer: TEST), fails(STREAM_CLOSED)),
    _case("http2/5.1/12", "closed: HEADERS", after_end(lambda peer: head(peer, LAST)), breaks(STREAM_CLOSED)),
    _case("http2/5.1/13", "closed: CONTINUATION", after_end(more), breaks(STREAM_CLOSED, PROTOCOL_ERROR)),
    _case("http2/5.1.1/1", "an even stream", lambda peer: [head(peer, LAST, 2)], breaks(PROTOCOL_ERROR)),
    _case(
        "http2/5.1.1/2",
        "a stream below the last",
        lambda peer: [head(peer, LAST, 5), head(peer, LAST, 3)],
        breaks(PROTOCOL_ERROR),
    ),
    _case("http2/5.1.2/1", "too many streams", too_many_streams, fails(PROTOCOL_ERROR, REFUSED_STREAM)),
    _case(
        "http2/5.3.1/1",
        "HEADERS that depend on themselves",
        lambda peer: [with_priority(head(peer, LAST), 1)],
        fails(PROTOCOL_ERROR),
    ),
    _case("http2/5.3.1/2", "PRIORITY that depends on itself", lambda peer: [priority(1, on=1)], fails(PROTOCOL_ERROR)),
    _case("http2/5.4.1/1", "a wrong PING", lambda peer: [Frame(PING, 0, 3, bytes(8))], breaks(PROTOCOL_ERROR)),
    _case(
        "http2/5.4.1/2", "a wrong PING, and GOAWAY", lambda peer: [Frame(PING, 0, 3, bytes(8))], breaks(PROTOCOL_ERROR)
    ),
    _case("http2/5.5/1", "an extension frame", lambda peer: [UNKNOWN], pinged),
    _case(
        "http2/5.5/2",
        "an extension frame within a header block",
        lambda peer: [head(peer, END_STREAM), UNKNOWN],
        breaks(PROTOCOL_ERROR),
    ),
    _case("http2/6.1/1", "DATA on stream 0", lambda peer: [data(b"test", END_STREAM, 0)], breaks(PROTOCOL_ERROR)),
    _case(
        "http2/6.1/2",
        "DATA on a stream that is not open",
        lambda peer: [*whole(peer), TEST],
        fails(STREAM_CLOSED),
        *CLOSED_WINDOW,
    ),
    _case(
        "http2/6.1/3",
        "DATA with more padding than bytes",
        lambda peer: [
            head(peer, END_HEADERS, 1, ("content-length", "4")),
            Frame(DATA, PADDED | END_STREAM, 1, b"\6test"),
        ],
        breaks(PROTOCOL_ERROR),
    ),
    _case(
        "http2/6.2/1",
        "HEADERS, and PRIORITY before END_HEADERS",
        lambda peer: [head(peer, 0), priority(1), more(peer)],
        breaks(PROTOCOL_ERROR),
    ),
    _case(
        "http2/6.2/2",
        "HEADERS, and HEADERS of another stream before END_HEADERS",
        lambda peer: [head(peer, 0), head(peer, LAST, 3), more(peer)],
        breaks(PROTOCOL_ERROR),
    ),
    _case("http2/6.2/3", "HEADERS on stream 0", lambda peer: [head(peer, LAST, 0)], breaks(PROTOCOL_ERROR)),
    _case(
        "http2/6.2/4",
        "HEADERS with more padding than bytes",
        lambda peer: [Frame(HEADERS, LAST | PADDED, 1, bytes([len(block := head(peer).payload) + 2]) + block)],
        fails(PROTOCOL_ERROR),
    ),
    _case("http2/6.3/1", "PRIORITY on stream 0", lambda peer: [priority(0)], breaks(PROTOCOL_ERROR)),
    _case(
        "http2/6.3/2",
        "PRIORITY of 4 bytes",
        lambda peer: [head(peer), Frame(PRIORITY, 0, 1, b"\x80\0\0\1")],
        fails(FRAME_SIZE_ERROR),
    ),
    _case("http2/6.4/1", "RST_STREAM on stream 0", lambda peer: [reset(0)], breaks(PROTOCOL_ERROR)),
    _case("http2/6.4/2", "RST_STREAM on an idle stream", lambda peer: [reset(1)], breaks(PROTOCOL_ERROR)),
    _case(
        "http2/6.4/3",
        "RST_STREAM of 3 bytes",
        lambda peer: [head(peer), Frame(RST_STREAM, 0, 1, bytes(3))],
        fails(FRAME_SIZE_ERROR),
    ),
    _case(
        "http2/6.5/1",
        "an acknowledgement of a byte",
        lambda peer: [Frame(SETTINGS, ACK, 0, b"\0")],
        breaks(FRAME_SIZE_ERROR),
    ),
    _case(
        "http2/6.5/2",
        "SETTINGS of a stream",
        lambda peer: [setting(STREAMS, 100)._replace(stream=1)],
        breaks(PROTOCOL_ERROR),
    ),
    _case(
        "http2/6.5/3",
        "half a setting",
        lambda peer: [Frame(SETTINGS, 0, 0, b"\0\3\0")],
        fails(PROTOCOL_ERROR, FRAME_SIZE_ERROR),
    ),
    _case("http2/6.5.2/1", "SETTINGS_ENABLE_PUSH of 2", lambda peer: [setting(PUSH, 2)], breaks(PROTOCOL_ERROR)),
    _case("http2/6.5.2/2", "too large a window", lambda peer: [setting(WINDOW, 2**31)], breaks(FLOW_CONTROL_ERROR)),
    _case("http2/6.5.2/3", "too small frames", lambda peer: [setting(FRAME_SIZE, 2**14 - 1)], breaks(PROTOCOL_ERROR)),
    _case("http2/6.5.2/4", "too large frames", lambda peer: [setting(FRAME_SIZE, 2**24)], breaks(PROTOCOL_ERROR)),
    _case("http2/6.5.2/5", "an unknown setting", lambda peer: [setting(0xFF, 1)], pinged),
    _case(
        "http2/6.5.3/1",
        "a setting with two values",
        lambda peer: [Frame(SETTINGS, 0, 0, setting(WINDOW, 100).payload + setting(WINDOW, 1).payload), *whole(peer)],
        sends(1),
    ),
    _case("http2/6.5.3/2", "SETTINGS are acknowledged", lambda peer: [setting(PUSH, 0)], acknowledged),
    _case("http2/6.7/1", "PING", lambda peer: [], pinged),
    _case("http2/6.7/2", "PING with ACK", lambda peer: [Frame(PING, ACK, 0, b"invalid\0")], pinged),
    _case("http2/6.7/3", "PING of a stream", lambda peer: [Frame(PING, 0, 1, bytes(8))], breaks(PROTOCOL_ERROR)),
    _case("http2/6.7/4", "PING of 6 bytes", lambda peer: [Frame(PING, 0, 0, bytes(6))], breaks(FRAME_SIZE_ERROR)),
    _case("http2/6.8/1", "GOAWAY of a stream", lambda peer: [Frame(GOAWAY, 0, 1, bytes(8))], breaks(PROTOCOL_ERROR)),
    _case("http2/6.9/1", "WINDOW_UPDATE of 0", lambda peer: [window(0, 0)], breaks(PROTOCOL_ERROR)),
    _case(
        "http2/6.9/2", "WINDOW_UPDATE of 0 of a stream", lambda peer: [head(peer), window(1, 0)], fails(PROTOCOL_ERROR)
    ),
    _case(
        "http2/6.9/3",
        "WINDOW_UPDATE of 3 bytes",
        lambda peer: [Frame(WINDOW_UPDATE, 0, 0, b"\0\0\1")],
        breaks(FRAME_SIZE_ERROR),
    ),
    _case("http2/6.9.1/1", "a window of 1", lambda peer: [setting(WINDOW, 1), *whole(peer)], sends(1)),
    _case(
        "http2/6.9.1/2",
        "a window of the connection above 2^31 - 1",
        lambda peer: [window(0, LARGEST_NUMBER)] * 2,
        breaks(FLOW_CONTROL_ERROR),
    ),
    _case(
        "http2/6.9.1/3",
        "a window of a stream above 2^31 - 1",
        lambda peer: [head(peer), *[window(1, LARGEST_NUMBER)] * 2],
        fails(FLOW_CONTROL_ERROR),
    ),
    _case(
        "http2/6.9.2/1",
        "a window that opens after HEADERS",
        lambda peer: [*whole(peer), pinged, setting(WINDOW, 1)],
        sends(1),
        *CLOSED_WINDOW,
    ),
    _case(
        "http2/6.9.2/2",
        "a window below 0",
        lambda peer: [*whole(peer), sends(3), setting(WINDOW, 2), acknowledged, window(1, 2)],
        sends(1),
        setting(WINDOW, 3),
    ),
    _case(
        "http2/6.9.2/3",
        "an initial window above 2^31 - 1",
        lambda peer: [setting(WINDOW, 2**31)],
        breaks(FLOW_CONTROL_ERROR),
    ),
    _case(
        "http2/6.10/1",
        "two CONTINUATIONs after HEADERS",
        lambda peer: [head(peer, 0), more(peer, 0), more(peer), BODY],
        answered,
    ),
    _case(
        "http2/6.10/2",
        "DATA after CONTINUATION without END_HEADERS",
        lambda peer: [head(peer, 0), more(peer, 0), TEST],
        breaks(PROTOCOL_ERROR),
    ),
    _case(
        "http2/6.10/3",
        "CONTINUATION on stream 0",
        lambda peer: [head(peer, END_STREAM), more(peer, END_HEADERS, 0)],
        breaks(PROTOCOL_ERROR),
    ),
    _case(
        "http2/6.10/4", "CONTINUATION after END_HEADERS", lambda peer: [head(peer), more(peer)], breaks(PROTOCOL_ERROR)
    ),
    _case(
        "http2/6.10/5",
        "CONTINUATION after the END_HEADERS of CONTINUATION",
        lambda peer: [head(peer, 0), more(peer), more(peer)],
        breaks(PROTOCOL_ERROR),
    ),
    _case(
        "http2/6.10/6",
        "CONTINUATION after DATA",
        lambda peer: [head(peer, 0), TEST, more(peer, 0), more(peer, END_HEADERS, 0)],
        breaks(PROTOCOL_ERROR),
    ),
    _case("http2/7/1", "GOAWAY with an unknown error", lambda peer: [goaway(0xFF)], pinged_or_closed),
    _case("http2/7/2", "RST_STREAM with an unknown error", lambda peer: [head(peer), reset(1, 0xFF)], pinged),
    _case(
        "http2/8.1/1",
        "a second HEADERS without END_STREAM",
        lambda peer: [head(peer), data(MESSAGE), peer.block([("x-test", "ok")])],
        fails(PROTOCOL_ERROR),
    ),
    _case("http2/8.1.2/1", "a name in capitals", with_headers(("X-TEST", "ok")), fails(PROTOCOL_ERROR)),
    _case("http2/8.1.2.1/1", "an unknown pseudo-header", with_headers((":test", "ok")), fails(PROTOCOL_ERROR)),
    _case("http2/8.1.2.1/2", "a pseudo-header of responses", with_headers((":status", "200")), fails(PROTOCOL_ERROR)),
    _case(
        "http2/8.1.2.1/3",
        "a pseudo-header among the trailers",
        lambda peer: [head(peer), data(MESSAGE), peer.block([(":method", "POST")], flags=LAST)],
        fails(PROTOCOL_ERROR),
    ),
    _case(
        "http2/8.1.2.1/4",
        "a pseudo-header after a header",
        lambda peer: [peer.block([("x-test", "ok"), *COMMON], flags=LAST)],
        fails(PROTOCOL_ERROR),
    ),
    _case(
        "http2/8.1.2.2/1",
        "a header of the connection",
        with_headers(("connection", "keep-alive")),
        fails(PROTOCOL_ERROR),
    ),
    _case(
        "http2/8.1.2.2/2",
        "te with more than trailers",
        lambda peer: [peer.headers(1, LAST, te="trailers, deflate")],
        fails(PROTOCOL_ERROR),
    ),
    _case("http2/8.1.2.3/1", "an empty path", lambda peer: [peer.headers(1, LAST, path="")], fails(PROTOCOL_ERROR)),
    _case("http2/8.1.2.3/2", "no method", with_headers(without=":method"), fails(PROTOCOL_ERROR)),
    _case("http2/8.1.2.3/3", "no scheme", with_headers(without=":scheme"), fails(PROTOCOL_ERROR)),
    _case("http2/8.1.2.3/4", "no path", with_headers(without=":path"), fails(PROTOCOL_ERROR)),
    _case(
        "http2/8.1.2.3/5",
        "two methods",
        lambda peer: [peer.block([COMMON[0], *COMMON], flags=LAST)],
        fails(PROTOCOL_ERROR),
    ),
    _case(
        "http2/8.1.2.3/6",
        "two schemes",
        lambda peer: [peer.block([COMMON[1], *COMMON], flags=LAST)],
        fails(PROTOCOL_ERROR),
    ),
    _case(
        "http2/8.1.2.3/7",
        "two paths",
        lambda peer: [peer.block([COMMON[2], *COMMON], flags=LAST)],
        fails(PROTOCOL_ERROR),
    ),
    _case(
        "http2/8.1.2.6/1",
        "another content-length than DATA",
        lambda peer: [head(peer, END_HEADERS, 1, ("content-length", "1")), BODY],
        fails(PROTOCOL_ERROR),
    ),
    _case(
        "http2/8.1.2.6/2",
        "another content-length than DATA and DATA",
        lambda peer: [head(peer, END_HEADERS, 1, ("content-length", "1")), data(MESSAGE), BODY],
        fails(PROTOCOL_ERROR),
    ),
    _case(
        "http2/8.2/1",
        "PUSH_PROMISE",
        lambda peer: [Frame(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\3" + head(peer).payload)],
        breaks(PROTOCOL_ERROR),
    ),
]

HPACK = [
    _case("hpack/2.3.3/1", "an index beyond the table", with_representation("c6"), breaks(COMPRESSION_ERROR)),
    _case("hpack/2.3.3/2", "a name beyond the table", with_representation("7f0700"), breaks(COMPRESSION_ERROR)),
    _case("hpack/4.2/1", "a table size update after a field", with_representation("21"), breaks(COMPRESSION_ERROR)),
    _case(
        "hpack/5.2/1",
        "Huffman padding of more than 7 bits",
        with_representation("0085f2b24a84ff8449509fff"),
        breaks(COMPRESSION_ERROR),
    ),
    _case(
        "hpack/5.2/2",
        "Huffman padding of zeros",
        with_representation("0085f2b24a84ff83495090"),
        breaks(COMPRESSION_ERROR),
    ),
    _case(
        "hpack/5.2/3",
        "Huffman code with EOS",
        with_representation("0085f2b24a84ff874951fffffffa7f"),
        breaks(COMPRESSION_ERROR),
    ),
    _case("hpack/6.1/1", "the index 0", with_representation("80"), breaks(COMPRESSION_ERROR)),
    _case(
        "hpack/6.3/1",
        "a table size above SETTINGS_HEADER_TABLE_SIZE",
        lambda peer: before_headers(peer, table_size_update(peer.settings.get(TABLE_SIZE, 4096) + 1)),
        breaks(COMPRESSION_ERROR),
    ),
]

CASES = [*GENERIC, *HTTP2, *HPACK]

NOT_WANTED = {
    "http2/4.2/2": "frames may be as large as HTTP/2 has them, so there are no larger ones",
    "http2/4.2/3": "frames may be as large as HTTP/2 has them, so there are no larger ones",
    "http2/5.1.1/2": "passed over, by grpcio's port too: it could be a late frame of a stream that is forgotten",
}
