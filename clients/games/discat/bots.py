"""Bots for Discat."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chatiere.envs.batch import Batch, observation_part
from chatiere.v1.game_pb2 import Action, GameInfo, View

_KEEP = 192
_FIRST_EXCHANGE = 193
_CARDS = 90


class LargestGroupBot:
    """A bot that plays the largest legal group, of equal ones that with the lowest dense id.

    When it must pass, it exchanges its lowest card that forms no group with another of its hand, if there is one.
    """

    def choose(self, view: View, legal_actions: Sequence[Action]) -> Action:
        """See Bot.choose."""
        plays = [action for action in legal_actions if action.discat.WhichOneof("action") == "play"]
        if plays:
            return max(plays, key=lambda action: len(action.discat.play.cards))
        exchanges = {
            action.discat.exchange.card: action
            for action in legal_actions
            if action.discat.WhichOneof("action") == "exchange"
        }
        hand = view.discat.seats[view.seat].known_cards
        for card in sorted(exchanges):
            if not any(_can_be_grouped(card, other) for other in hand if other != card):
                return exchanges[card]
        return next(action for action in legal_actions if action.discat.WhichOneof("action") == "keep")


class LargestGroupBatchBot:
    """LargestGroupBot for many games at a time, with the same choices."""

    needs_observations = True

    def __init__(self, info: GameInfo) -> None:
        """Create a bot. `info`: the service's description of Discat."""
        self._own_hand = observation_part(info, "own_hand")

    def choose(self, batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.uint16]:
        """See BatchBot.choose."""
        # The id of a play is 32 x the slot of its top card + a mask of the others; Keep and Exchange come after these.
        sizes = np.where(batch.legal_ids < _KEEP, np.bitwise_count(batch.legal_ids % 32) + 1, 0)
        actions = batch.best_actions(sizes)[rows]
        passes = np.flatnonzero(actions == _KEEP)
        can_exchange = batch.legal_counts()[rows[passes]] > 1
        passes = passes[can_exchange]
        actions[passes] = _passing(batch.observations[rows[passes], self._own_hand] > 0)
        return actions


def _passing(hands: NDArray[np.bool_]) -> NDArray[np.uint16]:
    # By the first and second digit of the card's number.
    digits = np.zeros((len(hands), 100), np.bool_)
    digits[:, 1 : _CARDS + 1] = hands
    table = digits.reshape(-1, 10, 10)
    alone = table & (table.sum(axis=2, keepdims=True) == 1) & (table.sum(axis=1, keepdims=True) == 1)
    lowest = alone.reshape(-1, 100).argmax(axis=1)
    # A slot is an index into the hand, sorted ascending.
    slots = (digits & (np.arange(100) < lowest[:, None])).sum(axis=1)
    return np.where(alone.any(axis=(1, 2)), _FIRST_EXCHANGE + slots, _KEEP).astype(np.uint16)


def _can_be_grouped(card: int, other: int) -> bool:
    return card // 10 == other // 10 or card % 10 == other % 10
