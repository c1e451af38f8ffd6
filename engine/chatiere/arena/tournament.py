"""Tournaments in which each bot plays against every other bot: win rates, ratings, and the balance of the games.

Ratings need the extra `chatiere[arena]`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatiere import bots, engine
from chatiere.arena.balance import Balance, Course
from chatiere.arena.matches import LostGames, Results, play_many
from chatiere.arena.sequential import Evidence, Sprt
from chatiere.bots import Bot
from chatiere.engine.core.integers import require_integer, unsigned
from chatiere.envs import TableEnv

if TYPE_CHECKING:
    from openskill.models import PlackettLuce

_GAMES_AT_ONCE = 1024
# The number of games that the single bot plays in each seat between two evaluations of a sequential test.
_GAMES_BETWEEN_LOOKS = 16


class Pairing(NamedTuple):
    """The indices of two bots of an arena: `alone` has a single seat, and `others` has all other seats."""

    alone: int
    others: int


class Rate(NamedTuple):
    """The win rate of the bot that has one seat, 0 to 1, with the bounds of the 95 % interval."""

    wins: float
    low: float
    high: float


class Rating(NamedTuple):
    """A bot's rating by openskill's Plackett-Luce model. The model describes skill by a normal distribution."""

    bot: str
    mu: float
    """The mean of the skill. Every bot begins with 25."""
    sigma: float
    """The standard deviation of the skill."""
    ordinal: float
    """mu - 3 sigma. The skill very likely exceeds this value."""


@dataclass(frozen=True)
class Arena:
    """The settings of a tournament. They determine its games.

    Raises:
        EngineError: If the game is unknown, or the number of players or an option is invalid.
        ValueError: If a number is out of range, no bots are given, or a bot is unknown or given twice.
        TypeError: If a number is not an integer.
    """

    game: str
    """The game's name."""
    players: int
    """The number of players."""
    bots: tuple[str, ...]
    """The bots, in the syntax of `bots.get`. A single bot plays against itself."""
    games: int
    """The number of games of each pairing, two or more. With a sequential test, this is the maximum. All pairings play
    the same game numbers, beginning with 0. For paired deals, the number must be a multiple of the number of players,
    with two deals or more."""
    seed: int = 1
    """The seed of the games and of the bots."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of all games, by name. Options that are not set have their defaults."""
    paired: bool = False
    """True to play each game number with every rotation of the bots' seats, so that luck in the deal cancels out."""
    sprt: Sprt | None = None
    """The sequential test that ends a pairing early. It tests the wins of the bot that has a single seat."""

    def __post_init__(self) -> None:
        """Check all fields."""
        engine.game(self.game).new_game(self.players, self.options, seed=0)
        if require_integer("games", self.games) < 2:
            raise ValueError(f"games must be 2 or more, not {self.games}")
        if self.paired and (self.games % self.players or self.games < 2 * self.players):
            raise ValueError(
                f"with paired deals, games must be a multiple of {self.players}, at least {2 * self.players}, "
                f"not {self.games}"
            )
        unsigned("seed", self.seed, 64)
        for number, bot in enumerate(self.bots):
            bots.get(bot, self.game, self.players)
            if bot in self.bots[:number]:
                raise ValueError(f"bot {bot!r} is given twice")
        if not self.bots:
            raise ValueError("bots must have one or more items")
        if len(self.bots) == 1 and (self.paired or self.sprt is not None):
            raise ValueError("paired deals and sequential tests compare bots: there must be two or more")

    def pairings(self) -> list[Pairing]:
        """Return the pairings of the tournament, one for every pair of bots.

        With more than two players, every pair of bots has two pairings. In each of them, a different bot has the single
        seat. A single bot is paired with itself.
        """
        if len(self.bots) == 1:
            return [Pairing(0, 0)]
        pairs = combinations(range(len(self.bots)), 2)
        if self.players == 2:
            return [Pairing(*pair) for pair in pairs]
        return [pairing for one, other in pairs for pairing in (Pairing(one, other), Pairing(other, one))]

    def extent(self) -> str:
        """Return the number of games per pairing, in words."""
        most = "at most " if self.sprt is not None else ""
        deals = f" ({self.games // self.players:,} deals, seats rotated)" if self.paired else ""
        return f"{most}{self.games:,} games{deals}"

    def unrepeatable(self) -> list[str]:
        """Return the bots whose choices may differ when games are repeated, for example bots with a time limit."""
        return [bot for bot in self.bots if not bots.get(bot, self.game, self.players).is_reproducible]

    def play(
        self,
        pairing: Pairing,
        report: Callable[[int], object] | None = None,
        failed: Callable[[str, int, str], object] | None = None,
    ) -> tuple[Results, Balance]:
        """Play the games of a pairing, and return their results and balance.

        The single bot changes its seat in each game, so that it plays every seat. In the results, this bot is bot 0,
        and the games of a paired deal are consecutive. A sequential test evaluates the results after every 16 games in
        each seat, regardless of the number of games that are played at a time.

        Args:
            pairing: The pairing.
            report: A function that is called with the number of games that just ended.
            failed: A function that is called when a bot raises Forfeit, with the bot, the number of games that the bot
                loses by it, and the reason. None means that the error is raised.
        """
        specs = [self.bots[pairing.alone], *[self.bots[pairing.others]] * (self.players - 1)]
        seated = [bots.get(spec, self.game, self.players) for spec in specs]
        rotations = self.players if self.paired else 1
        deals = self.games // rotations
        results = [Results.of(deals, self.players, self.players) for _ in range(rotations)]
        courses = [Course.of(self.game, self.players, deals, self.seed, self.options) for _ in range(rotations)]
        between_looks = deals if self.sprt is None else _GAMES_BETWEEN_LOOKS * self.players // rotations
        shares = np.empty(deals)
        last = 0
        while last < deals:
            first, last = last, min(last + between_looks, deals)
            for shift in range(rotations):
                rotated, names = seated[shift:] + seated[:shift], specs[shift:] + specs[:shift]
                lost = None if failed is None else LostGames(_named(names, failed))
                self._play_games(rotated, first, last, results[shift], courses[shift], report, lost)
            if self.sprt is not None:
                looked_at = Results.of_rotations(results, first, last)
                shares[first:last] = looked_at.deal_means(looked_at.wins(0))
                if self.sprt.evidence(shares[:last], rotations).accepted is not None:
                    break
        played = Results.of_rotations(results, 0, last)
        return played, Balance.of(played, Course.of_rotations(courses, last))

    def _play_games(
        self,
        seated: Sequence[Bot],
        first: int,
        last: int,
        results: Results,
        course: Course,
        report: Callable[[int], object] | None,
        lost: LostGames | None,
    ) -> None:
        with TableEnv(
            self.game,
            self.players,
            num_envs=min(_GAMES_AT_ONCE, last - first),
            games=last - first,
            first_game=first,
            options=self.options,
            observations=any(bot.needs_observations for bot in seated),
        ) as env:
            for batch, actions in play_many(env, seated, self.seed, lost):
                results.add(batch.ended)
                course.add(batch, actions)
                if report is not None:
                    report(len(batch.ended.envs))
        if lost is not None:
            lost.settle(results)

    def win_rates(self, played: Mapping[Pairing, Results]) -> NDArray[np.float64]:
        """Return a matrix of win rates: each row's bot, with a single seat, against each column's bot.

        Args:
            played: The results of all pairings.

        Returns:
            float64 (bots, bots). The diagonal is NaN.
        """
        rates = np.full((len(self.bots), len(self.bots)), np.nan)
        for pairing, results in played.items():
            rates[pairing] = win_rate(results).wins
            if self.players == 2:
                rates[pairing[::-1]] = 1 - rates[pairing]
        return rates

    def rate_bots(
        self, played: Mapping[Pairing, Results], report: Callable[[int], object] | None = None
    ) -> list[Rating]:
        """Rate two or more bots by the games of all pairings, and return the ratings, the best first.

        The winners of a game share the first place, and the losers share the second. Games are rated in the order of
        their numbers. For each number, the games of all pairings are rated in turn.

        Args:
            played: The results of all pairings.
            report: A function that is called with the number of games just rated.

        Raises:
            ImportError: If openskill is not installed.
        """
        # tau is the assumed change in skill from game to game. It is 0, because the skill of a bot does not change.
        model = import_model()(tau=0.0)
        start = model.rating()
        found = np.tile([start.mu, start.sigma], (len(self.bots), 1))
        for number in range(self.games):
            playing = {pairing: results for pairing, results in played.items() if number < len(results.lengths)}
            for pairing, results in playing.items():
                seated = np.where(results.bots[number] == 0, pairing.alone, pairing.others)
                # A loser has the return -1.
                places = (results.returns[number] <= -1).astype(np.float64).tolist()
                teams = model.rate([[model.rating(*found[bot].tolist())] for bot in seated], ranks=places)
                after = np.array([(seat.mu, seat.sigma) for (seat,) in teams])
                for bot in pairing:
                    # Add the changes in the mean at a bot's seats, so that points that a bot wins from itself cancel
                    # out. Do not add the changes in the deviation, because a bot at several seats has played only one
                    # game.
                    mus, sigmas = after[seated == bot].T
                    found[bot] = found[bot][0] + (mus - found[bot][0]).sum(), sigmas.mean()
            if report is not None:
                report(len(playing))
        rated = [
            Rating(name, mu, sigma, mu - 3 * sigma) for name, (mu, sigma) in zip(self.bots, found.tolist(), strict=True)
        ]
        return sorted(rated, key=lambda rating: -rating.mu)

    def figures(
        self, played: Mapping[Pairing, Results], balances: Mapping[Pairing, Balance], rated: Sequence[Rating]
    ) -> dict[str, Any]:
        """Return all statistics, and the settings on which they depend, in a form that can be written as JSON.

        There are no ratings and win rates if there is only a single bot.

        Args:
            played: The results of all pairings.
            balances: The balance of all pairings.
            rated: The ratings computed from the results.
        """
        return {
            "package_version": version("chatiere"),
            "openskill_version": version("openskill"),
            "game": self.game,
            "rules_version": engine.game(self.game).rules_version,
            "players": self.players,
            "options": dict(self.options),
            "bots": list(self.bots),
            "unrepeatable_bots": self.unrepeatable(),
            "games_per_pairing": self.games,
            "paired": self.paired,
            "sprt": None if self.sprt is None else asdict(self.sprt),
            "seed": self.seed,
            "even_share": 1 / self.players,
            "pairings": [
                {
                    "bot": self.bots[pairing.alone],
                    "others": self.bots[pairing.others],
                    **(win_rate(results)._asdict() if rated else {}),
                    **({} if self.sprt is None else {"sprt": evidence(self.sprt, results)._asdict()}),
                    "balance": balances[pairing].figures(),
                }
                for pairing, results in played.items()
            ],
            "ratings": [rating._asdict() for rating in rated],
        }


def _named(names: Sequence[str], failed: Callable[[str, int, str], object]) -> Callable[[int, int, str], object]:
    return lambda bot, games, reason: failed(names[bot], games, reason)


def win_rate(results: Results) -> Rate:
    """Return the win rate of bot 0. Of a win shared by w seats, each seat gets 1 / w."""
    wins = results.wins(0)
    return Rate(float(wins.mean()), *results.share_interval(wins))


def evidence(sprt: Sprt, results: Results) -> Evidence:
    """Return the evidence from the results about the share of the wins of bot 0."""
    return sprt.evidence(results.deal_means(results.wins(0)), results.games_per_deal)


def import_model() -> "type[PlackettLuce]":
    """Return openskill's PlackettLuce class. Raises ImportError with the extra to install."""
    try:
        from openskill.models import PlackettLuce
    except ImportError as error:
        raise ImportError("ratings need openskill: pip install 'chatiere[arena]'") from error
    return PlackettLuce
