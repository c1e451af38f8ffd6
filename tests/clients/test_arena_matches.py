"""Many simultaneous games between bots: the bots' seats and choices, and results."""

from collections import Counter
from itertools import islice, product

import numpy as np
import pytest
from scipy import stats
from tools.over import over, over_names

from chatiere import bots, engine
from chatiere.arena.matches import Results, bots_of, deals_interval, play_many, ratio_interval, wilson_interval
from chatiere.bots import Bot, Decisions
from chatiere.clients import Client, VectorEnv, begin, play
from chatiere.envs import TableEnv

pytestmark = pytest.mark.long

GAMES = [game.name for game in engine.games()]
# Bots without a budget.
SIMPLE = {name: [bot for bot in bots.names(name) if bot not in ("flat", "ismcts")] for name in GAMES}
SEED = 3
DECISIONS = 40


class Watched(Bot):
    """A random bot that counts its decisions by actor, and keeps the most recent decisions."""

    def __init__(self) -> None:
        self.asked: Counter[int] = Counter()
        self.last: Decisions | None = None

    def choose(self, decisions: Decisions) -> np.ndarray:
        self.asked.update(decisions.actors.tolist())
        self.last = decisions
        return decisions.random_actions()


@over(("players", "bots"), [*product(range(2, 7), range(1, 8))])
def test_every_bot_plays_every_seat_equally_often(players: int, bots: int) -> None:
    seats = [
        (int(bot), seat)
        for number in range(bots)
        for seat, bot in enumerate(
            bots_of(np.full(players, number, np.uint64), np.arange(players, dtype=np.int8), bots)
        )
    ]
    assert Counter(seats) == dict.fromkeys(product(range(bots), range(players)), 1)


@over_names
@over("bots", [1, 2, 3])
def test_each_bot_decides_for_its_own_seats(name: str, bots: int) -> None:
    watched = [Watched() for _ in range(bots)]
    expected = [Counter[int]() for _ in range(bots)]
    with TableEnv(name, engine.game(name).max_players, num_envs=4, games=6) as env:
        for batch, _ in play_many(env, watched, SEED):
            for game, seat in zip(batch.game_numbers.tolist(), batch.actors.tolist(), strict=True):
                expected[(game + seat) % bots][seat] += 1
    assert [bot.asked for bot in watched] == expected
    assert all(expected)


@over_names
def test_a_bot_gets_only_the_columns_that_it_needs(address: str, name: str) -> None:
    game = engine.game(name)
    for observations, worlds in product((False, True), repeat=2):
        bot = Watched()
        bot.needs_observations, bot.needs_worlds = observations, worlds
        with VectorEnv(address, name, game.min_players, num_envs=4, games=4, observations=True) as env:
            assert len(next(play_many(env, [bot], SEED))[0]) == 2
        assert bot.last is not None
        assert bot.last.observations.size == 2 * game.observation_length * observations
        assert bot.last.drawn.size == 2 * game.packed_size * worlds


@over(("name", "bot"), [(name, bot) for name in GAMES for bot in bots.names(name)])
def test_a_bot_chooses_the_same_for_many_games_as_for_one(address: str, name: str, bot: str) -> None:
    players = engine.game(name).max_players
    # If there is a budget, it is small, and only the first decisions are compared, because games are long.
    spec = {"flat": "flat:playouts=20", "ismcts": "ismcts:simulations=20"}.get(bot, bot)
    seated = [bots.get(spec, name, players), bots.get("random", name, players)]
    games: list[list[int]] = [[], []]
    with VectorEnv(address, name, players, num_envs=2, games=2, batches=1, observations=True) as env:
        for batch, actions in islice(play_many(env, seated, SEED), DECISIONS):
            for number, action in zip(batch.game_numbers.tolist(), actions.tolist(), strict=True):
                games[number].append(action)
    with Client(address) as client:
        for number, chosen in enumerate(games):
            beginning = begin(client, name, players, seed=SEED, game_number=number)
            chairs = [seated[(number + seat) % 2] for seat in range(players)]
            steps = play(client, beginning, chairs, SEED)
            assert [step.action.id for step in islice(steps, len(chosen))] == chosen
            assert len(chosen) > DECISIONS / 2


def test_shares_of_wins() -> None:
    results = Results.of(4, 3, 2)
    assert results.bots.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0], [1, 0, 1]]
    # Seat 0 wins; seats 0 and 1 share a win; all seats share a win; seat 2 wins.
    results.returns[:] = np.array([[2, -1, -1], [0.5, 0.5, -1], [0, 0, 0], [-1, -1, 2]])
    assert results.wins(0).tolist() == pytest.approx([1, 1 / 2, 2 / 3, 0])
    assert results.wins(1).tolist() == pytest.approx([0, 1 / 2, 1 / 3, 1])


