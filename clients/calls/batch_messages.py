"""Messages of BatchService in protobuf's wire format: columns are read where they are, and sent with one copy.

As protobuf's objects have them, a column is copied three times on its way out and twice on its way in.
"""

from typing import Any

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from chatiere.engine.core.wire import cut, head, pieces_of
from chatiere.http2.connection import Buffer
from chatiere.v1 import batch_service_pb2

# By message: the numbers of its fields, by name; the numbers of those that are bytes or one message; the classes of
# messages, by field; the names of fields, by oneof and number.
_MESSAGES = batch_service_pb2.DESCRIPTOR.message_types_by_name
_NUMBERS = {name: {field.name: field.number for field in message.fields} for name, message in _MESSAGES.items()}
_LONG = {
    name: frozenset(
        field.number
        for field in message.fields
        if field.type in (field.TYPE_BYTES, field.TYPE_MESSAGE) and not field.is_repeated
    )
    for name, message in _MESSAGES.items()
}
_KINDS: dict[str, dict[str, type[Message]]] = {
    name: {field.name: GetMessageClass(field.message_type) for field in message.fields if field.message_type}
    for name, message in _MESSAGES.items()
}
_ONEOFS = {
    name: {oneof.name: {field.number: field.name for field in oneof.fields} for oneof in message.oneofs}
    for name, message in _MESSAGES.items()
}


class Response:
    """A message that came, as the service writes it: each field once, but those that are lists of messages.

    A field of another kind than it should be is as absent.
    """

    def __init__(self, kind: type[Message], data: Buffer) -> None:
        """The message of that kind in `data`. Raises ValueError if there is none."""
        self._kind = kind
        self._data = data
        name = kind.DESCRIPTOR.name
        self._numbers, self._kinds = _NUMBERS[name], _KINDS[name]
        self._rest, self._found = cut(data, _LONG[name])

    def number(self, name: str) -> int:
        """A number; 0 where it is absent. Raises DecodeError if what is beside the columns is no message."""
        value: int = getattr(self._kind.FromString(self._rest), name)
        return value

    def column(self, name: str) -> Buffer:
        """A field of type bytes; empty where it is absent."""
        return self._found.get(self._numbers[name], b"")

    def inner(self, name: str) -> "Response":
        """The message of a field."""
        return Response(self._kinds[name], self.column(name))

    def message(self, name: str) -> Any:
        """The same as an object."""
        return self._kinds[name].FromString(bytes(self.column(name)))

    def which(self, oneof: str) -> str | None:
        """The name of the message that is there of a oneof."""
        for number, name in _ONEOFS[self._kind.DESCRIPTOR.name][oneof].items():
            if number in self._found:
                return name
        return None

    def whole(self) -> Any:
        """The message as an object."""
        return self._kind.FromString(bytes(self._data))


def put(message: Message, columns: dict[str, Buffer]) -> list[Buffer]:
    """A message with columns beside its other fields, in pieces to be joined; empty columns are left out."""
    pieces = pieces_of(_NUMBERS[message.DESCRIPTOR.name], columns.items())
    # Last: so the first column of a usual batch (16 KiB to 2 MiB) lies at a multiple of 8 bytes in a PlayRequest,
    # behind two heads of 4, and the service writes the new states over those that it was sent.
    pieces.append(message.SerializeToString())
    return pieces


def put_inner(number: int, pieces: list[Buffer]) -> list[Buffer]:
    """The field of that number, of type bytes or message, made of pieces."""
    return [head(number, sum(map(len, pieces))), *pieces]
