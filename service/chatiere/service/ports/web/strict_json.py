"""A strict reader of JSON requests. It refuses ambiguous values and rounded numbers, and its errors name the field."""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import cache, partial
from typing import Any, NamedTuple, NoReturn

from protobuf import (
    DescEnum,
    DescField,
    DescFieldValueEnum,
    DescFieldValueList,
    DescFieldValueMessage,
    DescFieldValueScalar,
    DescMessage,
    ScalarType,
    message_from_json_value,
)

# A JSON number (RFC 8259, section 6): an integer, with an optional fraction and exponent.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<rest>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_RANGES = dict.fromkeys((ScalarType.UINT32, ScalarType.FIXED32), range(2**32))
_RANGES |= dict.fromkeys((ScalarType.UINT64, ScalarType.FIXED64), range(2**64))
_RANGES |= dict.fromkeys((ScalarType.INT32, ScalarType.SINT32, ScalarType.SFIXED32), range(-(2**31), 2**31))
_RANGES |= dict.fromkeys((ScalarType.INT64, ScalarType.SINT64, ScalarType.SFIXED64), range(-(2**63), 2**63))
# The maximum length of a string or number that an error quotes.
_MAX_QUOTED = 40
# The messages with a special form in JSON, and the descriptions of these forms.
_SPECIAL = {"google.protobuf.Duration": 'a number of seconds, such as "3.5s"'}
_Check = Callable[[Any], None]


class FieldError(ValueError):
    """An invalid value of a field. `path`: the path of the field, with the names in the proto files."""

    def __init__(self, message: str, path: str = "") -> None:
        """Create an error. `path` is the last part of the path. `lies_below` prepends the earlier parts."""
        super().__init__(message)
        self.path = path

    def lies_below(self, place: str) -> None:
        """Prepend a field to the path, with an index for an element of a list."""
        self.path = f"{place}.{self.path}" if self.path else place


class _Rounded(float):
    """A number that was rounded when it was read."""


class _Ambiguous(dict[str, Any]):
    """An object with two values for a key."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.key = next(key for key in keys if keys.count(key) > 1)

    def error(self, name: str = "") -> FieldError:
        """Return the error that reports the key. `name`: the field with this key, if it is known."""
        return FieldError(f"two values for the key {_quoted(self.key)} of one object", name)


def read_json(text: bytes, check: FieldCheck) -> Any:
    """Return the value of a JSON text in UTF-8, after a check of its fields.

    Raises:
        FieldError: If a field is invalid, or an object has two values for a key.
        ValueError: If the text is not JSON.
    """
    ambiguous: list[_Ambiguous] = []

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            found = _Ambiguous(pairs)
            ambiguous.append(found)
        return found

    value = _loaded(text, object_of)
    check(value)
    if ambiguous:
        # The object is in an unknown field. The check ignored this field.
        raise ambiguous[0].error()
    return value


def _loaded(text: bytes, object_of: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Any:
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        raise ValueError("the text is not UTF-8") from error
    try:
        return json.loads(decoded, object_pairs_hook=object_of, parse_float=_float_of, parse_constant=_refuse_constant)
    except (json.JSONDecodeError, FieldError):
        raise
    except ValueError as error:
        raise FieldError("a number has too many digits") from error


def _float_of(text: str) -> float:
    value = float(text)
    try:
        is_exact = Decimal(text) == value
    except InvalidOperation:
        # The exponent is too long, with about twenty digits.
        is_exact = False
    return value if is_exact else _Rounded(value)


def _refuse_constant(name: str) -> NoReturn:
    raise FieldError(f"{name} is not JSON")


class _Field(NamedTuple):
    name: str
    rivals: tuple[str, ...]
    """The keys that exclude this key: the field's other name, and the other fields of its oneof. Of two keys that
    exclude each other, only one lists the other."""
    is_list: bool
    check: _Check
    """The check of the field's value, or of each element of a list."""
    exact: range
    """The integers that need no check."""


class FieldCheck:
    """The check of a message. Each field and oneof may have at most one value, of its type and in its range.

    Numbers must be exact integers, and the values of enums must be known. Unknown fields are allowed, for later
    versions. Protobuf's mapping can read every message that passes this check.
    """

    def __init__(self, kind: DescMessage) -> None:
        """Check messages of this type."""
        self._kind = kind
        # Set the fields when the first message is checked, because types may contain each other.
        self._fields: dict[str, _Field] = {}

    def __call__(self, value: Any) -> None:
        """Check a value. Raises FieldError."""
        if not isinstance(value, dict):
            raise FieldError(f"{_quoted(value)} is not an object")
        fields = self._fields = self._fields or _fields_of(self._kind)
        if isinstance(value, _Ambiguous):
            raise value.error(fields[value.key].name if value.key in fields else "")
        for key, content in value.items():
            if content is None or key not in fields:
                continue
            name, rivals, is_list, check, exact = fields[key]
            for rival in rivals:
                if value.get(rival) is not None:
                    raise FieldError(f"{rival} and {key} cannot both be set", name)
            if is_list and not isinstance(content, list):
                raise FieldError(f"{_quoted(content)} is not a list", name)
            for index, element in enumerate(content if is_list else (content,)):
                if type(element) is not int or element not in exact:
                    try:
                        check(element)
                    except FieldError as error:
                        error.lies_below(f"{name}[{index}]" if is_list else name)
                        raise


