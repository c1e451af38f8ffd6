"""Information-set Monte Carlo tree search in process, compared with playouts of worlds of the same states."""

from collections.abc import Callable
from itertools import count

import numpy as np

from chatiere.bots.ismcts import EXPLORATION
from chatiere.bots.search import search
from chatiere.engine import Game
from chatiere.engine.core.batch import Table
from loadtest.bench import peers
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, middle, repeat
from loadtest.bench.rows.kernels import positions_of
from loadtest.bench.self_play import SEED

OURS, PEER = "ismcts", "resample and playout of the same states"
OPENSPIEL = "OpenSpiel, ISMCTSBot in C++"
OPENSPIEL_GAME = "hearts"
TREES, SIMULATIONS, AT_ONCE = 16, 1000, 50


def contenders(game: Game, players: int) -> dict[str, Callable[[], int]]:
    """Return functions that run SIMULATIONS for each of TREES positions, and return the number of decisions made.

    Both functions draw worlds in the same way, AT_ONCE worlds at a time for each position.
    """
    table = Table(game, players)
    positions = positions_of(game, players, 40 * TREES)[::40]
    states = np.frombuffer(b"".join(position.pack() for position in positions), "u1").reshape(TREES, -1)
    seats = np.array([position.current_player() for position in positions], "u1")
    seeds = np.arange(TREES, dtype="<u8")
    calls = count()

    def worlds(each: int) -> bytes:
        drawn, _ = table.resample(
            np.repeat(states, each, axis=0), np.repeat(seats, each), seed=SEED, first_game_number=next(calls) << 32
        )
        return drawn

    def in_trees() -> int:
        found = search(game, players, seeds, worlds, simulations=SIMULATIONS, exploration=EXPLORATION)
        return int(found.moves.sum())

    def in_playouts() -> int:
        moves = 0
        for _ in range(SIMULATIONS // AT_ONCE):
            playouts, _ = table.playout(worlds(AT_ONCE), 1, seed=SEED, first_game_number=next(calls) << 32)
            moves += int(np.frombuffer(playouts.decisions, "<u8").sum())
        return moves

    return {OURS: in_trees, PEER: in_playouts}


def measure(plan: BenchPlan) -> Result:
    """Measure the rows, and the simulations per second in comparison with OpenSpiel."""
    runners: dict[tuple[str, str], Callable[[], Run]] = {}
    moves_of_simulation = {}
    for game, players in plan.games.items():
        for kind, work in contenders(game, players).items():
            runners[kind, game.name] = lambda work=work: repeat(work, plan.seconds)  # type: ignore[misc]
            moves_of_simulation[kind, game.name] = work() / (TREES * SIMULATIONS)
    if peers.installed():
        loop = peers.tree_search(OPENSPIEL_GAME)
        runners[OPENSPIEL, OPENSPIEL_GAME] = lambda: loop(plan.seconds)
    runs = {key: middle(found) for key, found in alternate(runners, plan.rounds).items()}
    title = "simulations in search trees"
    if not peers.installed():
        title += ", without OpenSpiel, which is not installed"
    lines = [
        {"search": kind, "game": name, "simulations/CPU-s": run.rate / moves_of_simulation.get((kind, name), 1.0)}
        for (kind, name), run in runs.items()
        if kind != PEER
    ]
    return Result([_row(game, runs[OURS, game.name], runs[PEER, game.name]) for game in plan.games], {title: lines})


def _row(game: Game, run: Run, peer: Run) -> Row:
    return Row(
        row="ismcts, decisions in trees and playouts",
        game=game.name,
        unit="moves/CPU-s",
        ours=run.rate,
        peer=peer.rate,
        bound=bound_of("ismcts", game.name).bound,
        peer_name=PEER,
        run=run,
        peer_run=peer,
    )
