"""The games' table views, one folder per game. A new game is one line here."""

from importlib import import_module

from chatiere.clients.game_support import GameSupport

_NAMES = (
    "chat_cartonne",
    "chat_perche",
    "chatpentiers",
    "discat",
    "momistigri",
)

GAME_SUPPORT: dict[str, GameSupport] = {name: import_module(f"{__name__}.{name}").SUPPORT for name in _NAMES}
