"""Opening requests from their bytes: with protobuf's objects that takes as long as the rules."""

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from chatiere.engine.wire import Buffer, Form, Reader
from chatiere.service.calls.errors import Refusal, ServiceReason

# The number of bits of each integer type. Negative numbers and all other types are left to protobuf.
_BITS = {
    FieldDescriptor.TYPE_BOOL: 1,
    FieldDescriptor.TYPE_INT32: 31,
    FieldDescriptor.TYPE_ENUM: 31,
    FieldDescriptor.TYPE_UINT32: 32,
    FieldDescriptor.TYPE_UINT64: 64,
}

# The most nested messages that protobuf may make objects of: each takes fifty bytes of memory or more, however few
# bytes encode it. The largest state has about a hundred.
_MOST_MESSAGES = 100_000
_Kind = TypeVar("_Kind", bound=Message)


def parse(kind: type[_Kind], data: Buffer) -> _Kind:
    """Parse a message of that kind. Raises DecodeError, and Refusal if it has too many nested messages."""
    count = form_of(kind.DESCRIPTOR).count_messages(data)
    if count > _MOST_MESSAGES:
        raise Refusal(
            ServiceReason.MALFORMED_REQUEST,
            f"the request has {count} nested messages; this service reads at most {_MOST_MESSAGES}",
            metadata={},
        )
    return kind.FromString(bytes(data))


def opener(kind: type[Message]) -> Callable[[bytes], Reader]:
    """Return a function that opens requests of that kind and raises what `parse` does."""
    form = form_of(kind.DESCRIPTOR)

    def opened(data: bytes) -> Reader:
        request = form.open(data)
        return Reader(parse(kind, data)) if request is None else request

    return opened


def numbers_of(kind: type[Message]) -> SimpleNamespace:
    """Return a message's field numbers by name: asking protobuf for one takes longer than reading the field."""
    return SimpleNamespace(**{field.name: field.number for field in kind.DESCRIPTOR.fields})


@cache
def form_of(kind: Descriptor) -> Form:
    """Return the form of plain messages of that kind."""
    return Form(
        (field.number, _content(field), field.is_repeated, _lowest(field), _excluded(field))
        for field in kind.fields
        if field.type in (*_BITS, FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE)
    )


def _content(field: FieldDescriptor) -> Form | int | None:
    if field.message_type is not None:
        return form_of(field.message_type)
    return _BITS.get(field.type)


def _lowest(field: FieldDescriptor) -> int:
    # Plain messages omit empty lists of numbers, and the default values of fields without presence.
    if field.is_repeated:
        return int(field.type in _BITS)
    return int(not field.has_presence)


def _excluded(field: FieldDescriptor) -> list[int]:
    if field.is_repeated and field.type not in _BITS:
        return []
    if field.containing_oneof is None:
        return [field.number]
    return [member.number for member in field.containing_oneof.fields]
