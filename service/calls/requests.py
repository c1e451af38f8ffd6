"""Requests opened from their bytes: over protobuf's objects that takes as long as the rules."""

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from chatiere.engine.wire import Form, Reader
from chatiere.http2.connection import Buffer
from chatiere.service.calls.errors import Refusal, ServiceReason

# How many bits numbers of that type have. Numbers below 0 are left to protobuf, as are all other types.
_BITS = {
    FieldDescriptor.TYPE_BOOL: 1,
    FieldDescriptor.TYPE_INT32: 31,
    FieldDescriptor.TYPE_ENUM: 31,
    FieldDescriptor.TYPE_UINT32: 32,
    FieldDescriptor.TYPE_UINT64: 64,
}

# Messages that a message holds at most where protobuf makes objects of them, which take fifty bytes of memory and more,
# however short what they are made of is. The largest state has some hundred.
_MOST_MESSAGES = 100_000
_Kind = TypeVar("_Kind", bound=Message)


def parse(kind: type[_Kind], data: Buffer) -> _Kind:
    """The message of that kind in a buffer. Raises DecodeError, and Refusal for one that holds too many others."""
    count = form_of(kind.DESCRIPTOR).count_messages(data)
    if count > _MOST_MESSAGES:
        raise Refusal(
            ServiceReason.MALFORMED_REQUEST,
            f"the request holds {count} messages; this service reads at most {_MOST_MESSAGES}",
            metadata={},
        )
    return kind.FromString(bytes(data))


def opener(kind: type[Message]) -> Callable[[bytes], Reader]:
    """Return a function that opens requests of that kind; it raises what `parse` does."""
    form = form_of(kind.DESCRIPTOR)

    def opened(data: bytes) -> Reader:
        request = form.open(data)
        return Reader(parse(kind, data)) if request is None else request

    return opened


def numbers_of(kind: type[Message]) -> SimpleNamespace:
    """The numbers of a kind's fields by name: to ask protobuf for one takes longer than to read it."""
    return SimpleNamespace(**{field.name: field.number for field in kind.DESCRIPTOR.fields})


@cache
def form_of(kind: Descriptor) -> Form:
    """What plain messages of that kind look like."""
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
    # Empty lists of numbers are left out, as is what a field has that is absent, where there is no other sign of that.
    if field.is_repeated:
        return int(field.type in _BITS)
    return int(not field.has_presence)


def _excluded(field: FieldDescriptor) -> list[int]:
    if field.is_repeated and field.type not in _BITS:
        return []
    if field.containing_oneof is None:
        return [field.number]
    return [member.number for member in field.containing_oneof.fields]
