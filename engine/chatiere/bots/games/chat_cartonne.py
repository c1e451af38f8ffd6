"""Bots for Chat Cartonne."""

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.bots.bot import Bot, Decisions
from chatiere.engine.core.description import ActionKind
from chatiere.engine.games.chat_cartonne.words import SIZES

# Kinds of actions, best first.
_ORDER = (
    "lay_cat",
    "toy_on_joint",
    "draw",
    "place_carton",
    "princess_on_joint",
    "princess_in_cell",
    "toy_as_carton",
    "sleep",
    "choose_start",
    "pass_turn",
    "skip",
)


class BuilderBot(Bot):
    """A bot that draws and builds, lays an awake cat whenever possible, and a sleeping one only if it must.

    Of several places it takes the one nearest to the middle of the table, so that boxes meet.
    """

    title = "Builder"
    description = "Draws and builds near the middle of the table, and lays awake cats."
    is_reproducible = True

    def __init__(self) -> None:
        """Create a bot."""
        # Ids of kinds with a place count through the table's cells for each value of their other fields.
        ranks = [
            (_ORDER.index(kind.name), _distance((id - kind.first_id) % SIZES.side**2) if _is_placed(kind) else 0, id)
            for kind in engine.game("chat_cartonne").description.action_kinds
            for id in range(kind.first_id, kind.last_id + 1)
        ]
        # By id, higher is better.
        self._values = np.empty(len(ranks), np.int32)
        self._values[[id for *_, id in sorted(ranks, reverse=True)]] = np.arange(len(ranks))

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        return decisions.best_actions(self._values[decisions.legal_ids])


def _is_placed(kind: ActionKind) -> bool:
    return bool(kind.last_id + 1 - kind.first_id >= SIZES.side**2)


def _distance(where: int) -> int:
    row, column = divmod(where, int(SIZES.side))
    return (column - 11) ** 2 + (row - 11) ** 2


BOTS = {"builder": BuilderBot}
SECONDS = {"flat": 0.002, "ismcts": 0.004}
