"""The strength of the tree search against random play, and against flat playouts with equal processor time."""

import time
from collections.abc import Sequence
from typing import Any

from chatiere import bots
from chatiere.arena.matches import Results, play_many, wilson_interval
from chatiere.bots import Bot, Decisions, Judgement
from chatiere.engine import Game
from chatiere.envs import TableEnv
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row
from loadtest.bench.self_play import SEED

SIMULATIONS = 1000
ISMCTS = f"ismcts:simulations={SIMULATIONS}"
# GAMES is the number of games if a run takes one second. ROUNDS rounds of FITTING games determine the number of
# playouts that need as much time as the search.
GAMES, FITTING, ROUNDS = 200, 16, 2
# Map each number of players to the name of its bound.
BOUNDS = {2: "ismcts_random_2", 3: "ismcts_random_3"}


class Timed(Bot):
    """A bot whose processor time is measured."""

    def __init__(self, bot: Bot) -> None:
        """Wrap a bot."""
        self.needs_observations, self.needs_worlds, self.budget = bot.needs_observations, bot.needs_worlds, bot.budget
        self.seconds, self.decisions = 0.0, 0
        self._bot = bot

    def choose(self, decisions: Decisions) -> Any:
        """See Bot.choose."""
        return self.judge(decisions).actions

    def judge(self, decisions: Decisions) -> Judgement:
        """See Bot.judge."""
        begin = time.process_time()
        judgement = self._bot.judge(decisions)
        self.seconds += time.process_time() - begin
        # A search does not run if there is only one legal action.
        self.decisions += int((decisions.legal_counts() > 1).sum())
        return judgement


def measure(plan: BenchPlan) -> Result:
    """Measure the share of games that `ismcts` wins, with fewer games if runs are shorter."""
    result = Result()
    lines = result.tables.setdefault("ismcts and flat with equal processor time", [])
    for game in plan.games:
        games = max(4, int(GAMES * min(plan.seconds, 1.0)))
        for players, name in BOUNDS.items():
            if game.min_players <= players <= game.max_players:
                result.rows.append(_against_random(game, players, name, games))
        lines += _against_flat(game, game.min_players, games)
    return result


def play(game: Game, players: int, one: Bot, others: Bot, games: int, seed: int = SEED) -> Results:
    """Play one bot against `players` - 1 other bots. The bot has each seat in turn."""
    seated: Sequence[Bot] = [one, *[others] * (players - 1)]
    results = Results.of(games, players, players)
    observations = one.needs_observations or others.needs_observations
    with TableEnv(game.name, players, num_envs=games, games=games, observations=observations) as env:
        for batch, _ in play_many(env, seated, seed):
            results.add(batch.ended)
    return results


def _against_random(game: Game, players: int, bound: str, games: int) -> Row:
    one, others = (bots.get(spec, game, players) for spec in (ISMCTS, "random"))
    won = float((play(game, players, one, others, games).returns_of(0) > -1).mean())
    return Row(
        row=f"ismcts, {SIMULATIONS} simulations, against random, {players} players",
        game=game.name,
        unit="of all games",
        ours=won,
        peer=1.0,
        bound=bound_of(bound, game.name).bound,
        peer_name=f"all of {games} games",
    )


def _against_flat(game: Game, players: int, games: int) -> list[dict[str, Any]]:
    playouts = float(SIMULATIONS)
    for number in range(ROUNDS):
        ismcts, flat = Timed(bots.get(ISMCTS, game, players)), Timed(_flat(game, players, playouts))
        play(game, players, ismcts, flat, min(FITTING, games), SEED + 1 + number)
        playouts *= ismcts.seconds / ismcts.decisions / (flat.seconds / flat.decisions)
    lines = []
    for name, one, others in (
        ("ismcts against flat", bots.get(ISMCTS, game, players), _flat(game, players, playouts)),
        ("flat against ismcts", _flat(game, players, playouts), bots.get(ISMCTS, game, players)),
    ):
        results = play(game, players, one, others, games)
        share = float(results.wins(0).mean())
        low, high = wilson_interval(share, games)
        lines.append(
            {
                "game": game.name,
                "one against the others": name,
                "players": players,
                "flat's playouts": round(playouts),
                "share of wins": share,
                "from": low,
                "to": high,
                "even share": 1 / players,
            }
        )
    return lines


def _flat(game: Game, players: int, playouts: float) -> Bot:
    return bots.get(f"flat:playouts={max(1, round(playouts))}", game, players)
