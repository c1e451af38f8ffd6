"""The balance of a game between given bots: its length, the first seat's advantage, and the actions played."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.arena.matches import Results, interleave, ratio_interval
from chatiere.engine.core.events import EventLog
from chatiere.envs import Batch


class Estimate(NamedTuple):
    """A mean over games, with the bounds of its 95 % confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Course:
    """The first seats and numbers of decisions of G games, indexed by game number."""

    first_seats: NDArray[np.int8]
    """int8 (G,): the first seat, chosen by the game's first chance event."""
    kinds: dict[str, NDArray[np.uint32]]
    """For the name of each kind of action, uint32 (G,): the number of these actions in each game."""

    @classmethod
    def of(cls, game: str, players: int, games: int, seed: int, options: Mapping[str, Any] | None = None) -> Self:
        """Return the first seats of a seed's games 0 … games - 1, with zeros as the numbers of decisions.

        Args:
            game: The name of the game.
            players: The number of players.
            games: The number of games.
            seed: The seed of the games.
            options: The options of all games, by name. Options that are not set have their defaults.
        """
        rules = engine.game(game)
        first_seats = [_first_seat(rules, players, options, seed, number) for number in range(games)]
        return cls(
            first_seats=np.array(first_seats, np.int8),
            kinds={kind.name: np.zeros(games, np.uint32) for kind in rules.description.action_kinds},
        )

    @classmethod
    def of_rotations(cls, rotations: Sequence[Self], last: int) -> Self:
        """Return the courses of the deals 0 … last - 1, in the order of `Results.of_rotations`."""
        return cls(
            first_seats=interleave([each.first_seats[:last] for each in rotations]),
            kinds={name: interleave([each.kinds[name][:last] for each in rotations]) for name in rotations[0].kinds},
        )

    def add(self, batch: Batch, actions: NDArray[np.uint16]) -> None:
        """Count the actions that were chosen at a batch's positions."""
        for kind in batch.info.action_kinds:
            chosen = (kind.first_id <= actions) & (actions <= kind.last_id)
            self.kinds[kind.name][batch.game_numbers[chosen]] += 1


class Balance(NamedTuple):
    """The statistics of two or more deals.

    `Results.share_interval` gives the intervals of `first_seat` and `shared`. The other intervals assume a normal
    distribution.
    """

    length: Estimate
    """The number of decisions in a game."""
    median_length: int
    shortest: int
    longest: int
    shared: Estimate
    """The proportion of games that several seats won."""
    first_seat: Estimate
    """The proportion of wins by the seat that began. Of a win shared by w seats, each seat gets 1 / w."""
    kinds: dict[str, Estimate]
    """The proportion of all decisions for the name of each kind of action."""

    @classmethod
    def of(cls, results: Results, course: Course) -> Self:
        """Return the statistics of games that were played."""
        lengths = results.deal_means(results.lengths)
        games, players = results.returns.shape
        # A winner's return is players / w - 1.
        wins = (results.returns.astype(np.float64) + 1) / players
        return cls(
            length=_ratio(lengths, np.ones(len(lengths))),
            median_length=int(np.quantile(results.lengths, 0.5, method="inverted_cdf")),
            shortest=int(results.lengths.min()),
            longest=int(results.lengths.max()),
            shared=_share(results, (wins > 0).sum(axis=1) > 1),
            first_seat=_share(results, wins[np.arange(games), course.first_seats]),
            kinds={name: _ratio(results.deal_means(counts), lengths) for name, counts in course.kinds.items()},
        )

    def figures(self) -> dict[str, Any]:
        """Return the statistics in a form that can be written as JSON."""
        return {
            "length": self.length._asdict(),
            "median_length": self.median_length,
            "shortest": self.shortest,
            "longest": self.longest,
            "shared": self.shared._asdict(),
            "first_seat": self.first_seat._asdict(),
            "kinds": {name: share._asdict() for name, share in self.kinds.items()},
        }


def _first_seat(
    rules: engine.Game, players: int, options: Mapping[str, Any] | None, seed: int, game_number: int
) -> int:
    # Return the first seat from the first chance event. The first seat does not always decide first, because in some
    # games it sets up last.
    events = EventLog()
    rules.new_game(players, options, seed=seed, game_number=game_number, events=events)
    seat = events[0].seat
    assert seat is not None
    return seat


def _share(results: Results, shares: NDArray[Any]) -> Estimate:
    return Estimate(float(shares.mean()), *results.share_interval(shares))


def _ratio(parts: NDArray[Any], wholes: NDArray[np.float64]) -> Estimate:
    return Estimate(float(parts.sum() / wholes.sum()), *ratio_interval(parts, wholes))
