"""Bots, from random play to tree search. A bot sees only the information that its seat has.

    from chatiere import bots

    bot = bots.get("flat:playouts=500", "discat", players=3)

docs/bots.md describes how to write a bot.
"""

from chatiere.bots.bot import Bot, BotError, Decisions, Forfeit, Judgement, SearchBot
from chatiere.bots.network import IntegerNetworkBot, NetworkBot, OnnxBot
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
