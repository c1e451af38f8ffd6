"""Bots for Chat Cartonne."""

from collections.abc import Sequence

from chatiere.v1.game_pb2 import Action, View

# What it prefers, best first.
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
    """Draws and builds, lays an awake cat whenever it may, and a sleeping one only where there is nothing else to do.

    Of several places it takes the one nearest to the middle of the table, so that boxes meet.
    """

    def choose(self, view: View, legal_actions: Sequence[Action]) -> Action:
        """See Bot.choose."""
        return min(legal_actions, key=_rank)


def _rank(action: Action) -> tuple[int, int, int]:
    kind = action.chat_cartonne.WhichOneof("action") or ""
    chosen = getattr(action.chat_cartonne, kind)
    where = getattr(chosen, "cell", getattr(chosen, "joint", 0))
    distance = (where % 24 - 11) ** 2 + (where // 24 - 11) ** 2
    return _ORDER.index(kind), distance, action.id
