"""The fields of a game's messages that hold numbers of pieces, as the proto files mark them."""

from collections.abc import Iterator
from typing import Any

from chatiere.v1 import annotations_pb2
from chatiere.v1.game_pb2 import PieceFieldInfo, Pieces


def piece_fields(game: str) -> Iterator[PieceFieldInfo]:
    """Yield a game's fields with the option (chatiere.v1.piece), in the order of its proto file."""
    details: Any = Pieces.DESCRIPTOR.fields_by_name[game].message_type
    for message in details.file.message_types_by_name.values():
        for field in message.fields:
            kind = field.GetOptions().Extensions[annotations_pb2.piece]
            if kind:
                yield PieceFieldInfo(field=f"{message.name}.{field.name}", kind=kind)
