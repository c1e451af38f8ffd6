"""Bots, from random play to tree search. A bot sees only the information that its seat has.

    from chatiere import bots

    bot = bots.get("flat:playouts=500", "discat", players=3)

docs/bots.md describes how to write a bot.

Except for BOTS_VERSION, all names are imported when they are first used, because they need NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chatiere.bots.version import BOTS_VERSION

if TYPE_CHECKING:
    from chatiere.bots.bot import Bot, BotError, Decisions, Forfeit, Judgement, SearchBot
    from chatiere.bots.network import IntegerNetworkBot, NetworkBot, OnnxBot
    from chatiere.bots.registry import (
        BotInfo,
        OtherVersionError,
        Parameter,
        Registry,
        get,
        infos,
        names,
        split,
        versions,
    )

__all__ = [
    "BOTS_VERSION",
    "Bot",
    "BotError",
    "BotInfo",
    "Decisions",
    "Forfeit",
    "IntegerNetworkBot",
    "Judgement",
    "NetworkBot",
    "OnnxBot",
    "OtherVersionError",
    "Parameter",
    "Registry",
    "SearchBot",
    "get",
    "infos",
    "names",
    "split",
    "versions",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in ("bot", "network", "registry"):
            members = vars(import_module(f"{__name__}.{module}"))
            if name in members:
                globals()[name] = members[name]
                return members[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
