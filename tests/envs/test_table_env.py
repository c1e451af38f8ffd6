"""TableEnv: the engine's games, with the same rows as VectorEnv."""

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from dataclasses import fields, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from tools.needs import needs
from tools.over import over, over_names, over_tables

from chatiere import engine
from chatiere.clients import VectorEnv
from chatiere.engine import EngineError
from chatiere.engine.wire import fill
from chatiere.envs import Batch, CompactObservations, ObservationLayout, TableEnv
from chatiere.envs.batch_env import BatchEnv
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server
from chatiere.v1.game_pb2 import Options

GAMES = [game.name for game in engine.games()]
SEED = 11
# The size in bytes of a packed state's header. The header has versions and the random stream.
HEADER = 32


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server, port = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(grace=None).wait()


def fewest(name: str) -> int:
    return engine.game(name).min_players


def options_message(name: str, options: dict[str, Any]) -> Options:
    message = Options()
    getattr(message, name).SetInParent()
    fill(getattr(message, name), engine.codec(name).put_options, options)
    return message


def play(env: BatchEnv, seed: int | None = SEED) -> Iterator[Batch]:
    """Play an environment with a limited number of games to its end. Yield all batches."""
    batch = env.reset(seed)
    yield batch
    while len(batch):
        batch = env.step(batch.random_actions())
        yield batch


def assert_same(batch: Any, expected: Any) -> None:
    for field in fields(expected):
        value, other = getattr(batch, field.name), getattr(expected, field.name)
        if field.name == "ended":
            assert_same(value, other)
        elif isinstance(other, np.ndarray):
            assert value.dtype == other.dtype, field.name
            assert np.array_equal(value, other), field.name
        else:
            assert value == other, field.name


@over_tables
def test_local_and_served_environments_play_the_same_games(address: str, name: str, players: int) -> None:
    # Use one batch or two, and the last game numbers that exist.
    numbers: dict[str, Any] = {
        "num_envs": 6,
        "batches": 1 + players % 2,
        "games": 10,
        "first_game": 2**64 - 10,
        "observations": True,
    }
    with TableEnv(name, players, **numbers) as env, VectorEnv(address, name, players, **numbers) as expected:
        assert env.info == expected.info
        for batch, other in zip(play(env), play(expected), strict=True):
            assert_same(batch, other)


