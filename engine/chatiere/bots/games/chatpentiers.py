"""Bots for Chatpentiers."""

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.bots.bot import Bot, Decisions
from chatiere.engine.core.observation import ObservationLayout
from chatiere.engine.games.chatpentiers import state

# The bonus for one more perfect section, indexed by the number of perfect sections so far.
_BONUS = np.array([0, 1, 1, 2, 0])


class FittingBot(Bot):
    """A bot that chooses the card that adds the most points to its board, or costs the fewest.

    If several zones are equally good, it chooses the zone with the highest limit. It plays its highest legal card, in
    order to be the first to take a card.
    """

    title = "Fitting"
    description = "Plays its highest card, and takes the one that brings its board the most points."
    is_reproducible = True

    needs_observations = True

    def __init__(self) -> None:
        """Create a bot."""
        self._layout = ObservationLayout(engine.game("chatpentiers").description)

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        ids = decisions.legal_ids.astype(np.intp)
        values = (ids % state.VALUES).astype(np.float64)
        takes = np.flatnonzero(ids >= state.FIRST_TAKE_ID)
        if len(takes):
            rows = np.repeat(np.arange(len(decisions)), decisions.legal_counts())[takes]
            card, zone = np.divmod(ids[takes] - state.FIRST_TAKE_ID, state.ZONES)
            values[takes] = self._gains(decisions.observations, rows, card // state.VALUES, zone)
        return decisions.best_actions(values)

    def _gains(
        self, observations: NDArray[np.uint8], rows: NDArray[np.intp], colour: NDArray[np.intp], zone: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        # Return the change in each row's board score if a card of the colour is placed in the zone.
        seen = self._layout.arrays(observations)
        # The zero zone has the limit 0, and is never perfect.
        limits = np.zeros((len(observations), state.ZONES), np.intp)
        limits[:, :-1] = seen["section_limits"]
        limit, held = limits[rows, zone], seen["seats.cards"][rows, 0, colour].astype(np.intp)
        bonus = _BONUS[seen["seats.perfect_sections"][rows, 0]]
        lost = _BONUS[seen["seats.perfect_sections"][rows, 0].astype(np.intp) - 1]
        gains = np.where(held < limit, 1, np.where(held > limit, -1, -1 - held))
        gains += np.where(held + 1 == limit, bonus, 0) - np.where((held == limit) & (limit > 0), lost, 0)
        return gains + limit / 16


BOTS = {"fitting": FittingBot}
SECONDS = {"flat": 0.005, "ismcts": 0.008}
PUCT = None
