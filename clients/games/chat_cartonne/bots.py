"""Bots for Chat Cartonne."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chatiere.envs.batch import Batch
from chatiere.v1.game_pb2 import Action, ActionKindInfo, GameInfo, View

_SIDE = 24

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


class BuilderBot:
    """A bot that draws and builds, lays an awake cat whenever possible, and a sleeping one only if it must.

    Of several places it takes the one nearest to the middle of the table, so that boxes meet.
    """

    def choose(self, view: View, legal_actions: Sequence[Action]) -> Action:
        """See Bot.choose."""
        return min(legal_actions, key=_rank)


def _rank(action: Action) -> tuple[int, int, int]:
    kind = action.chat_cartonne.WhichOneof("action") or ""
    chosen = getattr(action.chat_cartonne, kind)
    where = getattr(chosen, "cell", getattr(chosen, "joint", 0))
    return _ORDER.index(kind), _distance(where), action.id


def _distance(where: int) -> int:
    return (where % _SIDE - 11) ** 2 + (where // _SIDE - 11) ** 2


class BuilderBatchBot:
    """BuilderBot for many games at a time, with the same choices."""

    needs_observations = False

    def __init__(self, info: GameInfo) -> None:
        """Create a bot. `info`: the service's description of Chat Cartonne."""
        # Ids of kinds with a place count through the table's cells for each value of their other fields.
        ranks = [
            (_ORDER.index(kind.name), _distance((id - kind.first_id) % _SIDE**2) if _is_placed(kind) else 0, id)
            for kind in info.action_kinds
            for id in range(kind.first_id, kind.last_id + 1)
        ]
        # By id, higher is better.
        self._values = np.empty(len(ranks), np.int32)
        self._values[[id for *_, id in sorted(ranks, reverse=True)]] = np.arange(len(ranks))

    def choose(self, batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.uint16]:
        """See BatchBot.choose."""
        return batch.best_actions(self._values[batch.legal_ids])[rows]


def _is_placed(kind: ActionKindInfo) -> bool:
    return kind.last_id + 1 - kind.first_id >= _SIDE**2
