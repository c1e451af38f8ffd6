"""Sequential tests of two bots' strength. A test ends as soon as the games played are sufficient for a decision."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Evidence(NamedTuple):
    """The evidence for one of two hypotheses from the games played so far."""

    games: int
    """The number of games."""
    llr: float
    """The logarithm of the likelihood ratio of H1 to H0."""
    lower: float
    """The bound at or below which `llr` leads to the acceptance of H0."""
    upper: float
    """The bound at or above which `llr` leads to the acceptance of H1."""
    accepted: Literal["H0", "H1"] | None
    """The accepted hypothesis, or None if more games are needed."""


@dataclass(frozen=True)
class Sprt:
    """A sequential probability ratio test of a bot's share of the wins. Of a win shared by w seats, each gets 1 / w.

    The hypothesis H0 is a share of p0 or less, and H1 is a share of p1 or more.

    Raises:
        ValueError: If a number is out of range.
    """

    p0: float
    """The largest share under H0, above 0."""
    p1: float
    """The smallest share under H1, above p0 and below 1."""
    alpha: float = 0.05
    """The probability of accepting H1 if H0 is true."""
    beta: float = 0.05
    """The probability of accepting H0 if H1 is true."""

    def __post_init__(self) -> None:
        """Check all fields."""
        if not 0 < self.p0 < self.p1 < 1:
            raise ValueError(f"the shares of a sequential test must be 0 < p0 < p1 < 1, not {self.p0} and {self.p1}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError(
                f"the error rates of a sequential test must be between 0 and 0.5, not {self.alpha} and {self.beta}"
            )

    def evidence(self, shares: NDArray[np.float64], games_per_deal: int) -> Evidence:
        """Return the evidence from a bot's shares of the wins.

        The bounds are Wald's (Sequential Tests of Statistical Hypotheses, 1945). The actual error rates are close to
        the requested rates. They are not above these rates, because games are tested in groups.

        Args:
            shares: float64 (deals,), the mean share in the games of each deal, 0 to 1.
            games_per_deal: The number of games in a deal. It is 1 unless deals are paired.
        """
        lower, upper = math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)
        llr = self._of_games(shares) if games_per_deal == 1 else self._of_deals(shares)
        accepted: Literal["H0", "H1"] | None = "H1" if llr >= upper else "H0" if llr <= lower else None
        return Evidence(len(shares) * games_per_deal, llr, lower, upper, accepted)

    def _of_games(self, shares: NDArray[np.float64]) -> float:
        # Wald's test for wins and losses. The likelihood ratio is convex in the share. Its mean under H0 is therefore
        # not larger with shared wins than without, and the error rates are also valid for shared wins.
        wins = float(shares.sum())
        losses = len(shares) - wins
        return wins * math.log(self.p1 / self.p0) + losses * math.log((1 - self.p1) / (1 - self.p0))

    def _of_deals(self, shares: NDArray[np.float64]) -> float:
        # The generalised test (Li, Liu, Ying, Sequential Analysis 33, 2014) of the mean of a normal distribution with
        # unknown variance, as in LLR_alt of fishtest (M. Van den Bergh). As in `deals_interval`, one deal won and one
        # deal lost are added, to keep the variance above 0.
        first, second = (float(((shares - p) ** 2).sum()) + p**2 + (1 - p) ** 2 for p in (self.p0, self.p1))
        return len(shares) / 2 * math.log(first / second)
