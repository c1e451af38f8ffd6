"""Conversion of messages between protobuf's JSON and the wire format, without objects of google.protobuf."""

from __future__ import annotations

import json
import re
from functools import cache, partial
from importlib.resources import files
from typing import Any

from grpc_health.v1 import health_pb2
from protobuf import (
    DescEnum,
    DescField,
    DescFieldValueEnum,
    DescFieldValueList,
    DescFieldValueMap,
    DescFieldValueMessage,
    DescFieldValueScalar,
    DescMessage,
    Message,
    Registry,
    ScalarType,
    message_from_json_value,
    message_to_json_value,
)
from protobuf.wkt import FileDescriptorProto, FileDescriptorSet

from chatiere.engine.wire import Transcoder
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.ports.web.strict_json import FieldError, check_of, read_json

# The maximum number of objects, lists and fields in a request, and the maximum depth of nesting. Each object, list or
# field may need hundreds of bytes of memory, and deep nesting could exhaust the parser's stack. The largest valid
# request has a few thousand objects, lists and fields, and a dozen levels.
_MAX_NODES, _MAX_DEPTH = 20_000, 100
# A string, up to its closing quote or the end of the text. The expression does not backtrack.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NO_REQUEST = "the request is not valid JSON for this method"
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


@cache
def _registry() -> Registry:
    # The file contains all message types of the services and of error details.
    described = FileDescriptorSet.from_binary((files("chatiere.v1") / "descriptors.binpb").read_bytes())
    health = FileDescriptorProto.from_binary(health_pb2.DESCRIPTOR.serialized_pb)
    for field in (field for message in health.message_type for field in message.field):
        # Generated code lacks the JSON names. Here they equal the field names, because these are single words.
        field.json_name = field.name
    described.file.append(health)
    return described.to_registry()


def message_type(name: str) -> type[Message]:
    """Return the class of messages with a full name. Raises KeyError."""
    described = _registry().message(name)
    if described is None:
        raise KeyError(name)
    return described.type


def readable(name: str, data: bytes) -> Any:
    """Return a message, given in wire format, as a JSON value. `name`: its full name. Raises KeyError."""
    return message_to_json_value(message_type(name).from_binary(data))


@cache
def transcoder_of(kind: DescMessage) -> Transcoder:
    """Return the converter of messages of a type."""
    empty = message_to_json_value(kind.type(), always_emit_implicit=True)
    assert isinstance(empty, dict)
    return Transcoder(
        (
            field.number,
            field.name,
            field.json_name,
            _content_of(field),
            isinstance(field.value, DescFieldValueList),
            json.dumps(empty[field.json_name]) if field.json_name in empty else None,
            _excluded(field),
        )
        for field in kind.fields
    )


def _content_of(field: DescField) -> Any:
    # Return the content of a field in the form for Transcoder. Maps are rare, and are left to protobuf-py.
    match field.value:
        case (
            DescFieldValueScalar(scalar=content)
            | DescFieldValueEnum(enum=content)
            | DescFieldValueMessage(message=content)
            | DescFieldValueList(element=content)
        ):
            pass
        case DescFieldValueMap():
            return None
    match content:
        case ScalarType():
            return content.name.lower()
        case DescEnum():
            return {value.name: value.number for value in content.values}
        case DescMessage() if content.type_name.startswith("google.protobuf."):
            return partial(_written, content.type)
        case _:
            return transcoder_of(content)


def _excluded(field: DescField) -> list[int]:
    if isinstance(field.value, DescFieldValueList):
        return [field.number] if field.value.packed else []
    oneof = getattr(field.value, "oneof", None)
    return [field.number] if oneof is None else [each.number for each in oneof.fields]


def _written(kind: type[Message], data: bytes) -> bytes:
    return kind.from_binary(data).to_json(always_emit_implicit=True).encode()


class JsonForm:
    """The JSON form of a method's messages. See exchange.wire.Form."""

    memory = 16

    def __init__(self, request: str, response: str) -> None:
        """Create the form for messages with these full names."""
        self._request, self._response = message_type(request), message_type(response)
        self._check = check_of(self._request.desc())

    def read(self, text: bytes) -> bytes:
        """Return a request in wire format. Raises Refusal (MALFORMED_REQUEST)."""
        if not text:
            # A client may omit a request without fields.
            return b""
        _check_size(text)
        message = transcoder_of(self._request.desc()).from_json(text)
        return self._read_by_fields(text) if message is None else message

    def _read_by_fields(self, text: bytes) -> bytes:
        # Read an unusual request, or refuse it with the path of the invalid field.
        _check_nesting(text)
        try:
            value = read_json(text, self._check)
            return message_from_json_value(self._request, value, ignore_unknown_fields=True).to_binary()
        except (ValueError, TypeError, OverflowError) as error:
            path = error.path if isinstance(error, FieldError) else ""
            raise _malformed(str(error) if path else f"{_NO_REQUEST}: {error}", path) from error

    def write(self, data: bytes) -> bytes:
        """Return a response as JSON, including fields that are zero or empty."""
        text = transcoder_of(self._response.desc()).to_json(data)
        return _written(self._response, data) if text is None else text


def _check_size(text: bytes) -> None:
    nodes = text.count(b"[") + text.count(b"{") + text.count(b":")
    if nodes > _MAX_NODES:
        raise _malformed(f"the request has {nodes} objects, lists and fields; this service reads at most {_MAX_NODES}")


def _check_nesting(text: bytes) -> None:
    if text.count(b"[") + text.count(b"{") <= _MAX_DEPTH:
        return
    brackets = _STRING.sub(b"", text).translate(None, _NO_BRACKETS)
    # Each iteration removes the innermost brackets.
    for _ in range(_MAX_DEPTH):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    if brackets:
        raise _malformed(f"the request is not JSON, or nests more than {_MAX_DEPTH} levels deep")


def _malformed(message: str, field: str = "") -> Refusal:
    return Refusal(ServiceReason.MALFORMED_REQUEST, message, field=field, metadata={})
