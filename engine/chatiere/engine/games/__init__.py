"""The rooms, one for each game. A new room needs one line here."""

from importlib import import_module
from typing import cast

from chatiere.engine.core.room import Room

_NAMES = (
    "chat_cartonne",
    "chat_perche",
    "chatpentiers",
    "discat",
    "momistigri",
)

ROOMS = tuple(cast(Room, import_module(f"{__name__}.{name}")) for name in _NAMES)
