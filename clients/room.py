"""What a game may have of its own among the clients."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from chatiere.v1.game_pb2 import Action, Position, Score, View


class Bot(Protocol):
    """Plays a seat, knowing what a player there knows."""

    def choose(self, view: View, legal_actions: Sequence[Action]) -> Action:
        """Decide.

        `view`: the own seat's view of the position, where it is its turn. `legal_actions`: all that it may do, by
        ascending id; at least one. Returns one of them.
        """


@dataclass(frozen=True)
class Room:
    """A game's own bots, and how its table is drawn in a terminal."""

    # As in GameInfo.name.
    name: str
    # By a name of one word, how a bot is made from a seed; bots that leave nothing to luck ignore it.
    bots: Mapping[str, Callable[[str], Bot]]
    # The lines of the table, all hands open; the position has the views of all seats, in seat order.
    draw_table: Callable[[Position], list[str]]
    # The breakdown of a score: the words for each seat, in seat order.
    break_down: Callable[[Score], list[str]]
