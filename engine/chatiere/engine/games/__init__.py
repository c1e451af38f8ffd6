"""The game packages, one for each game. A new game needs one line here."""

from importlib import import_module
from typing import cast

from chatiere.engine.core.game_package import GamePackage

_NAMES = (
    "chat_cartonne",
    "chat_perche",
    "chatpentiers",
    "discat",
    "momistigri",
)

PACKAGES = tuple(cast(GamePackage, import_module(f"{__name__}.{name}")) for name in _NAMES)
