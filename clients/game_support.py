"""The interfaces of bots, and a game's own bots and table view."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chatiere.envs.batch import Batch
from chatiere.v1.game_pb2 import Action, GameInfo, Position, Score, View


class Bot(Protocol):
    """A bot that plays a seat, knowing only what that seat knows."""

    def choose(self, view: View, legal_actions: Sequence[Action]) -> Action:
        """Choose an action.

        `view`: the view of the bot's own seat, whose turn it is. `legal_actions`: one or more, by ascending id. Returns
        one of them.
        """


class BatchBot(Protocol):
    """A bot that plays seats of many games at a time, knowing at each position only what the actor knows."""

    needs_observations: bool
    """True if it needs batches with observations."""

    def choose(self, batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.uint16]:
        """Choose legal actions at the positions of some rows of the batch (k,). Return their dense ids, (k,).

        Bots that choose at random use `Batch.luck`, so that games are reproducible.
        """


class BotMaker(NamedTuple):
    """The factories of a bot's two forms; they choose alike, except for random choices."""

    single: Callable[[str], Bot]
    """Make it from a seed, any text; bots that choose nothing at random ignore it."""
    batch: Callable[[GameInfo], BatchBot]
    """Make it from the service's description of the game."""


@dataclass(frozen=True)
class GameSupport:
    """A game's own bots, and the view of its table in a terminal."""

    # As in GameInfo.name.
    name: str
    # By name, one word each.
    bots: Mapping[str, BotMaker]
    # Return the lines of the table, all hands open; the position has the views of all seats, in seat order.
    draw_table: Callable[[Position], list[str]]
    # Return the breakdown of a score, a text for each seat, in seat order.
    break_down: Callable[[Score], list[str]]
