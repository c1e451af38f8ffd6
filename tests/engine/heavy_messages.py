"""Print the memory that protobuf's message objects use, and the estimate of it. Run this as a separate process.

Each line has the path of a field of a request, at any depth, the memory used in bytes, and the estimate.
"""

from collections.abc import Iterator

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from chatiere.engine.memory import allocated_bytes
from chatiere.service.calls.requests import scales_of
from chatiere.v1 import batch_service_pb2, bot_service_pb2, game_service_pb2, room_service_pb2, table_service_pb2

from .encodings import STRANGE, varint

FILES = (batch_service_pb2, bot_service_pb2, game_service_pb2, room_service_pb2, table_service_pb2)
COUNT = 20_000
# Map each wire type to a small content.
SMALL = {0: b"\x01", 1: bytes(8), 2: b"", 5: bytes(4)}
FIXED = {
    FieldDescriptor.TYPE_FIXED32: 5,
    FieldDescriptor.TYPE_FLOAT: 5,
    FieldDescriptor.TYPE_FIXED64: 1,
    FieldDescriptor.TYPE_DOUBLE: 1,
}


def sized(content: bytes) -> bytes:
    """Return the content, preceded by its length."""
    return varint(len(content)) + content


def contents(field: FieldDescriptor) -> Iterator[bytes]:
    """Yield many occurrences of a field, in each way to encode them."""
    if field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
        for size in (0, 1, 9):
            yield (varint(field.number << 3 | 2) + sized(b"a" * size)) * COUNT
    elif field.message_type is not None:
        yield (varint(field.number << 3 | 2) + sized(b"")) * COUNT
    else:
        wire_type = FIXED.get(field.type, 0)
        yield (varint(field.number << 3 | wire_type) + SMALL[wire_type]) * COUNT
        if field.is_repeated:
            yield (varint(field.number << 3 | 2) + sized(SMALL[wire_type])) * COUNT
            yield varint(field.number << 3 | 2) + sized(SMALL[wire_type] * COUNT)


def heavy(kind: Descriptor) -> Iterator[tuple[str, bytes]]:
    """Yield messages of a kind with many occurrences of one field, or of unknown fields, each with the field's path."""
    for unknown in STRANGE:
        yield "unknown", unknown * COUNT
    for field in kind.fields:
        for content in contents(field):
            yield field.name, content
        if field.message_type is not None:
            for path, inner in heavy(field.message_type):
                yield f"{field.name}.{path}", varint(field.number << 3 | 2) + sized(inner)


def main() -> None:
    """Parse all of these messages and print the lines."""
    requests = {
        method.input_type
        for file in FILES
        for service in file.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }
    for described in sorted(requests, key=lambda each: each.name):
        kind: type[Message] = GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(described.full_name))
        for path, data in heavy(described):
            before = allocated_bytes()
            message = kind.FromString(data)
            during = allocated_bytes()
            assert message.IsInitialized()
            taken = 0 if before is None or during is None else during - before
            print(f"{described.name}.{path}", taken, scales_of(described).weigh(data)[1])


if __name__ == "__main__":
    main()
