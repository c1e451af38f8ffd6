"""Sequential tests of a share of the wins: the likelihood ratio, the bounds, and the error rates."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chatiere.arena.sequential import Sprt

LOOK = 16
UPPER = math.log(19)
# A function that draws games from a generator, given a bot's share of the wins.
Games = Callable[[np.random.Generator, float], NDArray[np.float64]]


def ends(sprt: Sprt, shares: NDArray[np.float64], games_per_deal: int) -> str | None:
    """Return the hypothesis that is accepted first if the results are evaluated after every 16 deals."""
    for count in range(LOOK, len(shares) + 1, LOOK):
        accepted = sprt.evidence(shares[:count], games_per_deal).accepted
        if accepted is not None:
            return accepted
    return None


def rates(sprt: Sprt, shares: NDArray[np.float64], games_per_deal: int = 1) -> tuple[float, float]:
    """Return how often H0 and H1 are accepted. `shares` has the shape (pairings, deals)."""
    found = [ends(sprt, each, games_per_deal) for each in shares]
    return found.count("H0") / len(found), found.count("H1") / len(found)


def wins(generator: np.random.Generator, share: float) -> NDArray[np.float64]:
    """Return 500 pairings of 1,600 games, won or lost."""
    return (generator.random((500, 1600)) < share).astype(np.float64)


def shared(generator: np.random.Generator, share: float) -> NDArray[np.float64]:
    """Return 500 pairings of 1,600 games, a third of which are shared wins."""
    return np.where(generator.random((500, 1600)) < 1 / 3, 0.5, generator.random((500, 1600)) < (share - 1 / 6) * 1.5)


def pairs(generator: np.random.Generator, share: float) -> NDArray[np.float64]:
    """Return 500 pairings of 1,600 deals of two games. Luck decides most deals, so each bot wins one of their games."""
    lucky = generator.random((500, 1600)) < 0.6
    return np.where(lucky, 0.5, generator.random((500, 1600)) < (share - 0.3) / 0.4)


def independent_pairs(generator: np.random.Generator, share: float) -> NDArray[np.float64]:
    """Return 500 pairings of 1,600 deals of two games without luck."""
    return generator.binomial(2, share, (500, 1600)) / 2


@pytest.mark.parametrize(
    ("games", "games_per_deal", "shares"),
    [
        (wins, 1, (0.5, 0.6)),
        (wins, 1, (0.1, 0.15)),
        (shared, 1, (0.5, 0.6)),
        (pairs, 2, (0.5, 0.55)),
        (pairs, 2, (0.45, 0.5)),
        (independent_pairs, 2, (0.5, 0.6)),
        (independent_pairs, 2, (0.9, 0.95)),
    ],
)
def test_errors_are_as_rare_as_the_bounds_promise(
    games: Games, games_per_deal: int, shares: tuple[float, float]
) -> None:
    sprt = Sprt(*shares)
    right, wrong = rates(sprt, games(np.random.default_rng(1), sprt.p0), games_per_deal)
    # For 500 pairings, 0.08 is three standard deviations above 0.05.
    assert wrong <= 0.08
    assert right >= 0.9
    wrong, right = rates(sprt, games(np.random.default_rng(2), sprt.p1), games_per_deal)
    assert wrong <= 0.08
    assert right >= 0.9


def test_error_rates_are_the_requested_ones() -> None:
    # With steps that are small compared with the bounds, Wald's rates are nearly exact.
    sprt = Sprt(0.5, 0.55, 0.2, 0.1)
    assert rates(sprt, wins(np.random.default_rng(3), 0.5))[1] == pytest.approx(0.2, abs=0.06)
    assert rates(sprt, wins(np.random.default_rng(4), 0.55))[0] == pytest.approx(0.1, abs=0.04)


def test_deals_decided_by_luck_take_fewer_games_than_single_games() -> None:
    sprt = Sprt(0.5, 0.55)
    generator = np.random.default_rng(5)
    deals = pairs(generator, 0.55)[0]
    first, second = np.floor(deals), np.ceil(deals)
    games = np.stack([first, second], axis=1).ravel()

    def taken(shares: NDArray[np.float64], games_per_deal: int) -> int:
        return next(
            evidence.games
            for count in range(LOOK, len(shares), LOOK)
            if (evidence := sprt.evidence(shares[:count], games_per_deal)).accepted == "H1"
        )

    assert taken(deals, 2) < taken(games, 1)


def test_the_ratio_of_games_is_their_likelihood_ratio() -> None:
    shares = np.array([1.0, 0, 1, 1, 0.5])
    evidence = Sprt(0.5, 0.6).evidence(shares, 1)
    likelihoods = [p**3.5 * (1 - p) ** 1.5 for p in (0.5, 0.6)]
    assert evidence.llr == pytest.approx(math.log(likelihoods[1] / likelihoods[0]))
    assert evidence.games == 5
    assert (evidence.lower, evidence.upper) == pytest.approx((-UPPER, UPPER))
    assert evidence.accepted is None


def test_the_ratio_of_deals_is_a_ratio_of_normal_likelihoods() -> None:
    shares = np.array([1.0, 0.5, 0.5, 1, 0, 0.5])
    evidence = Sprt(0.5, 0.6).evidence(shares, 2)
    with_prior = np.append(shares, [0, 1])
    # The likelihood of a normal sample at the best variance is proportional to that variance to the power -n / 2.
    variances = [float(((with_prior - p) ** 2).mean()) for p in (0.5, 0.6)]
    assert evidence.llr == pytest.approx(6 / 2 * math.log(variances[0] / variances[1]))
    assert evidence.games == 12


@given(
    st.lists(st.sampled_from([0, 0.25, 1 / 3, 0.5, 1]), min_size=1, max_size=50),
    st.sampled_from([(0.5, 0.55), (0.2, 0.5), (0.01, 0.99)]),
    st.sampled_from([1, 2, 3]),
)
def test_a_test_and_its_mirror_image_agree(
    shares: list[float], bounds: tuple[float, float], games_per_deal: int
) -> None:
    low, high = bounds
    one = Sprt(low, high, 0.05, 0.1).evidence(np.array(shares), games_per_deal)
    # The other bots' shares are 1 minus this bot's shares.
    other = Sprt(1 - high, 1 - low, 0.1, 0.05).evidence(1 - np.array(shares), games_per_deal)
    assert math.isfinite(one.llr)
    assert other.llr == pytest.approx(-one.llr, abs=1e-9)
    assert (other.lower, other.upper) == pytest.approx((-one.upper, -one.lower))


@pytest.mark.parametrize("games_per_deal", [1, 2])
def test_identical_deals_are_decided_by_their_number(games_per_deal: int) -> None:
    sprt = Sprt(0.5, 0.6)
    assert ends(sprt, np.ones(LOOK * 2), games_per_deal) == "H1"
    assert ends(sprt, np.zeros(LOOK * 2), games_per_deal) == "H0"
    assert sprt.evidence(np.ones(1), games_per_deal).accepted is None


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0.6, 0.5), "must be 0 < p0 < p1 < 1, not 0.6 and 0.5"),
        ((0.5, 0.5), "p0 < p1"),
        ((0, 0.5), "0 < p0"),
        ((0.5, 1), "p1 < 1"),
        ((math.nan, 0.5), "not nan and 0.5"),
        ((0.4, 0.5, 0, 0.05), "error rates of a sequential test must be between 0 and 0.5, not 0 and 0.05"),
        ((0.4, 0.5, 0.05, 0.5), "error rates"),
        ((0.4, 0.5, 0.05, math.nan), "error rates"),
    ],
)
def test_numbers_out_of_range_are_refused(numbers: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sprt(*numbers)
