"""A bot that judges actions by playouts from worlds."""

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Decisions, Judgement, SearchBot
from chatiere.bots.temperature import draw_actions, read_temperature
from chatiere.bots.trials import policy_of, sums_of_returns

# The number of worlds drawn at a time.
_WORLDS = 64
# The number of worlds over which the policy's probabilities are averaged, to choose the candidates.
_ASKED = 8
# The minimum number of playouts for each candidate in the first round.
_TRIES = 4
# The strength of the bonus for an action that the policy prefers. For each factor of 2 ** (1 / 4) in the action's
# probability, the mean of n playouts is increased by players × _PRIOR / (_VISITS + n). With few playouts, the policy
# therefore decides.
_PRIOR = 0.5
_VISITS = 50
# For each k from 1 on, the smallest integer that is at least 2 ** (k / 4).
_QUARTERS = np.array([isqrt(isqrt((1 << k) - 1)) + 1 for k in range(1, 96)], np.int64)


class FlatBot(SearchBot):
    """A bot for any game that tries actions in drawn worlds, and plays each world to its end by the game's policy.

    In each round, the bot keeps the half of the actions with the highest mean returns. It chooses the action that
    remains in the end. Among equals, it prefers the lowest dense id. This is sequential halving (Karnin, Koren, Somekh
    2013, "Almost optimal exploration in multi-armed bandits"). The means include a bonus for actions that the policy
    prefers. This bonus shrinks with the number of playouts (Danihelka et al. 2022, "Policy improvement by planning with
    Gumbel", without noise).
    """

    title = "Playouts"
    description = "Tries legal actions in many games played out by a simple rule, better actions more often."
    is_reproducible = True

    def __init__(self, playouts: int, temperature: int = 0) -> None:
        """Create a bot.

        Args:
            playouts: The number of playouts for each decision, 1 or more. Each action tried gets at least one playout.
            temperature: The temperature of the bot's mistakes (see `draw_actions`), 0 … 1000. 0 means no mistakes.
        """
        self.budget = playouts
        self._temperature = read_temperature(temperature)

    def judge(self, decisions: Decisions) -> Judgement:
        """See Bot.judge. A forced action is not tried, unless forced actions are hidden."""
        offsets, counts = decisions.legal_offsets, decisions.legal_counts()
        values, losses = np.full((2, len(decisions.legal_ids)), np.nan)
        shares = np.repeat(1 / counts, counts)
        actions = decisions.legal_ids[offsets[:-1]]
        for row in decisions.worth_a_search():
            legal = slice(offsets[row], offsets[row + 1])
            place, sums, tries, losses[legal] = self._halve(decisions, row, decisions.legal_ids[legal])
            actions[row] = decisions.legal_ids[legal][place]
            values[legal] = np.divide(sums, tries, out=np.full(len(sums), np.nan), where=tries > 0)
            shares[legal] = tries / tries.sum()
        return Judgement(draw_actions(decisions, actions, -losses, self._temperature), values, shares)

    def _halve(
        self, decisions: Decisions, row: np.intp, legal_ids: NDArray[np.uint16]
    ) -> tuple[int, NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        # Return the index of the chosen action among the legal actions. Also return three values for each legal action:
        # the sum of returns, the number of playouts, and the loss. The loss is relative to the best action in the last
        # round that the action reached. It is NaN for an action that was not tried.
        sums, tries = np.zeros(len(legal_ids)), np.zeros(len(legal_ids), np.int64)
        losses = np.full(len(legal_ids), np.nan)
        likely = policy_of(decisions.game, decisions.worlds([row], _ASKED)[0], legal_ids)
        priors = decisions.players * _PRIOR * np.searchsorted(_QUARTERS, likely, side="right")
        left = np.sort(np.argsort(-likely, kind="stable")[: self._candidates(len(legal_ids))])
        rounds = _rounds(len(left))
        world = 0
        for done in range(rounds):
            # Divide the remaining budget evenly among the remaining rounds.
            count = max(done == 0, (self.budget - int(tries.sum())) // ((rounds - done) * len(left)))
            for first in range(world, world + count, _WORLDS):
                worlds = decisions.worlds([row], min(_WORLDS, world + count - first), first)[0]
                sums[left] += sums_of_returns(
                    decisions.game, worlds, legal_ids[left], int(decisions.luck[row]), first, decisions.cancellation
                )
            world += count
            tries[left] += count
            looks = sums[left] / tries[left] + priors[left] / (_VISITS + tries[left])
            losses[left] = looks.max() - looks
            left = np.sort(left[np.argsort(-looks, kind="stable")][: (len(left) + 1) // 2])
        return int(left[0]), sums, tries, losses

    def _candidates(self, legal: int) -> int:
        # Return the number of actions for which the budget allows _TRIES playouts in the first round.
        while legal > 2 and legal * _rounds(legal) * _TRIES > self.budget:
            legal -= 1
        return legal


def _rounds(actions: int) -> int:
    return max(1, (actions - 1).bit_length())
