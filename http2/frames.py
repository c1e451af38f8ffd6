"""HTTP/2's frames: RFC 9113, 4 and 6."""

import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# Kinds: 6.1 to 6.10.
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
# Flags. ACK is of SETTINGS and PING, WITH_PRIORITY of HEADERS.
ACK, END_STREAM, END_HEADERS, PADDED, WITH_PRIORITY = 1, 1, 4, 8, 0x20
# Settings: 6.5.2.
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = range(1, 6)
# Why a stream is reset, or a connection ended: 7.
NO_ERROR, PROTOCOL_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM, INADEQUATE_SECURITY = 0, 1, 7, 8, 11, 12

# The highest bit of numbers of streams and windows means nothing.
UNRESERVED = 2**31 - 1
DEFAULT_WINDOW = 65_535
LARGEST_WINDOW = 2**31 - 1
DEFAULT_FRAME = 16_384
DEFAULT_TABLE = 4096
LARGEST_FRAME = 2**24 - 1

HEAD = struct.Struct(">IBI")  # the length and, in the lowest byte, the kind; flags; stream
SETTING = struct.Struct(">HI")
NUMBER = struct.Struct(">I")


def head(kind: int, flags: int, stream: int, size: int) -> bytes:
    """What stands before so many bytes."""
    return HEAD.pack(size << 8 | kind, flags, stream)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """A whole frame."""
    return head(kind, flags, stream, len(payload)) + payload


def settings(values: dict[int, int]) -> bytes:
    """A SETTINGS frame."""
    return frame(SETTINGS, 0, 0, b"".join(SETTING.pack(*each) for each in values.items()))
