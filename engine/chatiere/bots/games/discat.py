"""Bots for Discat."""

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.bots.bot import Bot, Decisions
from chatiere.engine.core.observation import ObservationLayout
from chatiere.engine.games.discat import state


class LargestBot(Bot):
    """A bot that plays the largest legal group. Among equals, it plays the group with the lowest dense id.

    When the bot must pass, it exchanges the lowest card that cannot form a group with another card in its hand. If
    there is no such card, it keeps the hand.
    """

    title = "Largest group"
    description = "Plays the largest group."
    is_reproducible = True

    needs_observations = True

    def __init__(self) -> None:
        """Create a bot."""
        self._layout = ObservationLayout(engine.game("discat").description)

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        # The id of a play is PLAYS_A_TOP x the slot of its top card + a mask of the other cards. The ids of Keep and
        # Exchange follow the ids of plays.
        ids = decisions.legal_ids
        actions = decisions.best_actions(
            np.where(ids < state.KEEP_ID, np.bitwise_count(ids % state.PLAYS_A_TOP) + 1, 0)
        )
        passes = np.flatnonzero(actions == state.KEEP_ID)
        if len(passes):
            found = _passing(self._layout.arrays(decisions.observations[passes])["own_hand"] > 0)
            actions[passes] = np.where(decisions.legal_counts()[passes] > 1, found, state.KEEP_ID)
        return actions


def _passing(hands: NDArray[np.bool_]) -> NDArray[np.uint16]:
    # Each hand is a grid of flags, indexed by the first and second digit of a card's number.
    digits = np.zeros((len(hands), 100), np.bool_)
    digits[:, 1 : state.MAX_CARD + 1] = hands
    grid = digits.reshape(-1, 10, 10)
    alone = grid & (grid.sum(axis=2, keepdims=True) == 1) & (grid.sum(axis=1, keepdims=True) == 1)
    lowest = alone.reshape(-1, 100).argmax(axis=1)
    # A slot is an index into the hand. The hand is sorted in ascending order.
    slots = (digits & (np.arange(100) < lowest[:, None])).sum(axis=1)
    chosen: NDArray[np.int_] = np.where(alone.any(axis=(1, 2)), state.FIRST_EXCHANGE_ID + slots, state.KEEP_ID)
    return chosen.astype(np.uint16)


BOTS = {"largest": LargestBot}
SECONDS = {"flat": 0.003, "ismcts": 0.005}
PUCT = None
