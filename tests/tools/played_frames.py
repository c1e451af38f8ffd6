"""Frames of HTTP/2 (RFC 9113) for tests that are one end of a connection. They do not depend on chatiere.http2."""

import struct
from typing import NamedTuple

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
ACK = END_STREAM = 1
END_HEADERS, PADDED, PRIORITY_FLAG = 4, 8, 0x20
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
UNKNOWN_KIND = 0xFA
# The identifiers of settings.
TABLE_SIZE, PUSH, STREAMS, WINDOW, FRAME_SIZE, HEADER_LIST_SIZE = range(1, 7)
# Error codes.
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED = range(6)
FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM = range(6, 12)
# The largest stream number, window and frame size.
MAX_NUMBER = 2**31 - 1
MAX_FRAME = 2**24 - 1


class Frame(NamedTuple):
    kind: int
    flags: int
    stream: int
    payload: bytes

    def __bytes__(self) -> bytes:
        return struct.pack(">IBI", len(self.payload) << 8 | self.kind, self.flags, self.stream) + self.payload


def message(content: bytes) -> bytes:
    return struct.pack(">BI", 0, len(content)) + content


def data(payload: bytes, flags: int = 0, stream: int = 1) -> Frame:
    return Frame(DATA, flags, stream, payload)


def padded(frame: Frame, padding: int) -> Frame:
    payload = bytes([padding]) + frame.payload + bytes(padding)
    return frame._replace(flags=frame.flags | PADDED, payload=payload)


def priority(stream: int, *, on: int = 0, weight: int = 255, exclusive: bool = False) -> Frame:
    return Frame(PRIORITY, 0, stream, struct.pack(">IB", exclusive << 31 | on, weight))


def setting(name: int, value: int) -> Frame:
    return Frame(SETTINGS, 0, 0, struct.pack(">HI", name, value))


def ping(content: bytes = bytes(8)) -> Frame:
    return Frame(PING, 0, 0, content)


def goaway(error: int = NO_ERROR) -> Frame:
    return Frame(GOAWAY, 0, 0, struct.pack(">II", 0, error))


def window(stream: int, more: int) -> Frame:
    return Frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", more))


def reset(stream: int, error: int = CANCEL) -> Frame:
    return Frame(RST_STREAM, 0, stream, struct.pack(">I", error))
