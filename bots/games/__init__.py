"""The games' own bots, one file a game, with `BOTS`: what makes each bot, by its name. A new game is one line here."""

from collections.abc import Callable, Mapping
from importlib import import_module

from chatiere.bots.bot import Bot

_NAMES = (
    "chat_cartonne",
    "chat_perche",
    "chatpentiers",
    "discat",
    "momistigri",
)

GAME_BOTS: dict[str, Mapping[str, Callable[[], Bot]]] = {
    name: import_module(f"{__name__}.{name}").BOTS for name in _NAMES
}
