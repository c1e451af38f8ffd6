"""Many games at a time between bots: the bots' seats and choices, results and recordings."""

import io
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from chatiere import engine
from chatiere.clients import Batch, Client, VectorEnv, bot_names, make_batch_bot, make_bots
from chatiere.clients.matches import Recording, Results, bots_of, play_many, wilson_interval
from chatiere.v1.game_pb2 import Include, View

GAMES = [game.name for game in engine.games()]
TABLES = [(game.name, players) for game in engine.games() for players in range(game.min_players, game.max_players + 1)]
SEED = 3


class Watched:
    """A random bot that records the rows that it is given."""

    needs_observations = False

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def choose(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        self.asked += zip(batch.game_numbers[rows].tolist(), batch.actors[rows].tolist(), strict=True)
        return batch.random_actions()[rows]


@pytest.mark.parametrize(("players", "bots"), [*product(range(2, 7), range(1, 8))])
def test_every_bot_plays_every_seat_as_often(players: int, bots: int) -> None:
    seats = [
        (int(bot), seat)
        for number in range(bots)
        for seat, bot in enumerate(
            bots_of(np.full(players, number, np.uint64), np.arange(players, dtype=np.int8), bots)
        )
    ]
    assert Counter(seats) == dict.fromkeys(product(range(bots), range(players)), 1)


@pytest.mark.parametrize(("name", "players"), TABLES)
@pytest.mark.parametrize("bots", [1, 2, 3])
def test_each_bot_is_asked_for_its_own_seats(address: str, name: str, players: int, bots: int) -> None:
    watched = [Watched() for _ in range(bots)]
    with VectorEnv(address, name, players, num_envs=4, games=6) as env:
        assert len(list(play_many(env, watched, SEED))) > 6
    for number, bot in enumerate(watched):
        assert bot.asked
        assert all((game + seat) % bots == number for game, seat in bot.asked)


@pytest.mark.parametrize(
    ("name", "players", "bot"), [(name, players, bot) for name, players in TABLES for bot in bot_names(name)[1:]]
)
def test_a_bot_chooses_the_same_for_many_games_as_for_one(address: str, name: str, players: int, bot: str) -> None:
    # Seat 0 plays at random, so that games vary.
    include = Include(legal_actions=True, viewers=range(players))
    with Client(address) as client, VectorEnv(address, name, players, num_envs=8, games=8, observations=True) as env:
        batch_bot = make_batch_bot(env.info, bot)
        compared = 0
        batch = env.reset(SEED)
        positions = [
            client.new_game(name, players, seed=SEED, game_number=number, include=include) for number in range(8)
        ]
        while len(batch):
            rows = np.flatnonzero(batch.actors > 0)
            actions = batch.random_actions()
            actions[rows] = batch_bot.choose(batch, rows)
            for number, actor, action in zip(batch.game_numbers, batch.actors, actions.tolist(), strict=True):
                before = positions[number]
                if actor > 0:
                    single = make_bots(name, [bot], 1, seed=0)[0]
                    view: View = before.viewers[actor].view
                    assert single.choose(view, before.legal_actions).id == action
                    compared += 1
                positions[number] = client.apply(before.state, action, include=include)
            batch = env.step(actions)
    assert compared > 50


def played(
    address: str, name: str, players: int, names: list[str], *, num_envs: int = 8, observations: bool = False
) -> dict:
    """Return the arrays in the file of a recording of 12 games."""
    results = Results.of(12, players, len(names))
    recording = Recording(observations=observations)
    with VectorEnv(address, name, players, num_envs=num_envs, games=12, observations=True) as env:
        bots = [make_batch_bot(env.info, bot) for bot in names]
        for batch, actions in play_many(env, bots, SEED):
            results.add(batch.ended)
            recording.add(batch, actions)
        file = io.BytesIO()
        recording.save(file, env.info, SEED, names, results)
    file.seek(0)
    with np.load(file) as arrays:
        return dict(arrays)


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_recording_can_be_replayed(address: str, name: str, players: int) -> None:
    names = [*reversed(bot_names(name)), "random"]
    record = played(address, name, players, names, observations=True)
    assert (record["game"], record["rules_version"], record["seed"]) == (name, engine.game(name).rules_version, SEED)
    assert record["bot_names"].tolist() == names
    assert record["offsets"][0] == 0
    assert np.diff(record["offsets"]).tolist() == record["lengths"].tolist()
    assert record["legal_offsets"].shape == (len(record["actions"]) + 1,)
    assert record["legal_offsets"][-1] == len(record["legal_ids"])
    for number in range(12):
        assert record["bots"][number].tolist() == [(number + seat) % len(names) for seat in range(players)]
        position = engine.game(name).new_game(players, seed=SEED, game_number=number)
        for decision in range(record["offsets"][number], record["offsets"][number + 1]):
            assert record["actors"][decision] == position.current_player()
            assert record["observations"][decision].tobytes() == position.observation(position.current_player())
            legal = slice(*record["legal_offsets"][decision : decision + 2])
            assert record["legal_ids"][legal].tolist() == position.legal_actions()
            position.apply(record["actions"][decision])
        assert position.is_terminal()
        assert record["returns"][number].tolist() == pytest.approx(position.returns())
        assert record["totals"][number].tolist() == position.totals()


@pytest.mark.parametrize("name", GAMES)
def test_the_same_seed_is_recorded_the_same_however_it_is_batched(address: str, name: str) -> None:
    names, players = bot_names(name), engine.game(name).min_players
    first = played(address, name, players, names)
    assert "observations" not in first
    second = played(address, name, players, names, num_envs=3)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[key], second[key]) for key in first)


def test_shares_of_wins() -> None:
    results = Results.of(4, 3, 2)
    assert results.bots.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0], [1, 0, 1]]
    # Seat 0 wins; seats 0 and 1 share it; all share it; seat 2 wins.
    results.returns[:] = [[2, -1, -1], [0.5, 0.5, -1], [0, 0, 0], [-1, -1, 2]]
    assert results.wins(0).tolist() == pytest.approx([1, 1 / 2, 2 / 3, 0])
    assert results.wins(1).tolist() == pytest.approx([0, 1 / 2, 1 / 3, 1])


def test_shares_of_wins_are_of_the_games_that_a_bot_sat_in() -> None:
    results = Results.of(3, 2, 3)
    assert results.bots.tolist() == [[0, 1], [1, 2], [2, 0]]
    results.returns[:] = [[1, -1], [-1, 1], [0, 0]]
    assert [results.wins(bot).tolist() for bot in range(3)] == [[1, 0.5], [0, 0], [1, 0.5]]


@pytest.mark.parametrize(("wins", "games"), [(0, 1), (1, 1), (0, 50), (17, 50), (50, 50), (5000, 10000)])
def test_the_interval_is_wilsons(wins: int, games: int) -> None:
    expected = stats.binomtest(wins, games).proportion_ci(method="wilson")
    assert wilson_interval(wins / games, games) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("name", GAMES)
def test_an_unknown_bot(address: str, name: str) -> None:
    with Client(address) as client:
        info = next(info for info in client.list_games() if info.name == name)
    with pytest.raises(KeyError):
        make_batch_bot(info, "cheater")
