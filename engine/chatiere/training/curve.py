"""The learning curve of a learner: its results against other bots during training."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from chatiere.arena.matches import Results, play_many, wilson_interval
from chatiere.bots import Bot
from chatiere.envs import TableEnv


class Point(NamedTuple):
    """A point of the curve: the share of games won against an opponent, with its 95 % confidence interval."""

    decisions: int
    """The number of decisions learned from."""
    opponent: str
    games: int
    rate: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return the point in words."""
        interval = f"{self.low:.1%} to {self.high:.1%}"
        return f"{self.decisions:10,} decisions: {self.rate:.1%} against {self.opponent} ({interval})"


def measure(
    game: str, players: int, bot: Bot, opponents: Mapping[str, Bot], games: int, decisions: int, seed: int
) -> Iterator[Point]:
    """Play games against each opponent, and yield the bot's share of wins.

    The bot and the opponent alternate around the table, shifted by one seat in each game (`bots_of`).

    Args:
        game: The name of the game.
        players: The number of players.
        bot: The bot to measure.
        opponents: The opponents, by name.
        games: The number of games against each opponent.
        decisions: The number of decisions from which the bot has learned.
        seed: The seed of the games.
    """
    with TableEnv(game, players, num_envs=games, games=games, observations=True) as env:
        for name, opponent in opponents.items():
            results = Results.of(games, players, 2)
            for batch, _ in play_many(env, [bot, opponent], seed):
                results.add(batch.ended)
            rate = float(results.wins(0).mean())
            yield Point(decisions, name, games, rate, *wilson_interval(rate, games))


def plot(curve: Sequence[Point], title: str, path: Path) -> None:
    """Draw the curve into a file."""
    figure = Figure(figsize=(7, 4))
    axes = figure.subplots()
    for opponent in dict.fromkeys(point.opponent for point in curve):
        decisions, _, _, rates, lows, highs = zip(
            *(point for point in curve if point.opponent == opponent), strict=True
        )
        (line,) = axes.plot(decisions, rates, label=f"against {opponent}")
        axes.fill_between(decisions, lows, highs, alpha=0.25, color=line.get_color())
    axes.axhline(0.5, color="grey", linewidth=0.8)
    axes.set(xlabel="decisions learned from", ylabel="games won (95 % interval)", ylim=(0, 1), title=title)
    axes.legend(loc="lower right")
    figure.set_layout_engine("tight")
    figure.savefig(path, dpi=100)
