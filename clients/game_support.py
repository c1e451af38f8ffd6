"""What a game may have of its own among the clients."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chatiere.clients.selfplay import Batch
from chatiere.v1.game_pb2 import Action, GameInfo, Position, Score, View


class Bot(Protocol):
    """Plays a seat, knowing what a player there knows."""

    def choose(self, view: View, legal_actions: Sequence[Action]) -> Action:
        """Decide.

        `view`: the own seat's view of the position, where it is its turn. `legal_actions`: all that it may do, by
        ascending id; at least one. Returns one of them.
        """


class BatchBot(Protocol):
    """Plays seats of many games at a time, knowing at each position what the actor there knows."""

    needs_observations: bool
    """Whether it can only play where batches have observations."""

    def choose(self, batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.uint16]:
        """Decide at the positions of those rows of the batch (k,): the dense ids of legal actions, (k,).

        Bots that leave something to luck take it from `Batch.luck`, so that games can be repeated.
        """


class BotMaker(NamedTuple):
    """How a bot is made, in both its forms; they choose alike, but for their luck."""

    single: Callable[[str], Bot]
    """From a seed, any text; bots that leave nothing to luck ignore it."""
    batch: Callable[[GameInfo], BatchBot]
    """From what there is to know of the game."""


@dataclass(frozen=True)
class GameSupport:
    """A game's own bots, and how its table is drawn in a terminal."""

    # As in GameInfo.name.
    name: str
    # By a name of one word.
    bots: Mapping[str, BotMaker]
    # The lines of the table, all hands open; the position has the views of all seats, in seat order.
    draw_table: Callable[[Position], list[str]]
    # The breakdown of a score: the words for each seat, in seat order.
    break_down: Callable[[Score], list[str]]
