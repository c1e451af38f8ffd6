"""Measurements of ladders: how often each rung finishes ahead of the next lower rung, and how long each rung thinks.

The results are written to a file repeatedly, so that a measurement can be stopped and resumed.
"""

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatiere import bots, engine
from chatiere.arena.matches import Results, deals_interval, play_many
from chatiere.bots import Bot, Decisions
from chatiere.bots.version import BOTS_VERSION
from chatiere.engine.whole_files import write_whole
from chatiere.envs import TableEnv

_DEALS_AT_ONCE = 8
# A measurement ends once the half-width of the 95 % interval is at most this number.
_PRECISION = 0.06
_TIMED_GAMES = 2
# The intended difference between two rungs, in Elo points. A bot stronger by this difference gets 65 % of the points.
_STEP = 108


class LadderError(ValueError):
    """The file contains a different measurement, or no measurement."""


@dataclass(frozen=True)
class Match:
    """Paired deals between two bots. `higher` should be stronger than `lower`."""

    players: int
    higher: str
    lower: str

    def key(self) -> str:
        """Return the match's key in the file of a measurement."""
        return f"{self.players} players: {self.higher} against {self.lower}"


class Share(NamedTuple):
    """The higher bot's share of the points, 0 to 1, with the bounds of the 95 % interval.

    Each pair of a seat of the higher bot and a seat of the lower bot is worth a point. The bot that finished ahead gets
    the point. A tie gives each bot half a point.
    """

    points: float
    low: float
    high: float
    games: int

    def is_precise(self) -> bool:
        """Return True if the interval is narrow enough to end a measurement."""
        return self.high - self.low <= 2 * _PRECISION

    def elo(self) -> float:
        """Return the difference in Elo points between the higher and the lower bot."""
        points = min(max(self.points, 0.01), 0.99)
        return 400 * math.log10(points / (1 - points))


class Measurement:
    """The measurements of a game's bots so far, stored in a file."""

    def __init__(self, game: str, seed: int, path: Path) -> None:
        """Read the file, if it exists.

        Args:
            game: The name of the game.
            seed: The seed of the games and of the bots.
            path: The file of the measurement.

        Raises:
            LadderError: If the file contains another measurement, or no measurement.
            OSError: If the file cannot be read.
        """
        self._game, self._seed, self._path = engine.game(game), seed, path
        setting = {
            "game": game,
            "seed": seed,
            "package_version": version("chatiere"),
            "rules_version": self._game.rules_version,
            "bots_version": BOTS_VERSION,
        }
        self._kept: dict[str, Any] = {"setting": setting, "deals": {}, "seconds": {}}
        if path.exists():
            try:
                self._kept = json.loads(path.read_bytes())
                found = self._kept["setting"]
            except (ValueError, TypeError, KeyError) as error:
                raise LadderError(f"{path} is no measurement of a ladder") from error
            if found != setting:
                raise LadderError(f"{path} is of another measurement: {found}, not {setting}")

    def share(self, match: Match) -> Share:
        """Return the share in the deals played so far. There must be at least two deals."""
        deals = np.array(self._kept["deals"][match.key()])
        return Share(float(deals.mean()), *deals_interval(deals), len(deals) * _games_of_deal(match.players))

    def measure(self, match: Match, games: int, report: Callable[[int], object] | None = None) -> Share:
        """Play until the interval is narrow enough or `games` games were played, and return the share.

        The interval is tested after every 8 deals. Each deal is played with all rotations of the seats. With more than
        two players, one bot has a single seat and the other bot has all other seats. Each deal is also played with
        these roles exchanged.

        Args:
            match: The match to play.
            games: The number of games after which to stop, even if the interval is not narrow enough.
            report: A function that is called with the number of games just played. Its first call counts the games that
                were already in the file.
        """
        deals: list[float] = self._kept["deals"].setdefault(match.key(), [])
        of_deal = _games_of_deal(match.players)
        if report is not None:
            report(len(deals) * of_deal)
        while not deals or (len(deals) * of_deal < games and not self.share(match).is_precise()):
            deals.extend(self._play(match, len(deals)).tolist())
            self._save()
            if report is not None:
                report(_DEALS_AT_ONCE * of_deal)
        return self.share(match)

    def seconds(self, bot: str, players: int) -> float:
        """Return a bot's mean processor time, in seconds, for a decision among several actions in self-play."""
        kept: dict[str, float] = self._kept["seconds"]
        key = f"{players} players: {bot}"
        if key not in kept:
            timed = _Timed(bots.get(bot, self._game, players))
            _play(self._game.name, [timed] * players, range(_TIMED_GAMES), self._seed)
            kept[key] = timed.seconds / timed.decisions
            self._save()
        return kept[key]

    def _play(self, match: Match, first: int) -> NDArray[np.float64]:
        higher, lower = (bots.get(spec, self._game, match.players) for spec in (match.higher, match.lower))
        deals = range(first, first + _DEALS_AT_ONCE)
        points = self._points_alone(higher, lower, match.players, deals)
        if match.players == 2:
            return points
        return (points + 1 - self._points_alone(lower, higher, match.players, deals)) / 2

    def _points_alone(self, alone: Bot, others: Bot, players: int, deals: range) -> NDArray[np.float64]:
        seated = [alone, *[others] * (players - 1)]
        rotations = [
            _play(self._game.name, seated[shift:] + seated[:shift], deals, self._seed) for shift in range(players)
        ]
        results = Results.of_rotations(rotations, deals.start, deals.stop)
        return results.deal_means(points_of(results, lowest_total_wins=self._game.description.lowest_total_wins))

    def _save(self) -> None:
        write_whole(self._path, f"{json.dumps(self._kept, indent=1)}\n".encode())


