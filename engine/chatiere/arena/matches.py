"""Playing many games between bots at a time, and their results."""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.bots import Bot, Decisions, Forfeit, Judgement, hosting
from chatiere.bots.network import draw
from chatiere.engine.core import choices
from chatiere.engine.core.integers import require_integer
from chatiere.envs.batch import Batch, Ended
from chatiere.envs.batch_env import BatchEnv

_Element = TypeVar("_Element", bound=np.generic)
# The numbers of the random streams for exploration. The bots have other streams.
_OF_OPENINGS, _OF_TEMPERATURE = np.uint64(1), np.uint64(2)
# The quantile of the normal distribution for 95 % intervals.
_Z = statistics.NormalDist().inv_cdf(0.975)


def bots_of(game_numbers: NDArray[np.uint64], seats: NDArray[np.int8], bots: int) -> NDArray[np.uint64]:
    """Return the index of the bot that plays each of the given seats.

    The bots alternate around the table, shifted by one seat in each game, so each bot plays every seat equally often.

    Args:
        game_numbers: The game numbers.
        seats: The seats.
        bots: The number of bots.
    """
    return (game_numbers + seats.astype(np.uint64)) % np.uint64(bots)


def play_many(
    env: BatchEnv, bots: Sequence[Bot], seed: SupportsIndex, lost: "LostGames | None" = None
) -> Iterator[tuple[Batch, NDArray[np.uint16]]]:
    """Play all games of an environment with a limited number of games. `bots_of` assigns bots to seats.

    Args:
        env: The environment. It must have observations if a bot needs them.
        bots: The bots.
        seed: The seed of the games and of the bots, 0 … 2**64 - 1.
        lost: Receives the games in which a bot fails. None means that its Forfeit is raised.

    Yields:
        Each batch with the chosen actions. The last batch has no positions.
    """
    for batch, searched in search_many(env, bots, seed, lost=lost):
        yield batch, searched.actions


class Searched(NamedTuple):
    """The actions that bots chose at n decisions, and the results of the searches for them."""

    actions: NDArray[np.uint16]
    """uint16 (n,): the dense ids of the chosen actions."""
    bots: NDArray[np.uint16]
    """uint16 (n,): the indices of the bots that chose."""
    visit_shares: NDArray[np.float32]
    """float32, for each of the legal ids: the action's share of the search (see Judgement). NaN if the bot gave no
    shares."""
    action_values: NDArray[np.float32]
    """float32, for each of the legal ids: the return that the actor can expect after the action (see Judgement). NaN if
    the bot gave no values."""
    values: NDArray[np.float32]
    """float32 (n,): the return that the actor can expect after the chosen action. NaN if the bot gave no values."""


@dataclass(frozen=True)
class Exploration:
    """Variation added to the bots' own choices. It depends only on the seed, the game number and the ply.

    Raises:
        ValueError: If a number is out of range.
    """

    random_plies: int = 0
    """The number of decisions at the beginning of each game that are made uniformly at random, not by the bots."""
    temperature: float = 0.0
    """With 0, the bots' own choices are played. Above 0, if a bot gives shares, the action is drawn with probabilities
    proportional to shares ** (1 / temperature)."""
    temperature_plies: int = 2**32 - 1
    """The number of decisions at the beginning of each game to which `temperature` applies."""

    def __post_init__(self) -> None:
        """Check all fields."""
        for name in ("random_plies", "temperature_plies"):
            if not 0 <= require_integer(name, getattr(self, name)) < 2**32:
                raise ValueError(f"{name} must be from 0 to 2**32 - 1, not {getattr(self, name)}")
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"temperature must be a number, 0 or more, not {self.temperature}")


def search_many(
    env: BatchEnv,
    bots: Sequence[Bot],
    seed: SupportsIndex,
    exploration: Exploration | None = None,
    lost: "LostGames | None" = None,
) -> Iterator[tuple[Batch, Searched]]:
    """Play in the same way as `play_many`, and yield the results of the bots' searches as well.

    Args:
        env: See `play_many`.
        bots: See `play_many`.
        seed: See `play_many`.
        exploration: The variation added to the bots' choices. None means no variation.
        lost: See `play_many`.

    Yields:
        Each batch with the results of the searches and the chosen actions.
    """
    exploration = exploration or Exploration()
    batch = env.reset(seed)
    while len(batch):
        searched = _choose(env, batch, bots, exploration, lost)
        yield batch, searched
        batch = env.step(searched.actions)
    yield batch, _unsearched(batch)


def _unsearched(batch: Batch) -> Searched:
    return Searched(
        actions=np.empty(len(batch), np.uint16),
        bots=np.zeros(len(batch), np.uint16),
        visit_shares=np.full(len(batch.legal_ids), np.nan, np.float32),
        action_values=np.full(len(batch.legal_ids), np.nan, np.float32),
        values=np.full(len(batch), np.nan, np.float32),
    )