def test_shares_of_wins_count_only_the_games_of_a_bot() -> None:
    results = Results.of(3, 2, 3)
    assert results.bots.tolist() == [[0, 1], [1, 2], [2, 0]]
    results.returns[:] = [[1, -1], [-1, 1], [0, 0]]
    assert [results.wins(bot).tolist() for bot in range(3)] == [[1, 0.5], [0, 0], [1, 0.5]]


@pytest.mark.parametrize(("wins", "games"), [(0, 1), (1, 1), (0, 50), (17, 50), (50, 50), (5000, 10000)])
def test_the_interval_is_wilsons(wins: int, games: int) -> None:
    expected = stats.binomtest(wins, games).proportion_ci(method="wilson")
    assert wilson_interval(wins / games, games) == pytest.approx((expected.low, expected.high))


def test_rotations_become_deals() -> None:
    rotations = [Results.of(3, 2, 2) for _ in range(2)]
    rotations[0].returns[:] = [[1, -1], [1, -1], [-1, 1]]
    rotations[1].returns[:] = [[-1, 1], [1, -1], [0, 0]]
    rotations[0].lengths[:], rotations[1].lengths[:] = [10, 20, 30], [11, 22, 33]
    deals = Results.of_rotations(rotations, 1, 3)
    # Game 1 seats bot 1 first, and its rotation seats bot 0 first.
    assert deals.bots.tolist() == [[1, 0], [0, 1], [0, 1], [1, 0]]
    assert deals.lengths.tolist() == [20, 22, 30, 33]
    assert deals.wins(0).tolist() == [0, 1, 0, 0.5]
    assert deals.deal_means(deals.wins(0)).tolist() == [0.5, 0.25]
    assert deals.share_interval(deals.wins(0)) == deals_interval(np.array([0.5, 0.25]))
    assert rotations[0].share_interval(rotations[0].wins(0)) == wilson_interval(1 / 3, 3)


@pytest.mark.parametrize("deals", [30, 100, 400])
@pytest.mark.parametrize(("share", "luck"), [(0.5, 0.6), (0.5, 0), (0.9, 0.1), (0.97, 0)])
def test_the_interval_of_deals_has_the_stated_coverage(deals: int, share: float, luck: float) -> None:
    generator = np.random.default_rng(1)
    # If luck decides a deal, each bot wins one of the deal's two games. Otherwise the better bot tends to win both.
    won = generator.binomial(2, (share - luck / 2) / (1 - luck), (2000, deals)) / 2
    means = np.where(generator.random((2000, deals)) < luck, 0.5, won)
    intervals = np.array([deals_interval(each) for each in means])
    held = float(((intervals[:, 0] <= share) & (share <= intervals[:, 1])).mean())
    # The interval is too wide if there are few deals, especially if nearly all are won.
    assert 0.935 <= held <= (0.96 if deals == 400 and share < 0.97 else 0.98 if share < 0.9 else 1)


def test_the_interval_of_identical_deals() -> None:
    low, high = deals_interval(np.ones(100))
    # The standard error of 100 ones, a one and a zero is 1 / 102.
    assert low == pytest.approx((101 - 1.96) / 102, abs=1e-4)
    assert high == 1
    assert deals_interval(np.zeros(100)) == pytest.approx((0, 1 - low))


def test_the_interval_of_a_mean_is_the_normal_one() -> None:
    values = np.random.default_rng(1).gamma(3, 10, 50)
    expected = stats.norm.interval(0.95, values.mean(), stats.sem(values))
    assert ratio_interval(values, np.ones(50)) == pytest.approx(expected)


@pytest.mark.parametrize("correlation", [-1, 0, 1])
def test_the_interval_of_a_ratio_matches_its_standard_deviation(correlation: int) -> None:
    generator = np.random.default_rng(2)

    def games(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        # With a correlation of 0, a game's share does not depend on its length.
        wholes = generator.uniform(20, 60, shape)
        return wholes * (0.3 + 0.005 * correlation * (wholes - 40) + generator.uniform(-0.1, 0.1, shape)), wholes

    parts, wholes = games((20_000, 100))
    deviation = (parts.sum(axis=1) / wholes.sum(axis=1)).std()
    low, high = ratio_interval(*games((100_000,)))
    assert (high - low) / 2 == pytest.approx(1.96 * deviation * (100 / 100_000) ** 0.5, rel=0.03)


def test_the_interval_of_a_non_negative_ratio_is_non_negative() -> None:
    low, high = ratio_interval(np.array([0, 0, 0, 1]), np.array([10, 10, 10, 10]))
    assert low == 0
    assert high == pytest.approx(0.025 + 1.96 * 0.025, rel=1e-3)
