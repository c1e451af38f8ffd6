"""Drawings of the games' tables and scores for a terminal, as lines styled for click.echo. Each game has its own file.

This package imports neither gRPC nor the clients.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, cast

from chatiere import engine
from chatiere.engine import Position
from chatiere.engine.wire import fill
from chatiere.v1.game_pb2 import Score, View


class Drawing(Protocol):
    """The functions that draw one game."""

    def draw_table(self, views: Sequence[Any]) -> list[str]:
        """Return the lines of a table.

        Args:
            views: The game's view messages from which the seats' hands are drawn, in seat order. If each seat has its
                own view, all hands are shown. If all seats have the view of one viewer, cards that this viewer does not
                know are drawn as question marks.
        """

    def break_down(self, score: Score) -> list[str]:
        """Return the breakdown of a score, as one text for each seat in seat order."""


class _Fields:
    """The drawing of a game without a file in this package. It shows the fields of the game's messages."""

    def draw_table(self, views: Sequence[Any]) -> list[str]:
        return [line for view in dict.fromkeys(map(str, views)) for line in view.splitlines()]

    def break_down(self, score: Score) -> list[str]:
        return [str(total) for total in score.totals]


def _drawing(game: str) -> Drawing:
    module = f"{__name__}.{game}"
    return cast(Drawing, import_module(module)) if find_spec(module) else _Fields()


DRAWINGS = {game.name: _drawing(game.name) for game in engine.games()}
"""Map the name of each game to its drawing."""


def view_of(position: Position, seat: int) -> Any:
    """Return a seat's view, as the game's message. Raises EngineError (INVALID_SEAT)."""
    game = position.game
    view = getattr(View(), game.name)
    fill(view, engine.codec(game.name).put_view, position, seat)
    return view


def draw(position: Position, seat: int) -> str:
    """Return the table as text of several lines with ANSI styles, drawn only from a seat's view.

    Cards that the seat does not know are drawn as a question mark.

    Raises:
        EngineError: INVALID_SEAT.
    """
    return "\n".join(DRAWINGS[position.game.name].draw_table([view_of(position, seat)] * position.num_players()))
