"""Tables and scores of the games as lines for a terminal, styled for click.echo. Each game has its own file.

Imports neither gRPC nor the clients.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, cast

from chatiere import engine
from chatiere.v1.game_pb2 import Score


class Drawing(Protocol):
    """The drawing of one game."""

    def draw_table(self, views: Sequence[Any]) -> list[str]:
        """Return the lines of a table.

        Args:
            views: For each seat, in seat order, the game's view message from which its hand is drawn. With each seat's
                own view, all hands are open. With one viewer's view for all seats, cards unknown to the viewer are
                drawn as ?.
        """

    def break_down(self, score: Score) -> list[str]:
        """Return the breakdown of a score, a text for each seat, in seat order."""


class _Fields:
    """The drawing of a game that has no file here, which shows the fields of its messages."""

    def draw_table(self, views: Sequence[Any]) -> list[str]:
        return [line for view in dict.fromkeys(map(str, views)) for line in view.splitlines()]

    def break_down(self, score: Score) -> list[str]:
        return [str(total) for total in score.totals]


def _drawing(game: str) -> Drawing:
    module = f"{__name__}.{game}"
    return cast(Drawing, import_module(module)) if find_spec(module) else _Fields()


DRAWINGS = {game.name: _drawing(game.name) for game in engine.games()}
"""The drawings of all games, by name."""
