"""Find weights of a game's playout policy by playing games, with CMA-ES. Optionally write them to its policy.pyx.

    pip install --group examples
    python examples/tune_playouts.py discat

All candidates of a generation play the same paired deals. Each candidate plays one seat, against bots with the current
weights. CMA-ES maximizes the candidates' share of wins. Finally, the candidates' mean plays deals that no candidate has
played. --write writes the mean only if the 95 % interval of its share of wins is above the share of equal bots.
"""

import argparse
import dataclasses
import importlib
import re
from collections.abc import Mapping
from pathlib import Path

import cma
import numpy as np
from numpy.typing import NDArray

from chatiere import bots, engine
from chatiere.arena.matches import Results, play_many
from chatiere.arena.tournament import Rate, win_rate
from chatiere.bots import Bot, Decisions
from chatiere.envs import TableEnv

# The initial standard deviation of CMA-ES, in the unit of the weights. Adding 4 to a weight doubles an action's
# likelihood.
SIGMA = 4.0


class Weighted(Bot):
    """A bot that makes playouts with other weights."""

    needs_worlds = True

    def __init__(self, bot: Bot, weights: Mapping[str, int]) -> None:
        """Create a bot that chooses like `bot`, but whose playouts use `weights`."""
        self._bot, self._weights = bot, weights
        self._game: engine.Game | None = None

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        self._game = self._game or decisions.game.with_playout_weights(self._weights)
        return self._bot.choose(dataclasses.replace(decisions, game=self._game))


def compare(candidate: Bot, current: Bot, name: str, players: int, deals: range, seed: int) -> Rate:
    """Return the share of paired deals that a bot wins at one seat, against another bot at all other seats."""
    rotations = []
    for shift in range(players):
        seated = [candidate, *[current] * (players - 1)]
        found = Results.of(deals.stop, players, players)
        with TableEnv(name, players, num_envs=len(deals), games=len(deals), first_game=deals.start) as env:
            for batch, _ in play_many(env, seated[shift:] + seated[:shift], seed):
                found.add(batch.ended)
        rotations.append(found)
    return win_rate(Results.of_rotations(rotations, deals.start, deals.stop))


def main() -> None:
    """Tune the weights, and print the candidates' shares of wins in each generation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", help="the game's name")
    parser.add_argument("--players", type=int, help="number of players (default: the game's smallest number)")
    parser.add_argument("--bot", default="flat:playouts=100", help="the bot that makes the playouts")
    parser.add_argument("--generations", type=int, default=10)
    parser.add_argument(
        "--deals", type=int, default=30, help="deals that each candidate plays, each with every rotation of seats"
    )
    parser.add_argument("--final-deals", type=int, default=200, help="deals of the final comparison")
    parser.add_argument("--seed", type=int, default=1, help="1 or more; the same seed gives the same weights")
    parser.add_argument("--write", action="store_true", help="write better weights to the game's policy.pyx")
    given = parser.parse_args()
    game = engine.game(given.game)
    players = given.players or game.min_players
    bot = bots.get(given.bot, given.game, players)
    weights = game.playout_weights
    # `decisions`, the number of decisions by the policy, also affects the speed, so it is not changed.
    names = [name for name in weights if name != "decisions"]

    def bot_of(values: NDArray[np.float64]) -> Weighted:
        return Weighted(bot, weights | dict(zip(names, np.rint(values).astype(int).tolist(), strict=True)))

    current = Weighted(bot, weights)
    search = cma.CMAEvolutionStrategy(
        [weights[name] for name in names], SIGMA, {"seed": given.seed, "bounds": [-100, 100], "verbose": -9}
    )
    for generation in range(given.generations):
        deals = range(generation * given.deals, (generation + 1) * given.deals)
        asked = search.ask()
        shares = [compare(bot_of(each), current, given.game, players, deals, given.seed).wins for each in asked]
        search.tell(asked, [-share for share in shares])
        print(f"generation {generation + 1}: shares {min(shares):.3f} to {max(shares):.3f}", flush=True)
    mean = np.rint(search.mean).astype(int).tolist()
    first = given.generations * given.deals
    rate = compare(
        bot_of(search.mean), current, given.game, players, range(first, first + given.final_deals), given.seed
    )
    print(dict(zip(names, mean, strict=True)))
    print(f"wins {rate.wins:.1%} ({rate.low:.1%} to {rate.high:.1%}), even {1 / players:.1%}")
    if given.write and rate.low > 1 / players:
        write(given.game, dict(zip(names, mean, strict=True)))


def write(name: str, weights: Mapping[str, int]) -> None:
    """Replace the weights in the game's policy.pyx and keep the rest of the file. The next build compiles them."""
    path = Path(str(importlib.import_module(f"chatiere.engine.games.{name}").__file__)).with_name("policy.pyx")
    text = path.read_text("utf-8")
    for weight, value in weights.items():
        text = re.sub(rf'^    "{weight}": -?\d+,', f'    "{weight}": {value},', text, flags=re.MULTILINE)
    path.write_text(text, "utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
