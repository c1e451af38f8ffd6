"""Tables and scores of the games as lines for a terminal, styled for click.echo: one file a game.

Imports neither gRPC nor the clients.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from chatiere import engine
from chatiere.v1.game_pb2 import Score


class Drawing(Protocol):
    """The drawing of one game."""

    def draw_table(self, views: Sequence[Any]) -> list[str]:
        """Return the lines of a table.

        `views`: for each seat, in seat order, the game's own view message that its hand is drawn from: the seat's own,
        and all hands are open; or one viewer's for all seats, and cards that the viewer does not know are drawn as ?.
        """

    def break_down(self, score: Score) -> list[str]:
        """Return the breakdown of a score, a text for each seat, in seat order."""


DRAWINGS: dict[str, Drawing] = {
    game.name: cast(Drawing, import_module(f"{__name__}.{game.name}")) for game in engine.games()
}