check_of = cache(FieldCheck)
"""A function that returns the check of a message type."""


def _fields_of(kind: DescMessage) -> dict[str, _Field]:
    found = {}
    for field in kind.fields:
        oneof = getattr(field.value, "oneof", None)
        family = [field] if oneof is None else oneof.fields
        keys = list(dict.fromkeys((*(each.json_name for each in family), *(each.name for each in family))))
        is_list, content = _content_of(field)
        exact = _RANGES.get(content, range(0)) if isinstance(content, ScalarType) else range(0)
        for own in (field.json_name, field.name):
            found[own] = _Field(field.name, tuple(keys[: keys.index(own)]), is_list, _check_of(content), exact)
    return found


def _content_of(field: DescField) -> tuple[bool, ScalarType | DescEnum | DescMessage]:
    # Return whether the field is a list, and the type of its value or elements.
    match field.value:
        case DescFieldValueScalar(scalar=content) | DescFieldValueEnum(enum=content):
            return False, content
        case DescFieldValueMessage(message=content):
            return False, content
        case DescFieldValueList(element=content):
            return True, content
        case _:
            raise TypeError(f"{field.name} is a map, which requests in JSON must not have")


def _check_of(content: ScalarType | DescEnum | DescMessage) -> _Check:
    match content:
        case DescMessage():
            form = _SPECIAL.get(content.type_name)
            return check_of(content) if form is None else partial(_check_special, content, form)
        case DescEnum():
            known = frozenset(each for value in content.values for each in (value.name, value.number))
            return partial(_check_enum, known)
        case ScalarType.BOOL:
            return _check_bool
        case ScalarType.STRING:
            return _check_string
        case ScalarType.BYTES:
            return _check_bytes
        case _:
            # Requests have no fields of floating-point types.
            return partial(_check_integer, _RANGES[content])


def _check_special(kind: DescMessage, form: str, value: Any) -> None:
    try:
        message_from_json_value(kind.type, value)
    except (ValueError, TypeError, OverflowError) as error:
        raise FieldError(f"{_quoted(value)} is not {form}") from error


def _check_enum(known: frozenset[str | int], value: Any) -> None:
    # Refuse an unknown value, because protobuf's mapping would ignore it like an unknown field.
    if isinstance(value, bool) or not isinstance(value, str | int) or value not in known:
        raise FieldError(f"unknown value {_quoted(value)}")


def _check_bool(value: Any) -> None:
    if not isinstance(value, bool):
        raise FieldError(f"{_quoted(value)} is not true or false")


def _check_string(value: Any) -> None:
    if not isinstance(value, str):
        raise FieldError(f"{_quoted(value)} is not a string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise FieldError("the string has half of a surrogate pair") from error


def _check_bytes(value: Any) -> None:
    if not isinstance(value, str):
        raise FieldError(f"{_quoted(value)} is not a string")
    try:
        b64decode(
            value + "=" * (-len(value) % 4), altchars="-_" if "-" in value or "_" in value else None, validate=True
        )
    except ValueError as error:
        raise FieldError(f"{_quoted(value)} is not base64") from error


def _check_integer(allowed: range, value: Any) -> None:
    number = value
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value)
        if found is None:
            raise FieldError(f"{_quoted(value)} is not an integer")
        # Convert only the first digits of a longer number. They are also out of range.
        number = _float_of(value) if found["rest"] else int(value[:_MAX_QUOTED])
    if isinstance(number, _Rounded) and (number.is_integer() or math.isinf(number)):
        raise FieldError("the number is not an exact integer: write it with digits only")
    if isinstance(number, bool) or not isinstance(number, int | float) or number % 1:
        raise FieldError(f"{_quoted(value)} is not an integer")
    if int(number) not in allowed:
        raise FieldError(f"{_quoted(value)} is not an integer from {allowed[0]} to {allowed[-1]}")


def _quoted(value: Any) -> str:
    # Return a description of a value for errors, in the terms of JSON.
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return repr(value) if len(value) <= _MAX_QUOTED else "a string"
        case bool() | None:
            return json.dumps(value)
        case _:
            is_short = abs(value) < 10**_MAX_QUOTED
            return repr(value) if is_short else "a number"
