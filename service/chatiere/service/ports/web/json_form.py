"""Messages as JSON, by protobuf's own mapping: to wire format and back, without objects of google.protobuf."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from protobuf import Message, Registry
from protobuf._file_registry import create_file_registry
from protobuf.wkt.google.protobuf.descriptor_pb import FileDescriptorSet

from chatiere.service.base.errors import Refusal, ServiceReason

# The most objects and lists in a request, each of which may take a hundred bytes of memory and more; and how deep they
# may lie in one another: protobuf-py's parser crashes some thousands deep. A message of ours has a dozen levels.
_MOST, _DEEPEST = 100_000, 100
# To the closing quote, or to the end: it never looks at a byte twice.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
# Bytes of memory that a byte of JSON, or a byte in wire format that becomes JSON, takes at most on its way.
MEMORY = 12


@cache
def registry() -> Registry:
    """Return all message types of chatiere.v1 and of the details of errors."""
    described = FileDescriptorSet.from_binary((files("chatiere.v1") / "descriptors.binpb").read_bytes())
    by_name = {file.name: file for file in described.file}
    found = Registry()
    for file in described.file:
        found.add(create_file_registry(file, lambda name: found.file(name) or by_name.get(name)))
    return found


def message_type(name: str) -> type[Message]:
    """Return a message type by its full name. Raises KeyError."""
    described = registry().message(name)
    if described is None:
        raise KeyError(name)
    return described.type


class JsonForm:
    """The JSON form of a method's messages."""

    def __init__(self, request: str, response: str) -> None:
        """Take the full names of the messages."""
        self._request, self._response = message_type(request), message_type(response)

    def read(self, text: bytes) -> bytes:
        """Return a request in wire format. Raises Refusal (MALFORMED_REQUEST)."""
        if not text:
            # A request without fields may be left out.
            return b""
        _check_nesting(text)
        try:
            return self._request.from_json(text).to_binary()
        except (ValueError, TypeError, OverflowError) as error:
            raise _malformed(f"the request is no JSON of this method: {error}") from error

    def write(self, data: bytes) -> bytes:
        """Return a response as JSON, with fields that are zero or empty."""
        return self._response.from_binary(data).to_json(always_emit_implicit=True).encode()


def _check_nesting(text: bytes) -> None:
    count = text.count(b"[") + text.count(b"{")
    if count <= _DEEPEST:
        return
    if count > _MOST:
        raise _malformed(f"the request has {count} objects and lists; this service reads at most {_MOST}")
    brackets = _STRING.sub(b"", text).translate(None, _NO_BRACKETS)
    # Each round takes the innermost away.
    for _ in range(_DEEPEST):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    if brackets:
        raise _malformed(f"the request is no JSON, or nests more than {_DEEPEST} levels deep")


def _malformed(message: str) -> Refusal:
    return Refusal(ServiceReason.MALFORMED_REQUEST, message, metadata={})
