"""One room a game, for its bots and the drawing of its table. A new room is one line here."""

from importlib import import_module

from chatiere.clients.game_support import Room

_NAMES = (
    "chat_cartonne",
    "chat_perche",
    "chatpentiers",
    "discat",
    "momistigri",
)

ROOMS: dict[str, Room] = {name: import_module(f"{__name__}.{name}").ROOM for name in _NAMES}
