"""The tree search, compared with a plain implementation, in positions with a best move, and with bad input."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tools.over import over, over_games

from bots.plain_search import advised_priors, at_stream, search_plainly, values_of
from chatiere import engine
from chatiere.bots import hosting
from chatiere.bots.games import PUCT
from chatiere.bots.ismcts import IsmctsBot
from chatiere.bots.search import MAX_NODES, MAX_SIMULATIONS, Leaves, SearchColumns, search
from chatiere.bots.tree import tree_bytes
from chatiere.engine import EngineError, Game, Position
from chatiere.engine.core.batch import Table

GAMES_AND_PLAYERS = [
    pytest.param(game, players, id=f"{game.name}-{players}")
    for game in engine.games()
    for players in range(game.min_players, game.max_players + 1)
]


def positions_of(game: Game, players: int, seed: int) -> list[Position]:
    """Return all positions of a random game."""
    rng = random.Random(seed)
    found = [game.new_game(players, seed=seed)]
    while not found[-1].is_terminal():
        found.append(found[-1].child(rng.choice(found[-1].legal_actions())))
    return found


def decisions_of(game: Game, players: int, seed: int) -> list[Position]:
    """Return the positions in which a seat has a choice."""
    return [position for position in positions_of(game, players, seed)[:-1] if len(position.legal_actions()) > 1]


def some_decisions(game: Game, players: int, seed: int, number: int) -> list[Position]:
    """Return some of the positions in which a seat has a choice, from the start to the end of the game."""
    found = decisions_of(game, players, seed)
    return [found[i * (len(found) - 1) // max(1, number - 1)] for i in range(number)]


class Drawn:
    """Worlds of positions for the seats to act. World k of position i is drawn with the stream (keys[i], k)."""

    def __init__(self, positions: Sequence[Position], keys: Sequence[int] | None = None) -> None:
        self.positions = positions
        self.keys = range(len(positions)) if keys is None else keys
        self.drawn = 0

    def __call__(self, number: int) -> bytes:
        worlds = self.of(self.drawn, number)
        self.drawn += number
        return b"".join(world for each in worlds for world in each)

    def of(self, first: int, number: int) -> list[list[bytes]]:
        return [
            [position.resample(position.current_player(), key, first + k).pack() for k in range(number)]
            for position, key in zip(self.positions, self.keys, strict=True)
        ]


def seeds(number: int) -> np.ndarray:
    return np.arange(number, dtype=np.uint64) + 7


def run(positions: Sequence[Position], simulations: int, **options: Any) -> SearchColumns:
    first = positions[0]
    given: dict[str, Any] = {"worlds": Drawn(positions), "seeds": seeds(len(positions)), "exploration": 0.7} | options
    return search(
        first.game,
        options.pop("players", first.num_players()),
        given.pop("seeds"),
        given.pop("worlds"),
        simulations=simulations,
        **given,
    )


def tree(found: SearchColumns, number: int) -> dict[int, tuple[int, float]]:
    """Return the visits and the value of each legal action of a tree."""
    part = slice(*found.legal_offsets[number : number + 2])
    columns = (found.legal_ids[part].tolist(), found.visits[part].tolist(), found.values[part].tolist())
    return {action: (visits, value) for action, visits, value in zip(*columns, strict=True)}


def same_trees(found: SearchColumns, other: SearchColumns) -> bool:
    columns: Any = zip(found, other, strict=True)
    return all(np.array_equal(a, b, equal_nan=a.dtype == float) for a, b in columns)


def made_up(game: Game, players: int) -> Callable[[Leaves], tuple[np.ndarray, np.ndarray]]:
    """Return an `evaluate` with arbitrary priors and values."""

    def evaluate(leaves: Leaves) -> tuple[np.ndarray, np.ndarray]:
        assert leaves.observations.shape == (len(leaves.actors), game.observation_length)
        ends = leaves.legal_offsets.tolist()
        evaluated = [
            values_of(observation.tobytes(), leaves.legal_ids[first:end].tolist(), players)
            for observation, first, end in zip(leaves.observations, ends, ends[1:], strict=False)
        ]
        return np.concatenate([priors for priors, _ in evaluated]), np.array([values for _, values in evaluated])

    return evaluate


by_each_rule = pytest.mark.parametrize("rule", ["UCB1", "advised", "evaluated"])


def rule_of(rule: str, game: Game, players: int) -> dict[str, Any]:
    """Return the options of a search that chooses by UCB1, or by PUCT with priors from the policy or `evaluate`."""
    return {"advised": rule == "advised", "evaluate": made_up(game, players) if rule == "evaluated" else None}


def plain_rule_of(rule: str) -> dict[str, Any]:
    """Return the same options for the plain search."""
    return {"advised": rule == "advised", "evaluate": plainly_made_up if rule == "evaluated" else None}


def plainly_made_up(position: Position) -> tuple[list[float], list[float]]:
    observation = position.observation(position.current_player())
    priors, values = values_of(observation, position.legal_actions(), position.num_players())
    return priors.tolist(), values.tolist()


@over(("game", "players"), GAMES_AND_PLAYERS)
@by_each_rule
def test_trees_are_those_of_the_plain_search(game: Game, players: int, rule: str) -> None:
    positions = some_decisions(game, players, 5, 3)
    found = run(positions, 150, **rule_of(rule, game, players))
    for number, worlds in enumerate(Drawn(positions).of(0, 150)):
        plain = search_plainly(game, number + 7, worlds, 0.7, **plain_rule_of(rule))
        mine = tree(found, number)
        for action in positions[number].legal_actions():
            visits, value = plain.get(action, (0, math.nan))
            assert mine[action][0] == visits
            assert mine[action][1] == pytest.approx(value, nan_ok=True)


@over_games
@by_each_rule
@pytest.mark.parametrize("max_nodes", [1, 60])
def test_full_trees_equal_the_trees_of_the_plain_search(game: Game, rule: str, max_nodes: int) -> None:
    players = game.min_players
    positions = some_decisions(game, players, 5, 3)
    found = run(positions, 150, **rule_of(rule, game, players), max_nodes=max_nodes)
    for number, worlds in enumerate(Drawn(positions).of(0, 150)):
        plain = search_plainly(game, number + 7, worlds, 0.7, max_nodes=max_nodes, **plain_rule_of(rule))
        mine = tree(found, number)
        assert sum(visits for visits, _ in mine.values()) == 150
        for action in positions[number].legal_actions():
            visits, value = plain.get(action, (0, math.nan))
            assert mine[action][0] == visits
            assert mine[action][1] == pytest.approx(value, nan_ok=True)
    # Without the limit, the results of this test would differ.
    assert not same_trees(found, run(positions, 150, **rule_of(rule, game, players)))


@by_each_rule
def test_the_memory_of_trees_grows_with_their_size_and_is_bounded(rule: str) -> None:
    game = engine.game("discat")
    (position,) = some_decisions(game, 2, 5, 1)
    drawn, taken = Drawn([position]), []

    def worlds(number: int) -> bytes:
        taken.append(tree_bytes())
        return drawn(number)

    nodes, of_node = 500, 32 + 8 * 2
    run([position], 2000, **rule_of(rule, game, 2), worlds=worlds, max_nodes=nodes)
    assert 0 < taken[0] < taken[-1]
    assert taken == sorted(taken)
    # The memory reserved is at most twice the memory of one call's nodes and worlds.
    assert taken[-1] <= 2 * of_node * (nodes + 64)
    assert tree_bytes() == 0


@over(("game", "players"), GAMES_AND_PLAYERS)
@by_each_rule
def test_visits_of_the_legal_actions_sum_to_the_simulations(game: Game, players: int, rule: str) -> None:
    positions = some_decisions(game, players, 6, 4)
    found = run(positions, 200, **rule_of(rule, game, players))
    for number, position in enumerate(positions):
        mine = tree(found, number)
        assert list(mine) == position.legal_actions()
        assert sum(visits for visits, _ in mine.values()) == 200
        for visits, value in mine.values():
            assert -1 <= value <= players - 1 if visits else math.isnan(value)
    assert (found.moves >= 200).all()


@over_games
@by_each_rule
def test_a_tree_depends_only_on_its_seed_and_worlds(game: Game, rule: str) -> None:
    players = game.max_players
    positions = some_decisions(game, players, 8, 5)
    options = rule_of(rule, game, players)
    together = run(positions, 130, **options)
    assert same_trees(together, run(positions, 130, **options))
    for number, position in enumerate(positions):
        alone = run([position], 130, **options, seeds=seeds(5)[number : number + 1], worlds=Drawn([position], [number]))
        part = slice(*together.legal_offsets[number : number + 2])
        for column in ("legal_ids", "visits", "values"):
            np.testing.assert_array_equal(getattr(alone, column), getattr(together, column)[part])
        assert alone.moves[0] == together.moves[number]
    if rule != "evaluated":
        assert not same_trees(together, run(positions, 130, **options, seeds=seeds(5) + np.uint64(1)))


def test_worlds_are_requested_in_small_batches() -> None:
    position = engine.game("discat").new_game(2, seed=1)
    asked: list[int] = []

    def worlds(number: int) -> np.ndarray:
        asked.append(number)
        return np.tile(np.frombuffer(position.pack(), np.uint8), (2, number, 1))

    most = set()
    for simulations in (150, 1500):
        asked.clear()
        run([position, position], simulations, worlds=worlds)
        assert sum(asked) == simulations
        most.add(max(asked))
    (few,) = most
    assert few < 150


@over_games
def test_the_streams_of_worlds_are_not_used(game: Game) -> None:
    (position,) = some_decisions(game, game.min_players, 9, 1)
    packed = position.pack()
    others = {
        "its own": packed,
        "another": packed[:8] + bytes(range(24)) + packed[32:],
        "none: chance is explicit": packed[:2] + b"\0" + packed[3:4] + bytes(28) + packed[32:],
    }
    found = [run([position], 100, worlds=lambda number, world=world: world * number) for world in others.values()]
    assert same_trees(found[0], found[1])
    assert same_trees(found[0], found[2])


# Positions with a best move


MAX_DECISIONS = 6  # decisions


def solve(position: Position, decisions: int = MAX_DECISIONS) -> list[float] | None:
    """Return the returns if every seat maximises its own return, or None if the game can last for more decisions."""
    if position.is_terminal():
        return position.returns()
    best: list[float] | None = None
    for action in position.legal_actions():
        found = solve(position.child(action), decisions - 1) if decisions else None
        if found is None:
            return None
        seat = position.current_player()
        if best is None or found[seat] > best[seat]:
            best = found
    return best


def solved(position: Position) -> dict[int, float] | None:
    """Return the mean value of each action in some worlds.

    None if the game can last too long, if no action wins in all worlds, or if almost all actions win in all worlds.
    """
    seat = position.current_player()
    totals = dict.fromkeys(position.legal_actions(), 0.0)
    for number in range(8):
        world = position.resample(seat, 99, number)
        if any(world.perft(depth) > 300 for depth in range(1, MAX_DECISIONS)):
            return None
        for action in totals:
            found = solve(world.child(action))
            if found is None:
                return None
            totals[action] += found[seat] / 8
    best = max(totals.values())
    bad = sum(value <= best - 0.7 for value in totals.values())
    return totals if best == position.num_players() - 1 and bad >= len(totals) / 4 else None


def chosen_in(positions: Sequence[Position]) -> list[int]:
    found = run(positions, 2000)
    trees = [tree(found, number) for number in range(len(positions))]
    return [max(mine, key=mine.__getitem__) for mine in trees]


@over_games
def test_a_winning_move_is_found(game: Game) -> None:
    positions, values = [], []
    for seed in range(200):
        for position in decisions_of(game, game.min_players, seed)[-3:]:
            if (totals := solved(position)) is not None:
                positions.append(position)
                values.append(totals)
    if not values:
        pytest.skip("chance decides when the game ends, so no win is sure before")
    assert len(values) >= 8
    for action, totals in zip(chosen_in(positions), values, strict=True):
        assert totals[action] > max(totals.values()) - 0.3


def played_out(position: Position) -> dict[int, float]:
    """Return the mean return of each action in playouts of some worlds."""
    seat = position.current_player()
    actions = position.legal_actions()
    table = Table(position.game, position.num_players())
    worlds = b"".join(position.resample(seat, 99, number).pack() for number in range(10) for _ in actions)
    after, _ = table.step(worlds, actions * 10)
    playouts, _ = table.playout(after.states, 50, seed=3)
    returns = np.frombuffer(playouts.mean_returns, "<f8").reshape(10, len(actions), -1)[:, :, seat].mean(axis=0)
    return dict(zip(actions, returns.tolist(), strict=True))


@over_games
def test_the_chosen_move_is_better_in_playouts_than_the_median(game: Game) -> None:
    positions, values = [], []
    for seed in range(25):
        for position in decisions_of(game, game.min_players, seed)[-3:]:
            totals = played_out(position)
            if np.median(list(totals.values())) < max(totals.values()) - 0.5:
                positions.append(position)
                values.append(totals)
    assert len(values) >= 4
    for action, totals in zip(chosen_in(positions), values, strict=True):
        assert totals[action] > np.median(list(totals.values()))


# Priors


def test_visits_follow_priors_and_values_by_puct() -> None:
    # Three actions with priors 0.5, 0.3 and 0.2. All values are 0 except after the third action, a sure win. With two
    # seats, a value of 0 is a mean of 0.5, and a win is a mean of 1. Exploration is 1 and all three actions are
    # available each time. Simulation k = 0, 1 … therefore chooses the action with the largest
    # mean + prior × √(k + 1) / (1 + visits):
    #   k = 0: 1.0, 0.8, 0.7: the first.       k = 1: 0.5 + 0.354, 0.5 + 0.424, 0.5 + 0.283: the second.
    #   k = 2: 0.5 + 0.433, 0.5 + 0.260, 0.5 + 0.346: the first.   k = 3: 0.5 + 0.333, 0.5 + 0.3, 0.5 + 0.4: the third.
    #   From then on, the third action is chosen: each visit is worth 1, so the mean stays 1.
    position = next(p for p in decisions_of(engine.game("discat"), 2, 3) if len(p.legal_actions()) == 3)
    seat = position.current_player()
    after_third = position.child(position.legal_actions()[2])
    leaves_asked = []

    def evaluate(leaves: Leaves) -> tuple[list[float], list[list[float]]]:
        leaves_asked.append(leaves)
        if len(leaves_asked) == 1:
            assert leaves.legal_ids.tolist() == position.legal_actions()
            return [50, 30, 20], [[0, 0]]
        won = leaves.observations[0].tobytes() == after_third.observation(after_third.current_player())
        value = [1.0, -1.0] if leaves.actors[0] == seat else [-1.0, 1.0]
        return [1] * len(leaves.legal_ids), [value if won else [0, 0]]

    def visits(simulations: int) -> list[int]:
        leaves_asked.clear()
        world = at_stream(position.game, position.pack(), 7, 0, 0).pack()
        found = run([position], simulations, worlds=lambda n: world * n, exploration=1, evaluate=evaluate)
        assert len(leaves_asked) == simulations + 1
        visits: list[int] = found.visits.tolist()
        return visits

    assert [visits(simulations) for simulations in (1, 2, 3, 4)] == [[1, 0, 0], [1, 1, 0], [2, 1, 0], [2, 1, 1]]


@over(("game", "players"), GAMES_AND_PLAYERS)
def test_the_priors_of_the_policy_sum_to_1_and_direct_the_visits(game: Game, players: int) -> None:
    # With a large constant, values do not matter. All simulations are in the same world, so they visit each action in
    # proportion to its prior, to within one visit for each action.
    for position in some_decisions(game, players, 5, 3):
        priors = advised_priors(position)
        assert sum(priors.values()) == pytest.approx(1)
        assert min(priors.values()) >= 0.1 / len(priors)
        packed = position.pack()
        found = run(
            [position], 1000, worlds=lambda number, packed=packed: packed * number, exploration=1e9, advised=True
        )
        for action, (visits, _) in tree(found, 0).items():
            assert visits == pytest.approx(1000 * priors[action], abs=len(priors))


def test_the_end_of_a_game_is_not_evaluated() -> None:
    game = engine.game("discat")
    last = (decisions_of(game, 2, seed)[-1] for seed in range(100))
    position = next(p for p in last if all(p.child(action).is_terminal() for action in p.legal_actions()))
    asked = []
    evaluate = made_up(game, 2)

    def ask(leaves: Leaves) -> Any:
        asked.append(leaves)
        return evaluate(leaves)

    found = run([position], 30, evaluate=ask)
    assert len(asked) == 1
    assert found.visits.sum() == 30


# Time


def test_a_limit_of_time_ends_the_search_after_a_round() -> None:
    position = engine.game("discat").new_game(2, seed=1)
    assert 0 < run([position], 1_000_000, milliseconds=0.001).visits.sum() < 1000
    evaluate = made_up(position.game, 2)
    assert 0 < run([position], 1_000_000, milliseconds=0.001, evaluate=evaluate).visits.sum() < 1000
    assert run([position], 70, milliseconds=1e9).visits.sum() == 70
    assert run([position], 70, milliseconds=1e9, evaluate=evaluate).visits.sum() == 70


@over_games
@pytest.mark.parametrize("advised", [False, True])
def test_the_bot_chooses_the_most_visited_action(game: Game, advised: bool) -> None:
    bot = IsmctsBot(simulations=150, exploration=0.5, advised=advised)
    for position in some_decisions(game, game.min_players, 11, 3):
        decisions = hosting.decisions_at(position, bot, 11)
        drawn = iter(decisions.worlds([0], 150)[0])
        found = run(
            [position],
            150,
            exploration=0.5,
            advised=advised,
            worlds=lambda number, drawn=drawn: np.stack([next(drawn) for _ in range(number)])[None],
            seeds=decisions.luck,
        )
        most = max((visits, value, -action) for action, (visits, value) in tree(found, 0).items() if visits)
        assert bot.choose(decisions).tolist() == [-most[2]]


@over_games
def test_the_bot_searches_by_its_rule_for_the_game(game: Game) -> None:
    constant = PUCT[game.name]
    bot = IsmctsBot(simulations=100)
    by_puct = IsmctsBot(simulations=100, exploration=constant, advised=True)
    by_ucb1 = IsmctsBot(simulations=100, exploration=0.7, advised=False)
    same, other = (by_ucb1, by_puct) if constant is None else (by_puct, by_ucb1)
    differing = 0
    for position in some_decisions(game, game.min_players, 11, 4):
        visits, as_by_rule, by_other_rule = (
            each.judge(hosting.decisions_at(position, each, 11)).shares for each in (bot, same, other)
        )
        assert visits.tolist() == as_by_rule.tolist()
        differing += visits.tolist() != by_other_rule.tolist()
    assert differing


def test_the_only_action_is_taken_without_a_search() -> None:
    bot = IsmctsBot(simulations=64)
    forced = 0
    for game in engine.games():
        for position in positions_of(game, game.min_players, 11)[:-1]:
            if len(position.legal_actions()) == 1:
                forced += 1
                judged = bot.judge(hosting.decisions_at(position, bot, 11))
                assert judged.actions.tolist() == position.legal_actions()
                assert np.isnan(judged.values).all()
    assert forced > 10


# Noise


def shares_of_visits(noise: float, trees: int = 400, simulations: int = 300) -> np.ndarray:
    """Return the shares of the visits of three actions that differ only in their priors: float (trees, 3)."""
    position = next(p for p in decisions_of(engine.game("discat"), 2, 3) if len(p.legal_actions()) == 3)

    def evaluate(leaves: Leaves) -> tuple[np.ndarray, np.ndarray]:
        return np.ones(len(leaves.legal_ids)), np.zeros((len(leaves.actors), 2))

    found = run(
        [position] * trees,
        simulations,
        worlds=lambda number: position.pack() * trees * number,
        exploration=1e9,
        noise=noise,
        evaluate=evaluate,
    )
    return np.asarray(found.visits.reshape(trees, 3) / simulations)


def test_noise_has_a_dirichlet_distribution() -> None:
    # With three parameters of 10/3, each share has the mean 1/3 and the variance 1/3 × 2/3 / 11. The mean of 400 shares
    # is within three standard errors of 1/3, and their variance differs from the expected one by at most a quarter.
    shares = shares_of_visits(1)
    assert np.abs(shares.mean(axis=0) - 1 / 3).max() < 3 * math.sqrt(2 / 99 / 400)
    assert np.abs(shares.var(axis=0) / (2 / 99) - 1).max() < 0.25
    # A quarter of the noise changes the priors by a quarter as much.
    np.testing.assert_allclose(shares_of_visits(0.25), 0.75 / 3 + 0.25 * shares, atol=0.01)
    np.testing.assert_allclose(shares_of_visits(0), 1 / 3, atol=0.01)


@over_games
@pytest.mark.parametrize("advised", [False, True])
def test_noise_depends_on_the_seed(game: Game, advised: bool) -> None:
    def search_with(**options: Any) -> SearchColumns:
        return run(positions, 400, advised=advised, **options)

    positions = some_decisions(game, game.min_players, 8, 3)
    noisy = search_with(noise=0.5)
    assert same_trees(noisy, search_with(noise=0.5))
    assert not same_trees(noisy, search_with())
    assert not same_trees(noisy, search_with(noise=0.5, seeds=seeds(3) + np.uint64(1)))
    assert same_trees(search_with(), search_with(noise=0))


@over_games
def test_noise_explores_other_actions_without_priors(game: Game) -> None:
    (position,) = some_decisions(game, game.min_players, 8, 1)
    actions = len(position.legal_actions())
    worlds = Drawn([position] * 50)
    visits = run([position] * 50, 4 * actions, worlds=worlds, noise=1, exploration=100).visits.reshape(50, actions)
    # Each action is taken once, and then mostly the actions with much noise in their tree.
    assert visits.min() >= 1
    assert (visits.argmax(axis=1) != visits[0].argmax()).any()
    assert visits.max() > 8


@over_games
@pytest.mark.parametrize("advised", [False, True])
def test_an_even_search_shares_its_simulations_evenly_at_the_root(game: Game, advised: bool) -> None:
    positions = some_decisions(game, game.min_players, 8, 3)
    found = run(positions, 1500, even=True, advised=advised)
    for number in range(len(positions)):
        visits = [visits for visits, _ in tree(found, number).values()]
        assert sum(visits) == 1500
        assert max(visits) - min(visits) <= 1
    # Below the root, simulations prefer better actions.
    assert not same_trees(found, run(positions, 1500, even=True, advised=advised, exploration=100))


# Bad input


def refusal(field: str, message: str, **options: Any) -> None:
    position = engine.game("discat").new_game(2, seed=1)
    given: dict[str, Any] = {"worlds": lambda number: position.pack() * 2 * number, "simulations": 10} | options
    with pytest.raises(EngineError) as refused:
        run([position, position], given.pop("simulations"), **given)
    assert refused.value.field == field
    assert message in refused.value.message


@pytest.mark.parametrize("simulations", [0, -1, 1_000_000_000, MAX_SIMULATIONS + 1, 1.5, "10"])
def test_a_number_of_simulations_out_of_range_is_refused(simulations: Any) -> None:
    refusal("simulations", "simulations must be an integer from 1 to 1000000, not", simulations=simulations)
    with pytest.raises(EngineError, match="simulations must be"):
        IsmctsBot(simulations=simulations)


@pytest.mark.parametrize("max_nodes", [0, -1, MAX_NODES + 1, 1.5, "10"])
def test_a_number_of_nodes_out_of_range_is_refused(max_nodes: Any) -> None:
    with pytest.raises(EngineError) as raised:
        run(some_decisions(engine.game("discat"), 2, 1, 1), 10, max_nodes=max_nodes)
    assert raised.value.reason == "INVALID_BATCH"


@pytest.mark.parametrize("exploration", [-0.1, math.nan, math.inf, "1", 1j])
def test_exploration_must_be_a_finite_nonnegative_number(exploration: Any) -> None:
    refusal("exploration", "exploration must be a finite number from 0 on, not", exploration=exploration)
    with pytest.raises(EngineError, match="exploration must be"):
        IsmctsBot(exploration=exploration)


@pytest.mark.parametrize("noise", [-0.1, 1.1, math.nan, math.inf, "1", None, 1j])
def test_noise_must_be_from_0_to_1(noise: Any) -> None:
    refusal("noise", "noise must be a number from 0 to 1, not", noise=noise)


@pytest.mark.parametrize("milliseconds", [0, -1, math.nan, math.inf, "1"])
def test_a_limit_of_time_must_be_above_0(milliseconds: Any) -> None:
    refusal("milliseconds", "milliseconds must be a finite number above 0, not", milliseconds=milliseconds)


@pytest.mark.parametrize("wrong", [b"", b"1234567", [], [-1], [2**64]])
def test_seeds_must_be_a_column(wrong: Any) -> None:
    position = engine.game("discat").new_game(2, seed=1)
    with pytest.raises(EngineError, match="seeds"):
        run([position], 10, seeds=wrong)


def test_the_policy_and_a_learner_do_not_both_give_priors() -> None:
    refusal("advised", "advised must be False with evaluate or network", advised=True, evaluate=lambda leaves: ())


def test_the_number_of_players_must_fit_the_game() -> None:
    position = engine.game("discat").new_game(2, seed=1)
    with pytest.raises(EngineError, match="players must be an integer from 2 to 6, not 7"):
        search(position.game, 7, seeds(1), lambda number: position.pack() * number, simulations=1, exploration=1)


def test_worlds_of_another_shape_are_refused() -> None:
    packed = engine.game("discat").new_game(2, seed=1).pack()
    array = np.frombuffer(packed, np.uint8)
    for wrong in (
        packed * 20 + b"1",
        packed * 19,
        b"",
        None,
        [1, 2],
        7,
        np.tile(array, (10, 2, 1)),
        np.tile(array, (2, 10, 1)).astype(np.uint16),
    ):
        refusal("worlds", "worlds(10) must return uint8 (2, 10,", worlds=lambda number, wrong=wrong: wrong)


def world_13_of_tree_1(wrong: Any) -> Callable[[int], bytes]:
    """Return a function that returns valid worlds except for one."""
    packed = engine.game("discat").new_game(2, seed=1).pack()
    other = wrong if isinstance(wrong, bytes) else wrong.pack()
    return lambda number: packed * (number + 13) + other + packed * (number - 14)


@by_each_rule
def test_a_world_that_does_not_belong_to_its_tree_is_named(rule: str) -> None:
    game = engine.game("discat")
    start = game.new_game(2, seed=1)
    seat, legal = start.current_player(), start.legal_actions()
    rest = [position for seed in range(9) for position in decisions_of(game, 2, seed)]
    differing = [p for p in rest if p.current_player() == seat and p.legal_actions() != legal]
    over = positions_of(game, 2, 4)[-1]
    other_game = engine.game("momistigri").new_game(3, seed=1).pack()
    size = game.packed_size
    broken = start.pack()[:40] + b"\xff" * 64 + start.pack()[104:]
    for wrong, field, message in (
        (next(p for p in rest if p.current_player() != seat), "", "another seat has to act than in world 0"),
        *(
            (
                next(p for p in differing if (len(p.legal_actions()) == len(legal)) is as_many),
                "",
                "other actions are legal than in world 0",
            )
            for as_many in (False, True)
        ),
        (over, "", "the game is over"),
        (game.new_game(2), "", "a chance event is pending"),
        (game.new_game(3, seed=1), "", "a different number of seats"),
        ((other_game + bytes(size))[:size], ".header.game", "not a packed state of this game"),
        (start.pack()[:1] + b"\x63" + start.pack()[2:], ".rules_version", "the version of the rules is not supported"),
        (start.pack()[:2] + b"\x02" + start.pack()[3:], ".header.sampled", "a flag other than 0 and 1"),
        (broken, None, ""),
    ):
        with pytest.raises(EngineError) as refused:
            run([start, start], 20, worlds=world_13_of_tree_1(wrong), **rule_of(rule, game, 2))
        assert refused.value.message.startswith("world 13 of tree 1: ")
        assert message in refused.value.message
        assert refused.value.field.startswith("worlds[1][13]")
        assert field is None or refused.value.field == "worlds[1][13]" + field


def test_the_first_world_is_also_checked() -> None:
    over = positions_of(engine.game("discat"), 2, 4)[-1]
    refusal("worlds[0][0]", "world 0 of tree 0: the game is over", worlds=lambda number: over.pack() * 2 * number)


@pytest.mark.parametrize("stage", [0, 1, 5])
def test_the_results_of_evaluate_are_checked(stage: int) -> None:
    def with_wrong(priors: Any, values: Any) -> Callable[[Leaves], Any]:
        stages = iter(range(99))

        def evaluate(leaves: Leaves) -> Any:
            good = np.ones(len(leaves.legal_ids)), np.zeros((len(leaves.actors), 2))
            return (priors(good[0]), values(good[1])) if next(stages) == stage else good

        return evaluate

    def same(array: np.ndarray) -> np.ndarray:
        return array

    def put(value: float) -> Callable[[np.ndarray], np.ndarray]:
        return lambda array: np.where(np.arange(array.size).reshape(array.shape) == 1, value, array)

    for priors, field, message in (
        (lambda array: array[1:], "priors", "priors must have the shape"),
        (lambda array: array[:, None], "priors", "priors must have the shape"),
        (lambda array: ["a"] * len(array), "priors", "priors must be numbers"),
        (lambda array: None, "priors", "priors must"),
        (put(math.nan), "priors", "priors[1] must be finite, not nan"),
        (put(math.inf), "priors", "priors[1] must be finite, not inf"),
        (put(-0.5), "priors", "priors[1] must be 0 or more, not -0.5"),
        (lambda array: array * 0, "priors", "the priors of leaf 0 must have a sum above 0, not 0.0"),
        (lambda array: array * 1e308, "priors", "the priors of leaf 0 must have a sum above 0, not inf"),
    ):
        refusal(field, message, evaluate=with_wrong(priors, same))
    for values, field, message in (
        (lambda array: array[:, :1], "values", "values must have the shape"),
        (lambda array: array.ravel(), "values", "values must have the shape"),
        (put(math.nan), "values", "values[0, 1] must be finite, not nan"),
    ):
        refusal(field, message, evaluate=with_wrong(same, values))


@pytest.mark.parametrize("wrong", [None, 7, (1,), (1, 2, 3), [1, 2]])
def test_evaluate_must_return_two_arrays(wrong: Any) -> None:
    refusal("evaluate", "evaluate must return (priors, values), not", evaluate=lambda leaves: wrong)


def test_errors_of_the_callers_functions_end_the_search() -> None:
    position = engine.game("discat").new_game(2, seed=1)

    def fail(_: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run([position], 10, worlds=fail)
    with pytest.raises(KeyError, match="mine"):
        run([position], 10, evaluate=fail)
