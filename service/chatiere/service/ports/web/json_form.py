"""Messages as JSON, by protobuf's own mapping: to wire format and back, without objects of google.protobuf."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from grpc_health.v1 import health_pb2
from protobuf import Message, Registry, message_to_json_value
from protobuf.wkt import FileDescriptorProto, FileDescriptorSet

from chatiere.service.base.errors import Refusal, ServiceReason

# The most objects and lists in a request, each of which may take a hundred bytes of memory and more; and how deep they
# may lie in one another: protobuf-py's parser crashes some thousands deep. A message of ours has a dozen levels.
_MAX_NODES, _MAX_DEPTH = 100_000, 100
# To the closing quote, or to the end: it never looks at a byte twice.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


@cache
def _registry() -> Registry:
    # All message types of the door's services, and of the details of errors.
    described = FileDescriptorSet.from_binary((files("chatiere.v1") / "descriptors.binpb").read_bytes())
    health = FileDescriptorProto.from_binary(health_pb2.DESCRIPTOR.serialized_pb)
    for field in (field for message in health.message_type for field in message.field):
        # Generated code lacks the names in JSON: here they are words that are written alike.
        field.json_name = field.name
    described.file.append(health)
    return described.to_registry()


def _message_type(name: str) -> type[Message]:
    described = _registry().message(name)
    if described is None:
        raise KeyError(name)
    return described.type


def readable(name: str, data: bytes) -> Any:
    """Return a message, given by its full name in wire format, as a value for JSON. Raises KeyError."""
    return message_to_json_value(_message_type(name).from_binary(data))


class JsonForm:
    """The JSON form of a method's messages; see exchange.wire.Form."""

    memory = 12

    def __init__(self, request: str, response: str) -> None:
        """Take the full names of the messages."""
        self._request, self._response = _message_type(request), _message_type(response)

    def read(self, text: bytes) -> bytes:
        """Return a request in wire format. Raises Refusal (MALFORMED_REQUEST)."""
        if not text:
            # A request without fields may be left out.
            return b""
        _check_nesting(text)
        try:
            return self._request.from_json(text).to_binary()
        except (ValueError, TypeError, OverflowError) as error:
            raise _malformed(f"the request is not valid JSON for this method: {error}") from error

    def write(self, data: bytes) -> bytes:
        """Return a response as JSON, with fields that are zero or empty."""
        return self._response.from_binary(data).to_json(always_emit_implicit=True).encode()


def _check_nesting(text: bytes) -> None:
    count = text.count(b"[") + text.count(b"{")
    if count <= _MAX_DEPTH:
        return
    if count > _MAX_NODES:
        raise _malformed(f"the request has {count} objects and lists; this service reads at most {_MAX_NODES}")
    brackets = _STRING.sub(b"", text).translate(None, _NO_BRACKETS)
    # Each round takes the innermost away.
    for _ in range(_MAX_DEPTH):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    if brackets:
        raise _malformed(f"the request is not JSON, or nests more than {_MAX_DEPTH} levels deep")


def _malformed(message: str) -> Refusal:
    return Refusal(ServiceReason.MALFORMED_REQUEST, message, metadata={})
