"""Parsing of requests without protobuf's objects. Creating these objects takes as long as applying the rules."""

from functools import cache
from types import SimpleNamespace
from typing import Generic, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message

from chatiere.engine.wire import Buffer, Form, Reader, Scales, cut_list
from chatiere.service.base.errors import Refusal, ServiceReason

# The number of bits of each integer type that is read here. Protobuf parses negative numbers and all other types.
_BITS = {
    FieldDescriptor.TYPE_BOOL: 1,
    FieldDescriptor.TYPE_INT32: 31,
    FieldDescriptor.TYPE_ENUM: 31,
    FieldDescriptor.TYPE_UINT32: 32,
    FieldDescriptor.TYPE_UINT64: 64,
}

# The wire types of numbers that are not varints.
_FIXED = {
    FieldDescriptor.TYPE_FIXED32: 5,
    FieldDescriptor.TYPE_SFIXED32: 5,
    FieldDescriptor.TYPE_FLOAT: 5,
    FieldDescriptor.TYPE_FIXED64: 1,
    FieldDescriptor.TYPE_SFIXED64: 1,
    FieldDescriptor.TYPE_DOUBLE: 1,
}
# The memory of a number in an object of protobuf, in bytes.
_MAX_NUMBER = 8
# The maximum size of a message that is opened without estimating its memory, in bytes. The largest typed state has 1
# KB.
_MAX_OPENED = 64 * 1024
# The maximum number of elements of a request that protobuf parses, and the maximum memory in bytes of protobuf's
# objects. The first number is also the maximum number of fields that are read. The record of the longest game has 8,000
# elements, and the largest state has 400. The tables of the longest game need 4 MiB.
MAX_ELEMENTS, _MAX_MEMORY = 100_000, 8 * 1024 * 1024
_Kind = TypeVar("_Kind", bound=Message)


def parse(kind: type[_Kind], data: Buffer) -> _Kind:
    """Parse a message. Raises DecodeError, and Refusal if the message would need too much memory."""
    elements, size = scales_of(kind.DESCRIPTOR).weigh(data, MAX_ELEMENTS, _MAX_MEMORY)
    if elements > MAX_ELEMENTS:
        raise too_many_elements(MAX_ELEMENTS)
    if size > _MAX_MEMORY:
        raise _too_heavy(f"the request would take more than {_MAX_MEMORY} bytes of memory, the most that is allowed")
    return kind.FromString(bytes(data))


def too_many_elements(most: int) -> Refusal:
    """Return the refusal of a request with more than `most` elements."""
    return _too_heavy(f"the request has more than {most} elements, the most that this service reads")


def _too_heavy(message: str) -> Refusal:
    return Refusal(ServiceReason.MALFORMED_REQUEST, message, metadata={})


def listed(data: Buffer, field: int, most: int, max_fields: int = MAX_ELEMENTS) -> tuple[bytes, int, list[bytes]]:
    """Extract a list of strings or messages as `cut_list` does. Raises DecodeError, and Refusal for too many fields."""
    try:
        return cut_list(data, field, most, max_fields)
    except OverflowError as error:
        raise too_many_elements(max_fields) from error
    except ValueError as error:
        raise DecodeError(str(error)) from error


class Opener(Generic[_Kind]):
    """A parser of requests of one type."""

    def __init__(self, kind: type[_Kind]) -> None:
        """Create a parser for this type of requests."""
        self._kind, self._form = kind, form_of(kind.DESCRIPTOR)

    def open(self, data: bytes) -> Reader:
        """Open a request. Raises DecodeError and Refusal as `parse` does."""
        request = self._form.open(data) if len(data) <= _MAX_OPENED else None
        return Reader(parse(self._kind, data)) if request is None else request


def numbers_of(kind: type[Message]) -> SimpleNamespace:
    """Return the number of each field of a message. Protobuf takes longer to look up a number than to read a field."""
    return SimpleNamespace(**{field.name: field.number for field in kind.DESCRIPTOR.fields})


@cache
def form_of(kind: Descriptor) -> Form:
    """Return the Form that reads plain messages of a type."""
    return Form(
        (field.number, _content(field), field.is_repeated, _lowest(field), _excluded(field))
        for field in kind.fields
        if field.type in (*_BITS, FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE)
    )


@cache
def scales_of(kind: Descriptor) -> Scales:
    """Return the Scales that estimate the memory of messages of a type."""
    return Scales((field.number, _weight(field), field.is_repeated, _FIXED.get(field.type, 0)) for field in kind.fields)


def _weight(field: FieldDescriptor) -> Scales | int | None:
    if field.message_type is not None:
        return scales_of(field.message_type)
    return None if field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES) else _MAX_NUMBER


def _content(field: FieldDescriptor) -> Form | int | None:
    if field.message_type is not None:
        return form_of(field.message_type)
    return _BITS.get(field.type)


def _lowest(field: FieldDescriptor) -> int:
    # A plain message omits empty lists of numbers, and fields without presence that have their default values.
    if field.is_repeated:
        return int(field.type in _BITS)
    return int(not field.has_presence)


def _excluded(field: FieldDescriptor) -> list[int]:
    if field.is_repeated and field.type not in _BITS:
        return []
    if field.containing_oneof is None:
        return [field.number]
    return [member.number for member in field.containing_oneof.fields]
