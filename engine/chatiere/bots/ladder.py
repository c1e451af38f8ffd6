"""The ladder of a game: bots for people to play against, the weakest first, as they were measured (docs/bots.md)."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from chatiere.engine import Game

FILE = Path(__file__).with_name("ladder.json")


class Rung(NamedTuple):
    """A bot on a ladder.

    `name`: one word for command lines and catalogues, the same in all games; `title`: for people, in English. `bot`: as
    `bots.get` takes it, for every number of players that `bots_by_players` has no other for: a network plays with one
    number alone. `strength`: how many Elo points it is above the lowest rung, with the fewest players. `seconds`: how
    much of a core's time a decision among several actions takes on average, with the fewest players.
    """

    name: str
    title: str
    bot: str
    strength: int
    seconds: float
    bots_by_players: Mapping[str, str] = MappingProxyType({})

    def bot_for(self, players: int) -> str:
        """Return the bot for a number of players."""
        return self.bots_by_players.get(str(players), self.bot)


def ladder(game: Game) -> list[Rung]:
    """Return the rungs of a game's ladder, the weakest first."""
    return [Rung(**each) for each in _read()[game.name]]


@cache
def _read() -> Mapping[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
