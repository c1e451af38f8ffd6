"""The games in OpenSpiel (chatiere.envs.openspiel), compared with one of OpenSpiel's own games in Python."""

from collections.abc import Callable
from importlib import import_module

from loadtest.bench import peers
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, Run, alternate, middle, pinned

PEER = "python_liars_poker"
# Importing these modules registers the games.
MODULES = ("chatiere.envs.openspiel", "open_spiel.python.games.liars_poker")


def measure(plan: BenchPlan) -> Result:
    """Measure the rows, compared with OpenSpiel's game. Without OpenSpiel, there are no rows."""
    if not peers.installed():
        return Result()
    for module in MODULES:
        import_module(module)
    names = {game: f"chatiere_{game.name}(players={players})" for game, players in plan.games.items()}
    contenders: dict[str, Callable[[], Run]] = {}
    for name in (PEER, *names.values()):
        loop = peers.plain_loop(name)
        contenders[name] = lambda loop=loop: loop(plan.seconds)  # type: ignore[misc]
    with pinned():
        runs = alternate(contenders, plan.rounds)
    peer = middle(runs[PEER])
    rows = []
    for game, name in names.items():
        run = middle(runs[name])
        rows.append(
            Row(
                row="OpenSpiel adapter, random sim, decisions",
                game=game.name,
                unit="decisions/CPU-s",
                ours=run.rate,
                peer=peer.rate,
                bound=bound_of("openspiel_adapter", game.name).bound,
                peer_name=f"OpenSpiel, Python loop: {PEER}",
                run=run,
                peer_run=peer,
            )
        )
    return Result(rows)
