"""The ladder of a game: bots of measured strength for people to play against, the weakest first (docs/bots.md)."""

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
        title: The displayed name, in English.
        bot: The bot for every number of players that is not in `bots_by_players`, in the syntax of `bots.get`.
        strength: The bot's strength in Elo points above the lowest rung, in games with the fewest players.
        seconds: The mean processor time of a decision between several actions, in games with the fewest players.
        bots_by_players: A dict that maps a number of players, as decimal text, to the bot for this number. Networks
            need the dict, because a network plays only with one number of players.
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
    """Return the rungs of a game's ladder, the weakest first. The list is empty if the game has no measured ladder."""
    return [Rung(**each) for each in _read().get(game.name, [])]


@cache
def _read() -> Mapping[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
