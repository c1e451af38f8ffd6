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

    Attributes:
        name: One word for command lines and catalogues, the same in all games.
        title: The title for people, in English.
        bot: The bot, as `bots.get` takes it, for every number of players that is not in `bots_by_players`. A network
            plays only with one number of players.
        strength: The bot's Elo points above the lowest rung, with the fewest players.
        seconds: The mean time of one core for a decision between several actions, with the fewest players.
        bots_by_players: The other bots, by the number of players as a decimal number.
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
    """Return the rungs of a game's ladder, the weakest first; [] if it was not measured."""
    return [Rung(**each) for each in _read().get(game.name, [])]


@cache
def _read() -> Mapping[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
