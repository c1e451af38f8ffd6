"""Messages of BatchService in wire format, with fewer copies of columns than protobuf's objects make.

Columns of requests are read in place, and columns of responses are copied once. With protobuf's objects, a column would
be copied five times between the request's bytes and the response's bytes. For states of hundreds of bytes, copying
would take as long as applying the rules.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from google.protobuf.message import Message

from chatiere.engine.core.batch import Table
from chatiere.engine.wire import Buffer, cut, pieces_of
from chatiere.service.calls.requests import MAX_ELEMENTS, parse, too_many_elements
from chatiere.v1.batch_service_pb2 import DESCRIPTOR

_MESSAGES = DESCRIPTOR.message_types_by_name.values()
# For each message, the number of each field.
_NUMBERS = {message.name: {field.name: field.number for field in message.fields} for message in _MESSAGES}
# For each message, the name of each column by field number. The columns are the fields of type bytes.
_COLUMNS = {
    message.name: {field.number: field.name for field in message.fields if field.type == field.TYPE_BYTES}
    for message in _MESSAGES
}


class Kept:
    """A batch that a stream keeps before a request, after it, or both."""

    __slots__ = ("keeps", "states", "table")

    def __init__(self, table: Table | None, states: Any, *, keeps: bool) -> None:
        """Create a batch with the states of a request.

        Args:
            table: The table that returned the states, and does not check them again, or None if it is not known.
            states: The packed states.
            keeps: True if the stream keeps the batch after the request.
        """
        self.table, self.states, self.keeps = table, states, keeps


class Request(NamedTuple):
    """A message in wire format, split into its columns and the rest."""

    rest: bytes
    """The message without its columns, in wire format. Parsing it may raise DecodeError."""
    columns: dict[str, Any]
    """A buffer with the column of each field of type bytes, by the field's name. Empty if the field is absent."""
    kept: Kept | None = None
    """The kept batch, if a stream keeps a batch before or after the request."""


class KeptStep:
    """A Step of a kept batch that the stream keeps again, in its parts, as it arrives in shared memory."""

    __slots__ = ("moves", "number", "rest", "tag")

    def __init__(self, tag: int, number: int, moves: bytes, rest: bytes) -> None:
        """Create a request.

        Args:
            tag: The tag of the PlayRequest.
            number: Its `take` and its `keep`.
            moves: The column of moves.
            rest: The other fields of the StepRequest, in wire format.
        """
        self.tag, self.number, self.moves, self.rest = tag, number, moves, rest

    def __len__(self) -> int:
        """Return the size in bytes."""
        return len(self.moves) + len(self.rest)


class StepColumns(list[Buffer]):
    """The response to a KeptStep of which no item failed: the columns of Positions, in the order of their fields."""

    __slots__ = ("tag",)
    tag: int
    """The tag of the PlayResponse. Set it after creating the list, because an `__init__` would be slower."""


def read(kind: type[Message], data: Any, most: int = MAX_ELEMENTS) -> Request:
    """Split a request in a buffer into its columns and the rest. The rest is not parsed.

    Args:
        kind: The type of the request.
        data: The request in wire format.
        most: The maximum number of fields.

    Raises:
        DecodeError: If the request cannot be parsed.
        Refusal: If the request has too many fields, or would take too much memory.
    """
    names = _COLUMNS[kind.DESCRIPTOR.name]
    columns: dict[str, Any] = dict.fromkeys(names.values(), b"")
    try:
        rest, found = cut(data, frozenset(names), most)
    except OverflowError as error:
        raise too_many_elements(most) from error
    except ValueError:
        # The data is not a message, or its encoding is unusual. Let protobuf parse it.
        return read_whole(parse(kind, data))
    for number, column in found.items():
        columns[names[number]] = column
    return Request(rest, columns)


def read_whole(message: Message) -> Request:
    """Split a message object into its columns and the rest. Removes the columns from the object."""
    columns = {}
    for name in _COLUMNS[message.DESCRIPTOR.name].values():
        columns[name] = getattr(message, name)
        message.ClearField(name)
    return Request(message.SerializeToString(), columns)


def put(kind: type[Message], fields: Iterable[tuple[str, Buffer | list[Buffer] | None]]) -> list[Buffer]:
    """Return a message in wire format, as pieces to be joined.

    Args:
        kind: The type of the message.
        fields: The name and content of each field. The content is a column (omitted if it is empty), the pieces of a
            message, or None to omit the field.
    """
    return pieces_of(_NUMBERS[kind.DESCRIPTOR.name], fields)