@pytest.mark.parametrize("mask", [True, "bits"])
@over_names
def test_masks_are_computed_on_request(address: str, name: str, mask: Any) -> None:
    numbers: dict[str, Any] = {"num_envs": 6, "batches": 2, "games": 10, "mask": mask, "num_threads": 2}
    over_service = {key: value for key, value in numbers.items() if key != "num_threads"}
    width = -(-engine.game(name).num_distinct_actions // 8)
    with (
        TableEnv(name, fewest(name), **numbers) as env,
        VectorEnv(address, name, fewest(name), **over_service) as expected,
    ):
        for batch, other in zip(play(env), play(expected), strict=True):
            assert_same(batch, other)
            flags = batch.legal_mask()
            for row in range(len(batch)):
                assert (
                    np.flatnonzero(flags[row]).tolist()
                    == batch.legal_ids[slice(*batch.legal_offsets[row : row + 2])].tolist()
                )
            if mask is True:
                assert not len(batch) or np.shares_memory(np.from_dlpack(flags), batch.mask)
            else:
                assert (np.packbits(flags, axis=1, bitorder="little") == batch.mask).all()
                assert batch.mask.shape == (len(batch), width)


@pytest.mark.parametrize("form", ["float32", "float16", "packed"])
@over_names
def test_features_are_computed_on_request(address: str, name: str, form: Any) -> None:
    numbers: dict[str, Any] = {"num_envs": 4, "batches": 2, "games": 5, "features": form}
    with TableEnv(name, fewest(name), **numbers) as env, VectorEnv(address, name, fewest(name), **numbers) as expected:
        layout = ObservationLayout(env.info)
        for batch, other in zip(play(env), play(expected), strict=True):
            assert batch.features.dtype == other.features.dtype
            assert (batch.features == other.features).all()
            assert batch.features.shape[0] == len(batch)
            if len(batch):
                features = layout.features(batch.observations)
                encoded = layout.unpacked(batch.features.view(np.uint8)) if form == "packed" else batch.features
                assert (encoded == features.astype(encoded.dtype)).all()


@needs("jax")
@pytest.mark.parametrize("form", ["float32", "float16", "packed"])
def test_jax_takes_arrays_without_a_copy(address: str, form: Any) -> None:
    import jax

    numbers: dict[str, Any] = {
        "num_envs": 13,
        "games": 20,
        "features": form,
        "mask": "bits" if form == "packed" else True,
    }
    with TableEnv("discat", 2, **numbers) as env, VectorEnv(address, "discat", 2, **numbers) as over_service:
        layout = ObservationLayout(env.info)
        for batch in (*islice(play(env), 20), *islice(play(over_service), 20)):
            for array in (batch.features, batch.mask, layout.features(batch.observations)):
                taken = jax.dlpack.from_dlpack(array)
                assert taken.unsafe_buffer_pointer() == array.ctypes.data
                assert np.array_equal(taken, array)


@pytest.mark.parametrize("form", ["float32", "float16", "packed"])
def test_features_are_compact_on_request(address: str, form: Any) -> None:
    numbers: dict[str, Any] = {"num_envs": 4, "batches": 2, "games": 5, "features": form, "compact": True}
    with (
        TableEnv("chat_cartonne", 3, **numbers) as env,
        VectorEnv(address, "chat_cartonne", 3, **numbers) as expected,
    ):
        compact = CompactObservations(env.info)
        layout = ObservationLayout(compact)
        for batch, other in zip(play(env), play(expected), strict=True):
            assert batch.features.dtype == other.features.dtype
            assert (batch.features == other.features).all()
            assert batch.observations.shape == (len(batch), env.info.observation_length)
            features = layout.features(compact.crop(batch.observations))
            encoded = layout.unpacked(batch.features.view(np.uint8)) if form == "packed" else batch.features
            assert (encoded == features.astype(encoded.dtype)).all()


@over("name", [name for name in GAMES if name != "chat_cartonne"])
def test_a_game_without_boards_has_no_compact_features(address: str, name: str) -> None:
    for make in (
        lambda **named: TableEnv(name, fewest(name), **named),
        lambda **named: VectorEnv(address, name, fewest(name), **named),
    ):
        with pytest.raises(ValueError, match=f"^compact must be False for {name}: no part .* is a board"):
            make(features="float32", compact=True)
        with pytest.raises(ValueError, match=r"^compact requires features, one of \('float32', "):
            make(compact=True)


@over_tables
def test_the_oracle_returns_all_seats_observations(name: str, players: int) -> None:
    game, kinds = engine.game(name), set()
    with TableEnv(name, players, 20, games=20, observations=True) as env:
        for batch in play(env):
            truth = env.oracle(batch)
            assert truth.shape == (len(batch), players, game.observation_length)
            if not len(batch):
                break
            assert (truth[:, 0] == batch.observations).all()
            for row in (0, len(batch) - 1):
                position = game.unpack(batch.states[row].tobytes())
                for distance, seen in enumerate(truth[row]):
                    assert seen.tobytes() == position.observation((batch.actors[row] + distance) % players)
            # Among worlds that the seat cannot distinguish, only the true world has the oracle's observations.
            worlds = env.resample(batch.states, batch.actors, seed=len(batch))
            same_truth = (env.oracle(replace(batch, states=worlds)) == truth).all(axis=(1, 2))
            same_world = (worlds[:, HEADER:] == batch.states[:, HEADER:]).all(axis=1)
            assert (same_truth == same_world).all()
            kinds |= set(same_truth.tolist())
    assert False in kinds


def test_unknown_kinds_of_masks_and_features_are_refused(address: str) -> None:
    wrong: Any = "bytes"
    for make in (
        lambda **named: TableEnv("discat", 2, **named),
        lambda **named: VectorEnv(address, "discat", 2, **named),
    ):
        with pytest.raises(ValueError, match=r"^mask must be False, True or \"bits\", not 'bytes'$"):
            make(mask=wrong)
        with pytest.raises(
            ValueError, match=r"^features must be None or one of \('float32', 'float16', 'packed'\), not 'bytes'$"
        ):
            make(features=wrong)


@over_names
def test_games_are_unlimited_by_default(address: str, name: str) -> None:
    numbers: dict[str, Any] = {"num_envs": 5, "batches": 2}
    ended: list[int] = []
    with (
        TableEnv(name, fewest(name), **numbers) as env,
        VectorEnv(address, name, fewest(name), **numbers) as expected,
    ):
        batch, other = env.reset(SEED), expected.reset(SEED)
        while len(ended) < 12:
            assert_same(batch, other)
            assert not batch.observations.size
            batch, other = env.step(batch.random_actions()), expected.step(other.random_actions())
            ended += batch.ended.game_numbers.tolist()
    assert len(set(ended)) == len(ended)
    assert max(ended) >= 10


def trajectory(env: BatchEnv) -> list[bytes]:
    return [part.tobytes() for batch in play(env) for part in (batch.states, batch.observations, batch.legal_ids)]


@over_names
def test_games_do_not_depend_on_the_number_of_threads(name: str) -> None:
    def played(num_threads: int) -> list[bytes]:
        with TableEnv(name, fewest(name), 7, games=12, observations=True, num_threads=num_threads) as env:
            return trajectory(env)

    expected = played(1)
    assert [played(num_threads) for num_threads in (2, 3, 200)] == [expected] * 3


@over_names
def test_batches_keep_their_values(name: str) -> None:
    with TableEnv(name, fewest(name), 4, games=6, observations=True) as env:
        kept = list(play(env))
        for batch, again in zip(kept, play(env), strict=True):
            assert_same(batch, again)
    assert not kept[0].states.flags.writeable


@over_names
@given(kept=st.sets(st.integers(0, 30)))
@settings(max_examples=20)
def test_a_batch_that_is_kept_never_changes(name: str, kept: set[int]) -> None:
    with TableEnv(name, fewest(name), 4, batches=2, observations=True, mask=True, features="packed") as env:
        found: list[tuple[Batch, Batch]] = []
        # Memory is used again in the same round and in the next one.
        for _ in range(2):
            batch = env.reset(SEED)
            for step in range(31):
                if step in kept:
                    found.append((batch, deepcopy(batch)))
                batch = env.step(batch.random_actions())
        for batch, expected in found:
            assert_same(batch, expected)


def test_the_games_that_ended_are_described_when_they_are_read() -> None:
    with TableEnv("chat_perche", 2, 50, observations=True) as env, TableEnv("chat_perche", 2, 50) as other:
        batch, same = env.reset(SEED), other.reset(SEED)
        last = batch
        while not len(same.ended.envs):
            last = batch
            batch, same = env.step(batch.random_actions()), other.step(same.random_actions())
        # Later moves and copies do not change the description.
        copies = [deepcopy(batch), pickle.loads(pickle.dumps(batch)), replace(batch, seed=SEED)]
        env.step(batch.random_actions())
        for found in (batch, *copies):
            assert found.ended.game_numbers.tolist() == same.ended.game_numbers.tolist()
            assert found.ended.lengths.tolist() == (last.decisions[same.ended.envs] + 1).tolist()
            assert np.array_equal(found.ended.returns, same.ended.returns)
            assert found.ended.observations.shape == (len(same.ended.envs), 2, env.info.observation_length)
            assert found.ended is found.ended
        assert not hasattr(batch, "begun")


def over_settings(games: int) -> pytest.MarkDecorator:
    """Return a decorator that runs a test with several batches, with a number of games, and with packed features."""
    return pytest.mark.parametrize(
        "asked",
        [{"batches": 3, "mask": True}, {"observations": True, "games": games}, {"features": "packed", "mask": "bits"}],
        ids=["batches", "games", "features"],
    )


def rest(env: BatchEnv, batch: Batch) -> Iterator[Batch]:
    """Yield a batch and the ones after it, until each of six environments has begun another game."""
    ended = set[int]()
    yield batch
    while len(ended) < 6:
        batch = env.step(batch.random_actions())
        ended.update(batch.ended.envs.tolist())
        yield batch


@over_names
@over_settings(games=12)
def test_a_copy_continues_independently_with_the_same_games(name: str, asked: dict[str, Any]) -> None:
    with TableEnv(name, fewest(name), 6, options={"first_seat": 1}, **asked) as env:
        batch = env.reset(SEED)
        for _ in range(5):
            batch = env.step(batch.random_actions())
        # Take all copies first, because each of them moves on.
        copies = [copy(env), deepcopy(env), pickle.loads(pickle.dumps(env))]
        expected = list(rest(env, batch))
        for copied in copies:
            assert copied.info == env.info
            for found, other in zip(rest(copied, batch), expected, strict=True):
                assert_same(found, other)
            copied.close()


@over_names
@over_settings(games=30)
def test_environments_begin_at_given_states(name: str, asked: dict[str, Any]) -> None:
    def make() -> TableEnv:
        return TableEnv(name, fewest(name), 6, first_game=2**64 - 40, **asked)

    with make() as env, make() as other:
        batch, count = env.reset(SEED), asked.get("batches", 1)
        for _ in range(6 * count):
            batch = env.step(batch.random_actions())
        # The batches that were returned last have all environments.
        states = np.empty((6, engine.game(name).packed_size), np.uint8)
        pending = deepcopy(env)
        for found in islice(rest(pending, batch), count):
            states[found.envs] = found.states
        begun = other.reset(SEED, states=states)
        for found, expected in zip(rest(other, begun), rest(env, batch), strict=True):
            # No game had ended at the given states.
            if found is begun:
                assert not len(found.ended.envs)
                expected = replace(expected, ended=found.ended)
            assert_same(found, expected)


def test_states_at_which_no_environment_can_begin_are_refused() -> None:
    game = engine.game("discat")
    good, explicit = game.new_game(2, {"first_seat": 0}, seed=1), game.new_game(2, {"first_seat": 0})
    over = good.clone()
    over.playout(1)
    while explicit.is_chance_node():
        explicit.apply(explicit.chance_outcomes()[0][0])
    pending = game.new_game(2)
    with TableEnv("discat", 2, 2) as env:
        first = env.reset(SEED)
        for states, message in (
            ([good.pack()], r"states must be uint8 \(2, \d+\), a row for each environment, not uint8 \(1, \d+\)"),
            ([good.pack(), bytes(game.packed_size)], r"item 1: .*"),
            ([good.pack(), game.new_game(3, seed=1).pack()], "item 1: the state has 3 seats, the table 2"),
            ([over.pack(), good.pack()], "item 0: the game is over"),
            ([good.pack(), pending.pack()], "item 1: .*chance"),
            ([good.pack(), explicit.pack()], "item 1: the state has no random stream"),
        ):
            rows = np.frombuffer(b"".join(states), np.uint8).reshape(len(states), -1)
            with pytest.raises(EngineError, match=message) as refusal:
                env.reset(states=rows)
            assert refusal.value.field.startswith("states")
        # A refused reset changes nothing.
        env.step(first.random_actions())


def test_a_copy_has_compact_features() -> None:
    with TableEnv("chat_cartonne", 2, 2, features="float32", compact=True) as env:
        batch = env.reset(SEED)
        copied = deepcopy(env)
        assert_same(copied.step(batch.random_actions()), env.step(batch.random_actions()))


# Prints the page faults of a step of many games.
FAULTS = """
from resource import RUSAGE_SELF, getrusage
from chatiere.engine.memory import allocated_bytes
from chatiere.envs import TableEnv
with TableEnv("chat_cartonne", 2, 30_000, observations=True, mask="bits") as env:
    for _ in range(2):
        batch, before = env.reset(), getrusage(RUSAGE_SELF).ru_minflt
        for _ in range(10):
            batch = env.step(batch.random_actions())
print((getrusage(RUSAGE_SELF).ru_minflt - before) // 10 if allocated_bytes() else "")
"""


def test_steps_of_many_games_use_the_memory_of_earlier_steps() -> None:
    program = (sys.executable, "-c", FAULTS)
    faults = subprocess.run(program, capture_output=True, text=True, check=True).stdout.strip()
    if not faults:
        pytest.skip("another allocator replaces the C library's")
    # The columns of a step have more than 10,000 pages of 4 KiB.
    assert int(faults) < 1000


@over_names
def test_options_are_given_by_name_or_as_a_message(name: str) -> None:
    chosen = {"first_seat": 1}

    def played(options: Any) -> list[bytes]:
        with TableEnv(name, fewest(name), 3, games=6, options=options) as env:
            return trajectory(env)

    by_name = played(chosen)
    assert played(options_message(name, chosen)) == by_name
    assert played(None) == played(Options()) == played({}) != by_name
    with TableEnv(name, fewest(name), 2, games=6, options=chosen) as env:
        chosen["first_seat"] = 0
        states = [state for batch in play(env) for state in batch.states]
    assert all(engine.game(name).unpack(state.tobytes()).options()["first_seat"] == 1 for state in states)


def test_reset_without_a_seed_uses_the_constructors_seed(address: str) -> None:
    for make in (TableEnv, lambda *asked, **numbers: VectorEnv(address, *asked, **numbers)):
        with make(GAMES[0], fewest(GAMES[0]), num_envs=3, seed=SEED) as env:
            own, other, again = env.reset(), env.reset(SEED + 1), env.reset(SEED)
        assert (own.seed, other.seed, again.seed) == (SEED, SEED + 1, SEED)
        assert own.states.tolist() == again.states.tolist() != other.states.tolist()
        with make(GAMES[0], fewest(GAMES[0]), num_envs=3) as env:
            assert env.reset().seed == 0


@over_names
def test_the_description_reads_observations(name: str) -> None:
    with TableEnv(name, fewest(name), 5, observations=True) as env:
        batch = env.reset()
        assert batch.observations.shape == (5, env.info.observation_length)
        assert batch.legal_mask().shape == (5, env.info.num_actions)
        assert ObservationLayout(env.info).features(batch.observations).shape[0] == 5


@over_names
def test_a_refused_step_leaves_all_games_unchanged(name: str) -> None:
    with TableEnv(name, fewest(name), 4, batches=2) as env, TableEnv(name, fewest(name), 4, batches=2) as expected:
        batch = env.reset(SEED)
        expected.reset(SEED)
        actions = batch.random_actions()
        actions[1] = np.flatnonzero(~batch.legal_mask()[1])[0]
        for wrong, reason in ((actions[1], "ILLEGAL_ACTION"), (65535, "INVALID_ACTION")):
            actions[1] = wrong
            with pytest.raises(EngineError, match=r"^item 1: ") as raised:
                env.step(actions)
            assert raised.value.reason == reason
            assert (raised.value.field, raised.value.metadata["item"]) == ("actions[1]", "1")
        assert_same(env.step(batch.random_actions()), expected.step(batch.random_actions()))
        assert_same(env.step(env.reset(SEED).random_actions()), expected.step(expected.reset(SEED).random_actions()))


@pytest.mark.parametrize("wrong", [0, [0], [0, 0, 0], [[0, 0]]])
def test_actions_of_another_shape_are_refused(wrong: Any) -> None:
    with TableEnv(GAMES[0], fewest(GAMES[0]), 2) as env:
        env.reset()
        with pytest.raises(ValueError, match=r"actions must have the shape \(2,\)"):
            env.step(wrong)


@pytest.mark.parametrize("wrong", [[0.5, 1.0], [-1, 0], [0, 2**16], ["a", "b"], [None, None]])
def test_actions_that_are_not_dense_ids_are_refused(wrong: Any) -> None:
    with TableEnv(GAMES[0], fewest(GAMES[0]), 2) as env:
        env.reset()
        with pytest.raises(ValueError, match="actions"):
            env.step(wrong)


def test_a_step_before_reset_or_after_the_last_game_is_refused() -> None:
    with TableEnv(GAMES[0], fewest(GAMES[0]), 2, games=2) as env:
        with pytest.raises(ValueError, match="reset the environment"):
            env.step([0, 0])
        *_, last = play(env)
        assert len(last) == 0
        with pytest.raises(ValueError, match="reset the environment"):
            env.step([])


def test_a_closed_environment_refuses_calls_but_its_batches_remain_usable(address: str) -> None:
    for env in (TableEnv(GAMES[0], fewest(GAMES[0]), 2), VectorEnv(address, GAMES[0], fewest(GAMES[0]), num_envs=2)):
        with env:
            batch = env.reset()
        env.close()
        for use in (env.reset, lambda env=env, batch=batch: env.step(batch.random_actions())):
            with pytest.raises(ValueError, match="the environment is closed"):
                use()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"game": "tarock"}, "unknown game 'tarock'"),
        ({"game": ["discat"]}, "game must be a string"),
        ({"game": None}, "game must be a string"),
        ({"players": 99}, "players must be an integer from"),
        ({"players": 2.0}, "players must be an integer from"),
        ({"num_envs": 0}, "num_envs must be from 1 to 524288, not 0"),
        ({"num_envs": 10**9}, "num_envs must be from 1 to 524288, not 1000000000"),
        ({"num_envs": 2.0}, r"num_envs must be an integer, not 2\.0"),
        ({"batches": 0}, r"batches must be from 1 to num_envs \(4\), not 0"),
        ({"batches": 5}, r"batches must be from 1 to num_envs \(4\), not 5"),
        ({"batches": "2"}, "batches must be an integer, not '2'"),
        ({"games": 0}, "games must be 1 or more, not 0"),
        ({"first_game": -1}, "first_game must be an integer from 0"),
        ({"first_game": 2**64 - 3, "games": 4}, r"first_game \+ games must not be above 2\*\*64"),
        ({"games": 1.5}, r"games must be an integer, not 1\.5"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"seed": 2**64}, "seed must be an integer from 0"),
        ({"seed": None}, "seed must be an integer"),
        ({"num_threads": 0}, "num_threads must be an integer from 1 to 256, not 0"),
        ({"num_threads": 10**9}, "num_threads must be an integer from 1 to 256"),
        ({"num_threads": 1.5}, "num_threads must be an integer from 1 to 256"),
        ({"options": {"weather": 1}}, "has no option 'weather'"),
        ({"options": {"first_seat": 99}}, "first_seat must be an integer from 0"),
        ({"options": 7}, "options must be a mapping"),
        ({"options": Options(**{GAMES[1]: {}})}, f"{GAMES[1]} options for a {GAMES[0]} game"),
    ],
    ids=str,
)
def test_invalid_arguments_are_named(wrong: dict[str, Any], named: str) -> None:
    asked = {"game": GAMES[0], "players": fewest(GAMES[0]), "num_envs": 4, **wrong}
    with pytest.raises((ValueError, TypeError), match=named):
        TableEnv(**asked)


@pytest.mark.parametrize("number", [np.int64, np.uint16])
def test_numbers_can_be_numpy_integers(number: Callable[[int], Any]) -> None:
    name = GAMES[0]
    games: dict[str, Any] = {"games": 7, "batches": 2, "num_threads": 2}
    numpys = {key: number(value) for key, value in games.items()}
    with (
        TableEnv(name, fewest(name), 5, **games) as env,
        TableEnv(name, number(fewest(name)), number(5), **numpys) as same,
    ):
        assert trajectory(env) == trajectory(same)
        batch = same.reset(number(SEED))
        same.step(batch.random_actions().astype(np.int64))


def test_grpc_is_not_imported() -> None:
    program = "import sys, chatiere.envs; print([name for name in sys.modules if 'grpc' in name or '.clients' in name])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