def _choose(
    env: BatchEnv, batch: Batch, bots: Sequence[Bot], exploration: Exploration, lost: "LostGames | None"
) -> Searched:
    game = engine.game(batch.info.name)
    luck = hosting.luck(batch.seed, batch.game_numbers, batch.decisions)
    chosen = bots_of(batch.game_numbers, batch.actors, len(bots))
    searched = _unsearched(batch)
    searched.bots[:] = chosen
    at_random = batch.decisions < exploration.random_plies
    if lost is not None:
        at_random |= lost.among(batch.game_numbers)
    if at_random.any():
        # These random numbers are independent of those that the bots use.
        drawn = choices.random_actions(batch.legal_offsets, batch.legal_ids, choices.scramble(luck + _OF_OPENINGS))
        searched.actions[at_random] = drawn[at_random]
    for number, bot in enumerate(bots):
        asked = (chosen == number) & ~at_random
        rows = np.flatnonzero(asked)
        if not len(rows):
            continue
        decisions = hosting.decisions_of(batch, rows, bot, game, env.players, luck[rows], env.resample)
        try:
            judgement = hosting.judge(bot, decisions)
        except Forfeit as forfeit:
            if lost is None:
                raise
            lost.add(batch.game_numbers[rows[forfeit.rows]], number, str(forfeit))
            judgement = forfeit.judgement
        searched.actions[rows] = judgement.actions
        if judgement.shares.size:
            searched.visit_shares[np.repeat(asked, batch.legal_counts())] = judgement.shares
            if exploration.temperature:
                warm = batch.decisions[rows] < exploration.temperature_plies
                warmed = _drawn(decisions, judgement.shares, exploration.temperature)
                searched.actions[rows[warm]] = warmed[warm]
        if judgement.values.size:
            searched.action_values[np.repeat(asked, batch.legal_counts())] = judgement.values
            made = Judgement(searched.actions[rows], judgement.values, judgement.shares)
            searched.values[rows] = made.chosen_values(decisions)
    return searched


