"""A game's table view."""

from collections.abc import Callable
from dataclasses import dataclass

from chatiere.v1.game_pb2 import Position, Score


@dataclass(frozen=True)
class GameSupport:
    """The view of a game's table in a terminal."""

    # As in GameInfo.name.
    name: str
    # Return the lines of the table, all hands open; the position has the views of all seats, in seat order.
    draw_table: Callable[[Position], list[str]]
    # Return the breakdown of a score, a text for each seat, in seat order.
    break_down: Callable[[Score], list[str]]