def points_of(results: Results, *, lowest_total_wins: bool) -> NDArray[np.float64]:
    """Return the proportion of the other seats that finished behind bot 0's single seat.

    A winner is ahead of a seat that did not win. Otherwise, the totals decide. A tied seat counts as half a seat.

    Returns:
        float64 (G,).
    """
    totals = -results.totals if lowest_total_wins else results.totals
    # Add a large number to the totals of winners, so that they are ahead. A seat that did not win has the return -1.
    places = totals.astype(np.int64) + (results.returns > -1) * np.int64(2**32)
    is_alone = results.bots == 0
    alone = places[is_alone][:, None]
    others = places[~is_alone].reshape(len(places), -1)
    found: NDArray[np.float64] = ((alone > others) + (alone == others) / 2).mean(axis=1)
    return found


def check_chain(chain: Sequence[str]) -> None:
    """Check the arguments of `propose`. Raises ValueError."""
    if len(chain) < 2:
        raise ValueError("there must be two bots or more to propose others between them")
    for upper, lower in pairwise(chain):
        (name, numbers), (other, others) = _parameters(upper), _parameters(lower)
        differ = {each for each in numbers | others if numbers.get(each) != others.get(each)}
        if name != other or len(differ) != 1:
            raise ValueError(f"{upper} and {lower} must differ in one parameter")


def propose(chain: Sequence[str], shares: Sequence[Share], lowest: float) -> list[str]:
    """Return 4 to 6 bots for a ladder, the weakest first.

    Each bot should get about 65 % of the points against the previous bot.

    Args:
        chain: The bots, the strongest first. Adjacent bots differ in one parameter.
        shares: For each bot except the last, its share of the points against the next bot.
        lowest: The desired number of Elo points between the first bot and the lowest rung.
    """
    below = np.concatenate([[0.0], np.cumsum([max(share.elo(), 1.0) for share in shares])])
    lowest = min(lowest, float(below[-1]))
    steps = min(max(round(lowest / _STEP), 3), 5)
    return [_between(chain, below, lowest * rung / steps) for rung in range(steps, -1, -1)]


def _between(chain: Sequence[str], below: NDArray[np.float64], points: float) -> str:
    # Return the bot that is `points` Elo points below the first bot of a chain.
    place = min(int(np.searchsorted(below, points, side="right")), len(chain) - 1)
    part = (points - below[place - 1]) / (below[place] - below[place - 1])
    (name, upper), (_, lower) = _parameters(chain[place - 1]), _parameters(chain[place])
    numbers = {parameter: _mixed(upper.get(parameter, 0), lower.get(parameter, 0), part) for parameter in upper | lower}
    return f"{name}:{','.join(f'{parameter}={number}' for parameter, number in numbers.items() if number)}"


def _parameters(bot: str) -> tuple[str, dict[str, int]]:
    name, _, given = bot.partition(":")
    settings = (each.partition("=") for each in given.split(",") if each)
    return name, {parameter: int(number) for parameter, _, number in settings}


def _mixed(upper: int, lower: int, part: float) -> int:
    # Interpolate between the logarithms of two numbers, or between the numbers if one of them is 0.
    if upper and lower:
        return round(upper * math.pow(lower / upper, part))
    return round(upper + (lower - upper) * part)


class _Timed(Bot):
    """A bot that lets another bot choose, and measures the processor time of its choices."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self.needs_observations, self.needs_worlds = bot.needs_observations, bot.needs_worlds
        self.seconds, self.decisions = 0.0, 0

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        begun = time.process_time()
        actions = self._bot.choose(decisions)
        self.seconds += time.process_time() - begun
        self.decisions += int(np.count_nonzero(decisions.legal_counts() > 1))
        return actions


def _games_of_deal(players: int) -> int:
    return players if players == 2 else 2 * players


def _play(game: str, seated: Sequence[Bot], deals: range, seed: int) -> Results:
    # Play some deals with one assignment of bots to seats.
    players = len(seated)
    results = Results.of(deals.stop, players, players)
    with TableEnv(
        game,
        players,
        num_envs=len(deals),
        games=len(deals),
        first_game=deals.start,
        observations=any(bot.needs_observations for bot in seated),
    ) as env:
        for batch, _ in play_many(env, seated, seed):
            results.add(batch.ended)
    return results
