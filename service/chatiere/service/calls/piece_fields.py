"""The message fields that contain numbers of pieces or seats. An option in the proto files marks these fields."""

from collections.abc import Iterator
from typing import Any

from chatiere.v1 import annotations_pb2
from chatiere.v1.game_pb2 import PieceFieldInfo, Pieces


def piece_fields(game: str) -> Iterator[PieceFieldInfo]:
    """Yield the fields with the option (chatiere.v1.piece) of a game's proto file, then of game.proto, in order."""
    details: Any = Pieces.DESCRIPTOR.fields_by_name[game].message_type
    files: list[Any] = [details.file, Pieces.DESCRIPTOR.file]
    for message in (message for file in files for message in file.message_types_by_name.values()):
        for field in message.fields:
            kind = field.GetOptions().Extensions[annotations_pb2.piece]
            if kind:
                yield PieceFieldInfo(field=f"{message.name}.{field.name}", kind=kind)
