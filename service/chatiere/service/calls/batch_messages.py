"""Messages of BatchService in wire format: columns are read in place, and copied once into the response.

With protobuf's objects a column is copied five times between a request's bytes and its response's; with states of
hundreds of bytes that takes as long as the rules.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from google.protobuf.message import Message

from chatiere.engine.core.batch import Table
from chatiere.engine.wire import Buffer, cut, pieces_of
from chatiere.service.calls.requests import MAX_ELEMENTS, parse, too_many_elements
from chatiere.v1.batch_service_pb2 import DESCRIPTOR

_MESSAGES = DESCRIPTOR.message_types_by_name.values()
# For each message, its field numbers by name; the names of its columns (the fields of type bytes) by number.
_NUMBERS = {message.name: {field.name: field.number for field in message.fields} for message in _MESSAGES}
_COLUMNS = {
    message.name: {field.number: field.name for field in message.fields if field.type == field.TYPE_BYTES}
    for message in _MESSAGES
}


class Kept:
    """A batch that a stream has for a request, keeps after it, or both."""

    __slots__ = ("keeps", "states", "table")

    def __init__(self, table: Table | None, states: Any, *, keeps: bool) -> None:
        """Begin with the states of a request. `keeps`: True if the stream keeps the batch after it.

        `table`: the one that returned these states, which does not check them again; None if it is not known.
        """
        self.table, self.states, self.keeps = table, states, keeps


class Request(NamedTuple):
    """A message in wire format, split into its columns and the rest."""

    rest: bytes
    """The message without its columns; not parsed yet, so parsing it may raise DecodeError."""
    columns: dict[str, Any]
    """The column of each field of type bytes, by name, as a buffer; empty if absent."""
    kept: Kept | None = None
    """The batch, where a stream keeps it before or after the request."""


def read(kind: type[Message], data: Any, most: int = MAX_ELEMENTS) -> Request:
    """Read a request of that kind from a buffer, looking at its columns alone. Raises what `parse` does.

    `most`: the number of its fields.
    """
    names = _COLUMNS[kind.DESCRIPTOR.name]
    columns: dict[str, Any] = dict.fromkeys(names.values(), b"")
    try:
        rest, found = cut(data, frozenset(names), most)
    except OverflowError as error:
        raise too_many_elements(most) from error
    except ValueError:
        # Not a message, or one encoded in an unusual way.
        return read_whole(parse(kind, data))
    for number, column in found.items():
        columns[names[number]] = column
    return Request(rest, columns)


def read_whole(message: Message) -> Request:
    """Split a message object, which loses its columns."""
    columns = {}
    for name in _COLUMNS[message.DESCRIPTOR.name].values():
        columns[name] = getattr(message, name)
        message.ClearField(name)
    return Request(message.SerializeToString(), columns)


def put(kind: type[Message], fields: Iterable[tuple[str, Buffer | list[Buffer] | None]]) -> list[Buffer]:
    """Return a message of that kind in wire format, in pieces to be joined.

    `fields`: name and content of each: a column, left out if it is empty; the pieces of a message; None if absent.
    """
    return pieces_of(_NUMBERS[kind.DESCRIPTOR.name], fields)
