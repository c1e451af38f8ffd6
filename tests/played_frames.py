"""HTTP/2's frames (RFC 9113), for tests that play one end of a connection; shares nothing with chatiere.http2."""

import struct
from typing import NamedTuple

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
ACK = END_STREAM = 1
END_HEADERS, PADDED, PRIORITY_FLAG = 4, 8, 0x20
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
UNKNOWN_KIND = 0xFA


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


def setting(name: int, value: int) -> Frame:
    return Frame(SETTINGS, 0, 0, struct.pack(">HI", name, value))


def window(stream: int, more: int) -> Frame:
    return Frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", more))


def reset(stream: int, error: int = 8) -> Frame:
    return Frame(RST_STREAM, 0, stream, struct.pack(">I", error))
