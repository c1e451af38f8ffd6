"""Messages of BatchService in protobuf's wire format: columns are read where they are, and sent with one copy.

As protobuf's objects have them, a column is copied three times on its way out and twice on its way in.
"""

from typing import Any

from google.protobuf.message import Message

from chatiere.http2.connection import Buffer
from chatiere.v1 import batch_service_pb2

# By message and name: the fields.
_FIELDS = {
    message.name: dict(message.fields_by_name)
    for message in batch_service_pb2.DESCRIPTOR.message_types_by_name.values()
}
# Kinds of fields (https://protobuf.dev/programming-guides/encoding/).
_VARINT, _BYTES = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}
# Of a number's tenth and last byte.
_LAST_SHIFT = 63


class Answer:
    """A message that came, as the service writes it: each field once, but those that are lists of messages.

    A field of another kind than it should be is as absent.
    """

    def __init__(self, kind: type[Message], data: Buffer) -> None:
        """The message of that kind in `data`. Raises ValueError if there is none."""
        self._kind = kind
        self._data = data
        self._numbers, self._spans = _read(data)

    def number(self, name: str) -> int:
        """A number; 0 where it is absent."""
        return self._numbers.get(self._field(name).number, 0)

    def column(self, name: str) -> Buffer:
        """A field of type bytes; empty where it is absent."""
        return self._spans.get(self._field(name).number, b"")

    def inner(self, name: str) -> "Answer":
        """The message of a field."""
        return Answer(_kind_of(self._field(name)), self.column(name))

    def message(self, name: str) -> Any:
        """The same as an object."""
        return _kind_of(self._field(name)).FromString(bytes(self.column(name)))

    def which(self, oneof: str) -> str | None:
        """The name of the message that is there of a oneof."""
        for field in self._kind.DESCRIPTOR.oneofs_by_name[oneof].fields:
            if field.number in self._spans:
                return field.name
        return None

    def whole(self) -> Any:
        """The message as an object."""
        return self._kind.FromString(bytes(self._data))

    def _field(self, name: str) -> Any:
        return _FIELDS[self._kind.DESCRIPTOR.name][name]


def put(message: Message, columns: dict[str, Buffer]) -> list[Buffer]:
    """A message with columns beside its other fields, in pieces to be joined; empty columns are left out."""
    fields = _FIELDS[message.DESCRIPTOR.name]
    pieces: list[Buffer] = [message.SerializeToString()]
    for name, column in columns.items():
        if column:
            pieces += put_inner(fields[name].number, [column])
    return pieces


def put_inner(number: int, pieces: list[Buffer]) -> list[Buffer]:
    """The field of that number, of type bytes or message, made of pieces."""
    size = sum(map(len, pieces))
    head = bytearray((number << 3 | _BYTES,))
    while size >= 0x80:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    head.append(size)
    return [bytes(head), *pieces]


def keep_freed_memory() -> None:
    """Let malloc keep large blocks that are freed, for the whole process."""
    # When a block above a threshold is freed, glibc's malloc gives it back to the system, and to get its pages anew for
    # the next batch takes longer than all else that is done here with a batch. To free a block of up to 32 MiB raises
    # the threshold to its size (mallopt(3), M_MMAP_THRESHOLD); this one is never touched, so it costs nothing.
    bytes(24 * 2**20)


def _kind_of(field: Any) -> type[Message]:
    kind: type[Message] = getattr(batch_service_pb2, field.message_type.name)
    return kind


def _read(data: Buffer) -> tuple[dict[int, int], dict[int, memoryview]]:
    # The fields by number: numbers, and views of what has a length.
    numbers: dict[int, int] = {}
    spans: dict[int, memoryview] = {}
    view, at, end = memoryview(data), 0, len(data)
    try:
        while at < end:
            tag, at = _varint(view, at)
            kind = tag & 7
            if kind == _VARINT:
                numbers[tag >> 3], at = _varint(view, at)
            elif kind == _BYTES:
                size, at = _varint(view, at)
                spans[tag >> 3] = view[at : at + size]
                at += size
            else:
                at += _FIXED_SIZES[kind]
    except (IndexError, KeyError):
        at = end + 1
    if at != end:
        raise ValueError("this is not a protobuf message")
    return numbers, spans


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    # A number, and where what follows begins.
    byte = view[at]
    value, shift = byte & 0x7F, 7
    while byte >= 0x80:
        if shift > _LAST_SHIFT:
            raise ValueError("this is not a protobuf message")
        at += 1
        byte = view[at]
        value |= (byte & 0x7F) << shift
        shift += 7
    return value, at + 1
