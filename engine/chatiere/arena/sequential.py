"""Sequential tests of two bots' strength, which end as soon as the games played are sufficient for a decision."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Evidence(NamedTuple):
    """The evidence of the games played so far for one of two hypotheses."""

    games: int
    """The number of games."""
    llr: float
    """The logarithm of the likelihood ratio of H1 to H0."""
    lower: float
    """H0 is accepted if `llr` is no more than this."""
    upper: float
    """H1 is accepted if `llr` is no less than this."""
    accepted: Literal["H0", "H1"] | None
    """The hypothesis accepted; None: more games are needed."""


@dataclass(frozen=True)
class Sprt:
    """A sequential probability ratio test of a bot's share of the wins, where a shared win counts in parts.

    H0 is a share of p0 or less, H1 one of p1 or more.

    Raises:
        ValueError: If a number is out of range.
    """

    p0: float
    """The greatest share of H0, above 0."""
    p1: float
    """The least share of H1, above p0 and below 1."""
    alpha: float = 0.05
    """The rate at which H1 is accepted where H0 holds."""
    beta: float = 0.05
    """The rate at which H0 is accepted where H1 holds."""

    def __post_init__(self) -> None:
        """Check all fields."""
        if not 0 < self.p0 < self.p1 < 1:
            raise ValueError(f"the shares of a sequential test must be 0 < p0 < p1 < 1, not {self.p0} and {self.p1}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError(
                f"the error rates of a sequential test must be between 0 and 0.5, not {self.alpha} and {self.beta}"
            )

    def evidence(self, shares: NDArray[np.float64], games_per_deal: int) -> Evidence:
        """Return the evidence of a bot's shares of the wins.

        The bounds are Wald's (Sequential Tests of Statistical Hypotheses, 1945): the error rates are close to the
        requested ones, and not above them, since games are tested in groups.

        Args:
            shares: float64 (deals,), 0 to 1, the mean of each deal's games.
            games_per_deal: The number of games of a deal; 1 unless deals are paired.
        """
        lower, upper = math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)
        llr = self._of_games(shares) if games_per_deal == 1 else self._of_deals(shares)
        accepted: Literal["H0", "H1"] | None = "H1" if llr >= upper else "H0" if llr <= lower else None
        return Evidence(len(shares) * games_per_deal, llr, lower, upper, accepted)

    def _of_games(self, shares: NDArray[np.float64]) -> float:
        # Wald's test of wins and losses. The likelihood ratio is convex in the share. With shared wins its mean under
        # H0 is therefore no larger than without shared wins, so the error rates also hold for shared wins.
        wins = float(shares.sum())
        losses = len(shares) - wins
        return wins * math.log(self.p1 / self.p0) + losses * math.log((1 - self.p1) / (1 - self.p0))

    def _of_deals(self, shares: NDArray[np.float64]) -> float:
        # The generalised test (Li, Liu, Ying, Sequential Analysis 33, 2014) of a normal mean, the variance unknown:
        # fishtest's LLR_alt (M. Van den Bergh). A prior keeps the variance above 0, as there: one deal won and one
        # lost, as in `deals_interval`.
        first, second = (float(((shares - p) ** 2).sum()) + p**2 + (1 - p) ** 2 for p in (self.p0, self.p1))
        return len(shares) / 2 * math.log(first / second)
