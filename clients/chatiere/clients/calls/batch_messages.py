"""Messages of BatchService in protobuf's wire format, with fewer copies of columns than protobuf's own objects make.

This module copies a column once to send it, and reads a received column in place. Protobuf's own objects copy a column
three times to send it, and copy a received column twice.
"""

from typing import Any

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from chatiere.engine.wire import Buffer, cut, head, pieces_of
from chatiere.v1 import batch_service_pb2

_MESSAGES = batch_service_pb2.DESCRIPTOR.message_types_by_name
# For each message, the number of each field.
_NUMBERS = {name: {field.name: field.number for field in message.fields} for name, message in _MESSAGES.items()}
# For each message, the numbers of the fields that contain bytes or a single message.
_LONG = {
    name: frozenset(
        field.number
        for field in message.fields
        if field.type in (field.TYPE_BYTES, field.TYPE_MESSAGE) and not field.is_repeated
    )
    for name, message in _MESSAGES.items()
}
# For each message, the class of each field that contains messages.
_KINDS: dict[str, dict[str, type[Message]]] = {
    name: {field.name: GetMessageClass(field.message_type) for field in message.fields if field.message_type}
    for name, message in _MESSAGES.items()
}
# For each message and oneof, the names of the oneof's fields by their numbers.
_ONEOFS = {
    name: {oneof.name: {field.number: field.name for field in oneof.fields} for oneof in message.oneofs}
    for name, message in _MESSAGES.items()
}


class Response:
    """A received message in which each field occurs at most once, except lists of messages.

    A field of an unexpected type is treated as absent.
    """

    def __init__(self, kind: type[Message], data: Buffer) -> None:
        """Find the fields of a message of class `kind` in `data`.

        Raises:
            ValueError: `data` is not a message.
        """
        self._kind = kind
        self._data = data
        name = kind.DESCRIPTOR.name
        self._numbers, self._kinds = _NUMBERS[name], _KINDS[name]
        self._rest, self._found = cut(data, _LONG[name])

    def number(self, name: str) -> int:
        """Return a number, or 0 if the field is absent.

        Raises:
            DecodeError: The fields other than columns are malformed.
        """
        value: int = getattr(self._kind.FromString(self._rest), name)
        return value

    def column(self, name: str) -> Buffer:
        """Return a field of type bytes. Empty if the field is absent."""
        return self._found.get(self._numbers[name], b"")

    def inner(self, name: str) -> "Response":
        """Return the message in a field."""
        return Response(self._kinds[name], self.column(name))

    def message(self, name: str) -> Any:
        """Return the message in a field as a protobuf object."""
        return self._kinds[name].FromString(bytes(self.column(name)))

    def which(self, oneof: str) -> str | None:
        """Return the name of the field that is set in a oneof, or None."""
        for number, name in _ONEOFS[self._kind.DESCRIPTOR.name][oneof].items():
            if number in self._found:
                return name
        return None

    def whole(self) -> Any:
        """Return the whole message as a protobuf object."""
        return self._kind.FromString(bytes(self._data))


def put(message: Message, columns: dict[str, Buffer]) -> list[Buffer]:
    """Serialise a message and its columns into pieces to be joined. Empty columns are omitted."""
    pieces = pieces_of(_NUMBERS[message.DESCRIPTOR.name], columns.items())
    # Put the message last. In a PlayRequest, the first column of a typical batch (16 KiB to 2 MiB) then follows two
    # prefixes of 4 bytes. The column is therefore aligned to 8 bytes, and the service can overwrite the old states with
    # the new states.
    pieces.append(message.SerializeToString())
    return pieces


def put_inner(number: int, pieces: list[Buffer]) -> list[Buffer]:
    """Return a field of type bytes or message in pieces, given the field's number and the pieces of its content."""
    return [head(number, sum(map(len, pieces))), *pieces]
