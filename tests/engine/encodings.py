"""Functions that split messages in wire format into fields, and that make encodings which protobuf never writes."""

import random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

VARINT, BYTES = 0, 2
# Unknown fields: a number of eight bytes, a number of four bytes, a group with a number and a string, and a string.
STRANGE = (b"\xf9\x01" + bytes(8), b"\xfd\x01" + bytes(4), b"\xfb\x01\x08\x05\x12\x01a\xfc\x01", b"\xfa\x01\x01a")
# A field's number, wire type and content. The content is a number, or the bytes of a message, text or list.
Field = tuple[int, int, int | bytes]


def varint(value: int, size: int = 0) -> bytes:
    """Encode a number as a varint of at least `size` bytes."""
    data = bytearray()
    while value >= 0x80 or len(data) + 1 < size:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def read_varint(data: bytes, place: int) -> tuple[int, int]:
    """Return a number and the offset of its end."""
    value = shift = 0
    while data[place] >= 0x80:
        value |= (data[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
    return value | data[place] << shift, place + 1


def fields_of(data: bytes) -> list[Field]:
    """Return the fields of a message that protobuf wrote."""
    found: list[Field] = []
    place = 0
    while place < len(data):
        tag, place = read_varint(data, place)
        value, place = read_varint(data, place)
        if tag & 7 == VARINT:
            found.append((tag >> 3, VARINT, value))
        else:
            assert tag & 7 == BYTES
            found.append((tag >> 3, BYTES, data[place : place + value]))
            place += value
    return found


def joined(fields: list[Field], sizes: tuple[int, int] = (0, 0)) -> bytes:
    """Join fields to a message. `sizes` has the minimum sizes of a tag and of a number, in bytes."""
    pieces = []
    for number, wire_type, value in fields:
        pieces.append(varint(number << 3 | wire_type, sizes[0]))
        if isinstance(value, int):
            pieces.append(varint(value, sizes[1]))
        else:
            pieces += [varint(len(value), min(sizes[1], 5)), value]
    return b"".join(pieces)


def in_order(data: bytes, kind: Any) -> bytes:
    """Sort the fields of each message by number, the order in which protobuf writes them."""
    fields: list[Field] = []
    for number, wire_type, value in fields_of(data):
        inner = kind.fields_by_number[number].message_type
        fields.append((number, wire_type, in_order(value, inner) if inner and isinstance(value, bytes) else value))
    return joined(sorted(fields, key=lambda field: field[0]))


def shuffled(data: bytes, kind: Any, choices: random.Random) -> bytes:
    """Shuffle the fields of each message. The items of a list stay in order."""
    fields: list[Field] = []
    for number, wire_type, value in fields_of(data):
        inner = kind.fields_by_number[number].message_type
        fields.append(
            (number, wire_type, shuffled(value, inner, choices) if inner and isinstance(value, bytes) else value)
        )
    keys = {number: choices.random() for number, _, _ in fields}
    return joined(sorted(fields, key=lambda field: keys[field[0]]))


def odd(data: bytes, kind: Any, choices: random.Random) -> bytes:
    """Return the same or nearly the same message with one or more unusual encodings in random places."""
    fields: list[Field] = []
    for number, wire_type, value in fields_of(data):
        inner = kind.fields_by_number[number].message_type
        if inner is not None and isinstance(value, bytes) and choices.random() < 0.6:
            value = odd(value, inner, choices)
        fields.append((number, wire_type, value))
    ways = [_again, _split, _another, _unpacked, _cut, _explicit, _other_member, _mistyped, _too_large]
    for _ in range(choices.choice((0, 0, 0, 1, 1, 2))):
        choices.choice(ways)(fields, kind, choices)
    if choices.random() < 0.2:
        choices.shuffle(fields)
    sizes = choices.choice([(0, 0)] * 20 + [(0, 2), (2, 0), (5, 0), (6, 0), (0, 5), (0, 10), (0, 11)])
    strange = choices.choice([b""] * 20 + list(STRANGE))
    return strange + joined(fields, sizes) if choices.random() < 0.5 else joined(fields, sizes) + strange


def _one_of(fields: list[Field], choices: random.Random) -> tuple[int, Field]:
    place = choices.randrange(len(fields))
    return place, fields[place]


def _again(fields: list[Field], kind: Any, choices: random.Random) -> None:
    # Repeat a field in another place.
    if fields:
        fields.insert(choices.randrange(len(fields)), _one_of(fields, choices)[1])


def _another(fields: list[Field], kind: Any, choices: random.Random) -> None:
    # Add a number a second time, with another value.
    if fields:
        place, (number, wire_type, value) = _one_of(fields, choices)
        if isinstance(value, int):
            fields.insert(place, (number, wire_type, choices.choice((0, 1, value ^ 1, value + 2**32))))


def _split(fields: list[Field], kind: Any, choices: random.Random) -> None:
    # Split a message into two pieces. Parsers merge them. In a list, the pieces are two items.
    for place, (number, wire_type, value) in enumerate(fields):
        if kind.fields_by_number[number].message_type and isinstance(value, bytes) and choices.random() < 0.5:
            try:
                inner = fields_of(value)
            except (AssertionError, IndexError):
                continue
            cut = choices.randrange(len(inner) + 1)
            fields[place : place + 1] = [
                (number, wire_type, joined(inner[:cut])),
                (number, wire_type, joined(inner[cut:])),
            ]
            return


def _unpacked(fields: list[Field], kind: Any, choices: random.Random) -> None:
    # Write a packed list of numbers as single numbers.
    for place, (number, _, value) in enumerate(fields):
        if _is_list(kind.fields_by_number[number]) and isinstance(value, bytes):
            fields[place : place + 1] = [(number, VARINT, each) for each in _numbers(value)]
            return


def _cut(fields: list[Field], kind: Any, choices: random.Random) -> None:
    # Split a list of numbers into two pieces, one of which may be empty.
    for place, (number, wire_type, value) in enumerate(fields):
        if _is_list(kind.fields_by_number[number]) and isinstance(value, bytes):
            numbers = _numbers(value)
            cut = choices.randrange(len(numbers) + 1)
            fields[place : place + 1] = [
                (number, wire_type, b"".join(map(varint, numbers[:cut]))),
                (number, wire_type, b"".join(map(varint, numbers[cut:]))),
            ]
            return


def _explicit(fields: list[Field], kind: Any, choices: random.Random) -> None:
    # Write a default value, or an empty message.
    field = choices.choice(kind.fields) if kind.fields else None
    if field is not None:
        is_bytes = field.message_type or field.is_repeated or field.type == FieldDescriptor.TYPE_STRING
        fields.append((field.number, BYTES, b"") if is_bytes else (field.number, VARINT, 0))


def _other_member(fields: list[Field], kind: Any, choices: random.Random) -> None:
    # Add another member of a oneof.
    for oneof in kind.oneofs:
        field = choices.choice(oneof.fields)
        empty: Field = (
            (field.number, BYTES, b"") if field.message_type else (field.number, VARINT, choices.randrange(3))
        )
        fields.insert(choices.randrange(len(fields) + 1), empty)


def _mistyped(fields: list[Field], kind: Any, choices: random.Random) -> None:
    # Change a field's wire type, or replace its string by one that is not ASCII or not UTF-8.
    field = choices.choice(kind.fields) if kind.fields else None
    if field is None:
        return
    if field.type == FieldDescriptor.TYPE_STRING:
        fields.append((field.number, BYTES, choices.choice(("perché".encode(), b"\xff", b"\xc3"))))
    elif field.message_type:
        fields.append((field.number, VARINT, choices.randrange(3)))
    else:
        fields.append((field.number, BYTES, choices.choice((b"", b"\x01", b"\x01\x80\x01"))))


def _too_large(fields: list[Field], kind: Any, choices: random.Random) -> None:
    # Write numbers with more bits than their type has.
    for place, (number, wire_type, value) in enumerate(fields):
        if isinstance(value, int) and choices.random() < 0.5:
            fields[place] = (number, wire_type, value + choices.choice((2, 2**31, 2**32, 2**63)) & (2**64 - 1))
            return
        if _is_list(kind.fields_by_number[number]) and isinstance(value, bytes) and choices.random() < 0.5:
            numbers = _numbers(value)
            if numbers:
                numbers[choices.randrange(len(numbers))] += 2**32
                fields[place] = (number, wire_type, b"".join(map(varint, numbers)))
                return


def _is_list(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated and field.type == FieldDescriptor.TYPE_UINT32)


def _numbers(packed: bytes) -> list[int]:
    numbers, place = [], 0
    while place < len(packed):
        number, place = read_varint(packed, place)
        numbers.append(number)
    return numbers
