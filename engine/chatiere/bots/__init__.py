"""Players, from random to search. Each knows what its seat may know, and nothing else.

    from chatiere import bots

    bot = bots.get("flat:playouts=500", "discat", players=3)

docs/bots.md tells how to write one.
"""

from chatiere.bots.bot import Bot, BotError, Decisions, Judgement, SearchBot
from chatiere.bots.network import NetworkBot, OnnxBot
from chatiere.bots.registry import (
    BOTS_VERSION,
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
