"""The games' own bots, in a file for each game that has any.

Each file has two tables and a number:

- `BOTS`: the bots, by name.
- `SECONDS`: the approximate time of a decision for each bot that searches. It is the time on one core, with a budget of
  1,000, midway through a game with the fewest players.
- `PUCT`: the constant of PUCT with the playout policy as priors, or None if UCB1 is at least as strong in this game.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

from chatiere import engine
from chatiere.bots.policy import PolicyBot

_MODULES = {
    game.name: import_module(f"{__name__}.{game.name}") if find_spec(f"{__name__}.{game.name}") else None
    for game in engine.games()
}
GAME_BOTS: dict[str, Mapping[str, type[PolicyBot]]] = {
    name: module.BOTS if module else {} for name, module in _MODULES.items()
}
SECONDS: dict[str, Mapping[str, float]] = {name: module.SECONDS if module else {} for name, module in _MODULES.items()}
PUCT: dict[str, float | None] = {name: module.PUCT if module else None for name, module in _MODULES.items()}
