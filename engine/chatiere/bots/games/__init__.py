"""The games' own bots, one file a game.

In each file, `BOTS`: the bots, by name; `SECONDS`: by bot that searches, about how long a decision takes, with a budget
of 1,000, midway through a game with the fewest players, on one core.
"""

from collections.abc import Mapping
from importlib import import_module

from chatiere import engine
from chatiere.bots.bot import Bot

_MODULES = {game.name: import_module(f"{__name__}.{game.name}") for game in engine.games()}
GAME_BOTS: dict[str, Mapping[str, type[Bot]]] = {name: module.BOTS for name, module in _MODULES.items()}
SECONDS: dict[str, Mapping[str, float]] = {name: module.SECONDS for name, module in _MODULES.items()}
