"""The cost of the kernels from Python in positions of random games, without the cost of a call.

`apply` and `resample` are measured on a copy of the position, and the cost of the copy is also subtracted.
"""

import random
import statistics
import time
from collections.abc import Callable, Mapping

from chatiere.engine import Game, Position
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row


def positions_of(game: Game, players: int, count: int) -> list[Position]:
    """Return `count` positions of random games, each at a decision."""
    rng = random.Random(7)
    found: list[Position] = []
    number = 0
    while len(found) < count:
        position = game.new_game(players, seed=7, game_number=number)
        number += 1
        while not position.is_terminal():
            found.append(position.clone())
            position.apply(rng.choice(position.legal_actions()))
    return found[:count]


def nanoseconds(work: Callable[[Position], object], positions: list[Position]) -> float:
    """Return the mean time of a call to `work`, over all positions."""
    start = time.process_time_ns()
    for position in positions:
        work(position)
    return (time.process_time_ns() - start) / len(positions)


def net_costs(game: Game, players: int, plan: BenchPlan) -> Mapping[str, float]:
    """Return the cost of each kernel in ns: medians over rounds in which all kernels are measured in turn."""
    # So few positions stay in the processor's cache, like a state that has just been unpacked.
    positions = positions_of(game, players, 500)
    actions = {id(position): position.legal_actions()[0] for position in positions}
    works: dict[str, Callable[[Position], object]] = {
        "call": Position.num_players,
        "clone": Position.clone,
        "legal actions": Position.legal_actions,
        "apply": lambda position: position.child(actions[id(position)]),
        "lookup": lambda position: actions[id(position)],
        "check": Position.check,
        "observation": lambda position: position.observation(0),
        "resample": lambda position: position.resample(0, 1),
    }
    costs: dict[str, list[float]] = {name: [] for name in works}
    end = time.perf_counter() + plan.rounds * plan.seconds
    while len(costs["call"]) < plan.rounds or time.perf_counter() < end:
        for name, work in works.items():
            costs[name].append(nanoseconds(work, positions))
    cost = {name: statistics.median(found) for name, found in costs.items()}
    return {
        "legal actions": cost["legal actions"] - cost["call"],
        "apply": cost["apply"] - cost["clone"] - cost["lookup"],
        "check": cost["check"] - cost["call"],
        "observation": cost["observation"] - cost["call"],
        "resample": cost["resample"] - cost["clone"],
    }


def measure(plan: BenchPlan) -> Result:
    """Measure the rows for check compared with apply, and the table of all kernels."""
    result = Result()
    lines = result.tables.setdefault("kernels, ns a call from Python, net of the call", [])
    for game, players in plan.games.items():
        cost = net_costs(game, players, plan)
        lines.append({"game": game.name, "players": players, **cost})
        result.rows.append(
            Row(
                row="check of a state",
                game=game.name,
                unit="ns",
                ours=cost["check"],
                peer=cost["apply"],
                bound=bound_of("check", game.name).bound,
                peer_name="the apply that it guards",
                at_most=True,
            )
        )
    return result