class LostGames:
    """The games that bots lost because they failed. The rest of such a game is played at random."""

    def __init__(self, report: Callable[[int, int, str], object]) -> None:
        """Create an empty collection.

        Args:
            report: A function that is called at a failure with the bot's index, the number of games that the bot loses
                by it, and the reason.
        """
        self._report = report
        self._bots: dict[int, int] = {}

    def add(self, game_numbers: NDArray[np.uint64], bot: int, reason: str) -> None:
        """Add games that a bot lost."""
        self._bots |= dict.fromkeys(game_numbers.tolist(), bot)
        self._report(bot, len(game_numbers), reason)

    def among(self, game_numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return whether each of some games is lost."""
        return np.isin(game_numbers, np.array(list(self._bots), np.uint64))

    def settle(self, results: "Results") -> None:
        """Replace the returns of the lost games: all seats share the win, except those of the bot that failed."""
        for game, bot in self._bots.items():
            failed = results.bots[game] == bot
            results.returns[game] = np.where(failed, -1, len(failed) / max(1, int(np.count_nonzero(~failed))) - 1)


def _drawn(decisions: Decisions, shares: NDArray[np.float64], temperature: float) -> NDArray[np.uint16]:
    starts, counts = decisions.legal_offsets[:-1], decisions.legal_counts()
    # Scale the largest weight to 1, because with a low temperature all weights could otherwise become 0.
    weights = (shares / np.repeat(np.maximum.reduceat(shares, starts), counts)) ** (1 / temperature)
    luck = choices.scramble(decisions.luck + _OF_TEMPERATURE)
    return decisions.legal_ids[draw(decisions.legal_offsets, weights, luck)]


@dataclass(frozen=True)
class Results:
    """The results of G games, indexed by game number."""

    bots: NDArray[np.uint16]
    """uint16 (G, players): the bot that played each seat, as in `bots_of`."""
    lengths: NDArray[np.uint32]
    """uint32 (G,): the number of decisions."""
    returns: NDArray[np.float32]
    """float32 (G, players): players / w - 1 for each of w winners, and -1 for every other seat."""
    totals: NDArray[np.int32]
    """int32 (G, players): each seat's score, in the game's own points."""
    games_per_deal: int = 1
    """The number of consecutive games that have the same deal. Games of different deals are independent."""

    @classmethod
    def of(cls, games: int, players: int, bots: int) -> Self:
        """Return the results for `games` games between `bots` bots, with zeros until the games are added."""
        numbers, seats = np.arange(games, dtype=np.uint64), np.arange(players, dtype=np.int8)
        return cls(
            bots=bots_of(numbers[:, None], seats, bots).astype(np.uint16),
            lengths=np.zeros(games, np.uint32),
            returns=np.zeros((games, players), np.float32),
            totals=np.zeros((games, players), np.int32),
        )

    @classmethod
    def of_rotations(cls, rotations: Sequence[Self], first: int, last: int) -> Self:
        """Return the results of the deals first … last - 1, with the games of each deal one after another.

        Args:
            rotations: Several results of the same game numbers. There are as many bots as seats. In the results at
                index `i`, the bots are shifted by `i` seats.
            first: The first deal.
            last: The deal after the last one.
        """
        players = rotations[0].bots.shape[1]
        return cls(
            bots=interleave([(each.bots[first:last] + shift) % players for shift, each in enumerate(rotations)]),
            lengths=interleave([each.lengths[first:last] for each in rotations]),
            returns=interleave([each.returns[first:last] for each in rotations]),
            totals=interleave([each.totals[first:last] for each in rotations]),
            games_per_deal=len(rotations),
        )

    def add(self, ended: Ended) -> None:
        """Add games that ended."""
        self.lengths[ended.game_numbers] = ended.lengths
        self.returns[ended.game_numbers] = ended.returns
        self.totals[ended.game_numbers] = ended.totals

    def returns_of(self, bot: int) -> NDArray[np.float32]:
        """Return the return of each seat that a bot played: float32 (k,), in the order of games and seats."""
        found: NDArray[np.float32] = self.returns[self.bots == bot]
        return found

    def wins(self, bot: int) -> NDArray[np.float64]:
        """Return a bot's share of the win, 0 to 1, in each game where it had a seat: float64 (k,)."""
        seats = self.bots == bot
        players = seats.shape[1]
        # A winner's return is players / w - 1, so (return + 1) / players is its share 1 / w of the win.
        shares: NDArray[np.float64] = ((self.returns.astype(np.float64) + 1) / players * seats).sum(axis=1)
        of_bot: NDArray[np.float64] = shares[seats.any(axis=1)]
        return of_bot

    def deal_means(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean of each deal.

        Args:
            values: (G,), a value for each game.

        Returns:
            float64 (G / games_per_deal,).
        """
        means: NDArray[np.float64] = values.reshape(-1, self.games_per_deal).mean(axis=1)
        return means

    def share_interval(self, shares: NDArray[Any]) -> tuple[float, float]:
        """Return the 95 % interval of a mean share: `deals_interval` for paired deals, otherwise `wilson_interval`.

        Args:
            shares: (G,), the share in each game, 0 to 1.
        """
        if self.games_per_deal == 1:
            return wilson_interval(float(shares.mean()), len(shares))
        return deals_interval(self.deal_means(shares))


def interleave(arrays: Sequence[NDArray[_Element]]) -> NDArray[_Element]:
    """Return an array of the first rows of all arrays, then their second rows, and so on. The shapes must be equal."""
    return np.stack(arrays, axis=1).reshape(-1, *arrays[0].shape[1:])


def wilson_interval(rate: float, count: int) -> tuple[float, float]:
    """Return the 95 % score interval (E. B. Wilson, 1927) of a rate.

    The interval is also valid for shared wins, because values between 0 and 1 do not vary more than wins and losses
    with the same mean.

    Args:
        rate: The observed rate, 0 to 1.
        count: The number of games in which the rate was observed.
    """
    middle = rate + _Z * _Z / (2 * count)
    half = _Z * math.sqrt(rate * (1 - rate) / count + _Z * _Z / (4 * count * count))
    scale = 1 + _Z * _Z / count
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def deals_interval(means: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % interval of a mean share.

    The interval assumes a normal distribution with the variance between deals. One deal won and one deal lost are added
    (after A. Agresti, B. A. Coull, 1998), so that the interval is not too narrow for few deals or equal results.

    Args:
        means: (n,), the mean shares of deals, 0 to 1.
    """
    added = np.append(means, [0.0, 1.0])
    half = _Z * float(added.std(ddof=1)) / math.sqrt(len(added))
    return max(0.0, float(added.mean()) - half), min(1.0, float(added.mean()) + half)


def ratio_interval(parts: NDArray[Any], wholes: NDArray[Any]) -> tuple[float, float]:
    """Return the 95 % interval of sum(parts) / sum(wholes).

    The interval assumes a normal distribution with the variance of the ratio estimator, because games are independent
    but events within one game are not.

    Args:
        parts: The numerator for each game, or for each deal if deals are paired. There must be two or more.
        wholes: The denominator for each game or deal.
    """
    count, mean = len(parts), float(wholes.mean())
    ratio = float(parts.mean()) / mean
    deviations = parts - ratio * wholes
    half = _Z * math.sqrt(float(deviations @ deviations) / (count * (count - 1))) / mean
    return max(0.0, ratio - half), ratio + half
