"""Messages of BatchService in wire format: columns are read where they are, and copied once into what is sent.

As protobuf's objects have them, a column is copied five times between a request's bytes and its answer's; with states
of hundreds of bytes that takes as long as the rules.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from google.protobuf.message import Message

from chatiere.engine.wire import cut, pieces_of
from chatiere.http2.connection import Buffer
from chatiere.service.calls.requests import parse
from chatiere.v1.batch_service_pb2 import DESCRIPTOR

_MESSAGES = DESCRIPTOR.message_types_by_name.values()
# By message the numbers of its fields, by name; the names of its columns (its fields of type bytes), by number.
_NUMBERS = {message.name: {field.name: field.number for field in message.fields} for message in _MESSAGES}
_COLUMNS = {
    message.name: {field.number: field.name for field in message.fields if field.type == field.TYPE_BYTES}
    for message in _MESSAGES
}


class Request(NamedTuple):
    """A message in wire format without its columns, and these beside it."""

    rest: bytes
    """The message; its columns are absent. It may still be none: whoever parses it gets DecodeError."""
    columns: dict[str, Any]
    """By name the column of each field of type bytes, as a buffer; an absent one is empty."""


def read(kind: type[Message], data: Any) -> Request:
    """The request of that kind in a buffer, of which only the columns are looked at. Raises what `parse` does."""
    names = _COLUMNS[kind.DESCRIPTOR.name]
    columns: dict[str, Any] = dict.fromkeys(names.values(), b"")
    try:
        rest, found = cut(data, frozenset(names))
    except ValueError:
        # No message at all, or one that is written in an unusual way.
        return read_whole(parse(kind, data))
    for number, column in found.items():
        columns[names[number]] = column
    return Request(rest, columns)


def read_whole(message: Message) -> Request:
    """The request of a message object, which loses its columns."""
    columns = {}
    for name in _COLUMNS[message.DESCRIPTOR.name].values():
        columns[name] = getattr(message, name)
        message.ClearField(name)
    return Request(message.SerializeToString(), columns)


def put(kind: type[Message], fields: Iterable[tuple[str, Buffer | list[Buffer] | None]]) -> list[Buffer]:
    """A message of that kind in wire format, in pieces to be joined.

    `fields`: name and content of each: a column's, which is left out if it is empty, or the pieces of a message; None:
    absent.
    """
    return pieces_of(_NUMBERS[kind.DESCRIPTOR.name], fields)
