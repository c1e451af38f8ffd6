"""Batches as a whole: errors, accepted forms of columns, cancellation, and threads."""

import copy
import pickle
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tools.patience import PATIENCE

from chatiere.engine import CHANCE_PLAYER, INVALID_PLAYER, TERMINAL_PLAYER, EngineError, Game, Reason
from chatiere.engine.core.batch import Table
from chatiere.engine.core.cancellation import Cancellation, Cancelled
from chatiere.engine.core.columns import Columns, EvaluationColumns, FaultColumns, PositionColumns, Restart

# A number of decisions that no random game reaches.
MAX_GAME_LENGTH = 5_000
# A number of playouts that do not finish while a test waits.
ENDLESS = 3_000_000
# The actor of an invalid state, as a byte.
BROKEN = INVALID_PLAYER & 0xFF


@pytest.fixture
def table(game: Game) -> Table:
    return Table(game, game.min_players)


@pytest.fixture
def states(game: Game) -> bytes:
    """Return three states at their first decisions."""
    return b"".join(game.new_game(game.min_players, seed=seed).pack() for seed in range(3))


@pytest.mark.parametrize("reuse_memory", [False, True])
def test_tables_survive_pickle_and_copies(game: Game, reuse_memory: bool) -> None:
    table = Table(game, game.max_players, game.rules_versions[0], reuse_memory=reuse_memory)
    columns = table.new_games(seeds=[1, 2], columns=Columns(legal=True, observations=True))
    for again in (copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert (again.game, again.players, again.rules_version) == (game, game.max_players, table.rules_version)
        assert type(again.new_games(seeds=[1]).states) is type(columns.states)
    # Columns in the memory of a table become bytes.
    for copied in (copy.deepcopy(columns), pickle.loads(pickle.dumps(columns))):
        assert copied == PositionColumns(*map(bytes, columns))


def refused(call: Callable[..., object], *arguments: object, **named: object) -> EngineError:
    with pytest.raises(EngineError) as caught:
        call(*arguments, **named)
    assert caught.value.message
    return caught.value


def calls(table: Table, states: Any) -> dict[str, Callable[..., Any]]:
    """Return every method applied to these states, with valid arguments."""
    count = memoryview(states).nbytes // table.game.packed_size
    zeros = bytes(count)
    return {
        "new_games": lambda **named: table.new_games(count=count, **named),
        "step": lambda **named: table.step(states, bytes(2 * count), **named),
        "playout": lambda **named: table.playout(states, 1, seed=1, **named),
        "evaluate": lambda **named: table.evaluate(states, 1, 1, seed=1, **named),
        "score": lambda **named: table.score(states, **named),
        "resample": lambda **named: table.resample(states, zeros, seed=1, **named),
        "observe": lambda **named: table.observe(states, zeros, **named),
    }


# Batches refused as a whole


def test_a_table_has_a_game_and_a_number_of_players(game: Game) -> None:
    for players in (0, game.min_players - 1, game.max_players + 1, -1, 2**32, "2"):
        assert refused(Table, game, players).reason is Reason.INVALID_PLAYERS
    nothing: Any = None
    with pytest.raises(TypeError):
        Table(nothing, 2)
    table = Table(game, game.max_players)
    assert (table.game, table.players) == (game, game.max_players)
    assert repr(table) == f"<Table of {game.name}, {game.max_players} players>"


@pytest.mark.parametrize("size", [1, 31, 32])
def test_the_size_of_states_is_a_multiple_of_a_packed_state(table: Table, states: bytes, size: int) -> None:
    for wrong in (states[:size], states[:-size], states + bytes(size)):
        whole = len(wrong) // table.game.packed_size * table.game.packed_size
        for name, call in calls(table, wrong).items():
            if name != "new_games":
                error = refused(call)
                assert (error.reason, error.field) == (Reason.INVALID_BATCH, "states")
                assert error.metadata == {"expected_size": str(whole), "size": str(len(wrong))}


def test_columns_have_the_length_of_the_states(table: Table, states: bytes) -> None:
    for size in (0, 2, 4, 5, 7, 8, 600):
        error = refused(table.step, states, bytes(size))
        assert (error.reason, error.field) == (Reason.INVALID_BATCH, "moves")
        assert error.metadata == {"expected_size": "6", "size": str(size)}
    for size in (0, 2, 4, 300):
        for call in (table.observe, lambda *columns: table.resample(*columns, seed=1)):
            error = refused(call, states, bytes(size))
            assert (error.reason, error.field) == (Reason.INVALID_BATCH, "seats")
    for size in (1, 7, 15):
        assert refused(table.new_games, seeds=bytes(size)).field == "seeds"
    for size in (0, 8, 17, 24):
        error = refused(table.new_games, seeds=bytes(16), game_numbers=bytes(size))
        assert (error.reason, error.field) == (Reason.INVALID_BATCH, "game_numbers")
    for size in (0, 3, 16, 25):
        error = refused(table.resample, states, bytes(3), seeds=bytes(size))
        assert (error.reason, error.field) == (Reason.INVALID_BATCH, "seeds")
        error = refused(table.resample, states, bytes(3), seeds=bytes(24), game_numbers=bytes(size))
        assert (error.reason, error.field) == (Reason.INVALID_BATCH, "game_numbers")


def test_seeds_determine_the_number_of_games(table: Table) -> None:
    error = refused(table.new_games, seeds=bytes(8), count=1)
    assert (error.reason, error.field) == (Reason.INVALID_BATCH, "count")
    error = refused(table.new_games, game_numbers=bytes(8), count=1)
    assert (error.reason, error.field) == (Reason.INVALID_SEED, "game_numbers")


def test_draws_have_one_seed_or_a_seed_for_each_item(table: Table, states: bytes) -> None:
    for field, given in (
        ("seed", {}),
        ("seed", {"seed": 1, "seeds": bytes(24)}),
        ("first_game_number", {"first_game_number": 1, "seeds": bytes(24)}),
        ("game_numbers", {"seed": 1, "game_numbers": bytes(24)}),
    ):
        error = refused(table.resample, states, bytes(3), **given)
        assert (error.reason, error.field) == (Reason.INVALID_SEED, field)


def test_the_size_of_a_batch_is_limited(table: Table) -> None:
    for count in (524_289, 2**40, -1):
        error = refused(table.new_games, count=count)
        assert (error.reason, error.field) == (Reason.INVALID_BATCH, "count")
    error = refused(table.new_games, seeds=bytes(8 * 524_289))
    assert (error.reason, error.field) == (Reason.INVALID_BATCH, "seeds")
    error = refused(table.score, bytes(524_289 * table.game.packed_size))
    assert (error.reason, error.field) == (Reason.INVALID_BATCH, "states")


def test_wrong_options_are_refused(table: Table, states: bytes) -> None:
    wrong = {"first_seat": table.players}
    error = refused(table.new_games, wrong, count=1)
    assert (error.reason, error.field) == (Reason.INVALID_OPTION, "options.first_seat")
    error = refused(table.step, states, bytes(6), restart=Restart(wrong))
    assert (error.reason, error.field) == (Reason.INVALID_OPTION, "restart.options.first_seat")


def test_a_stride_is_at_least_1(table: Table, states: bytes) -> None:
    wrong: Any
    for wrong in (0, -1, 2**64, 1.0):
        error = refused(table.step, states, bytes(6), restart=Restart(stride=wrong))
        assert (error.reason, error.field) == (Reason.INVALID_BATCH, "restart.stride")
    table.step(states, bytes(6), restart=Restart(stride=2**64 - 1))


def test_playouts_are_at_least_one(table: Table, states: bytes) -> None:
    for wrong in (0, -1, 2**32):
        error = refused(table.playout, states, wrong, seed=1)
        assert (error.reason, error.field) == (Reason.INVALID_BATCH, "playouts")


def test_worlds_and_playouts_are_at_least_one_and_their_product_is_limited(table: Table, states: bytes) -> None:
    for wrong in (0, -1, 2**32, 1.0, "1"):
        for worlds, playouts, field in ((wrong, 1, "worlds"), (1, wrong, "playouts")):
            error = refused(table.evaluate, states, worlds, playouts, seed=1)
            assert (error.reason, error.field) == (Reason.INVALID_BATCH, field)
            assert error.message.startswith(f"{field} must be an integer from 1 to 2**32 - 1")
    for worlds, playouts in ((10**9, 10**9), (2**16, 2**16), (2, 2**31), (2**32 - 1, 2**32 - 1)):
        error = refused(table.evaluate, states, worlds, playouts, seed=1)
        assert (error.reason, error.field) == (Reason.INVALID_BATCH, "playouts")
        assert error.message.startswith("worlds × playouts must be at most 2**32 - 1")
    # The largest product is accepted. The batch is empty, so that the call is fast.
    table.evaluate(b"", 2**16 - 1, 2**16 + 1, seed=1)


def test_too_many_playouts_are_refused_before_any_is_made(table: Table, states: bytes) -> None:
    legal = sum(len(table.position(states, item).legal_actions()) for item in range(3))
    size = 3 + 4 * 4 + legal * (2 + 8 + 4)
    columns, _ = table.evaluate(states, 2, 3, seed=1, max_playouts=legal * 6, max_bytes=size)
    assert sizes(columns) == size
    cancellation = Cancellation()
    error = refused(table.evaluate, states, 2, 3, seed=1, max_playouts=legal * 6 - 1, cancellation=cancellation)
    assert (error.reason, error.field) == (Reason.BATCH_TOO_LARGE, "playouts")
    assert error.metadata == {"limit": str(legal * 6 - 1), "asked": str(legal * 6)}
    error = refused(table.evaluate, states, 2**16 - 1, 2**16 + 1, seed=1, max_playouts=10**6, cancellation=cancellation)
    assert error.metadata == {"limit": str(10**6), "asked": str(legal * (2**32 - 1))}
    error = refused(table.evaluate, states, 2, 3, seed=1, max_bytes=size - 1, cancellation=cancellation)
    assert error.reason is Reason.BATCH_TOO_LARGE
    assert error.metadata == {"limit": str(size - 1), "asked": str(size)}
    assert cancellation.moves == 0
    # Failed items make no playouts.
    table.evaluate(bytes(len(states)), 2, 3, seed=1, max_playouts=0)


def test_only_decisions_are_evaluated(table: Table, states: bytes) -> None:
    game, size = table.game, table.game.packed_size
    over = game.new_game(table.players, seed=1)
    over.playout(1)
    chance = game.new_game(table.players)
    found, faults = table.evaluate(states[:size] + over.pack() + chance.pack() + states[size:], 1, 1, seed=1)
    listed = [(fault.item, fault.reason, fault.field) for fault in faults.items]
    assert listed == [(1, Reason.GAME_OVER, "states"), (2, Reason.CHANCE_PENDING, "states")]
    assert list(np.frombuffer(found.actors, "i1")[1:3]) == [TERMINAL_PLAYER, CHANCE_PLAYER]
    offsets = np.frombuffer(found.legal_offsets, "<u4")
    assert offsets[1] == offsets[2] == offsets[3]
    alone, _ = table.evaluate(states[size:], 1, 1, seed=1, first_game_number=3)
    assert found.mean_returns.endswith(alone.mean_returns)


def test_seeds_are_64_bit_numbers(table: Table, states: bytes) -> None:
    for wrong in (-1, 2**64, 1.0, "1"):
        for seed, first, field in ((wrong, 0, "seed"), (0, wrong, "first_game_number")):
            error = refused(table.playout, states, 1, seed=seed, first_game_number=first)
            assert (error.reason, error.field) == (Reason.INVALID_SEED, field)
            error = refused(table.resample, states, bytes(3), seed=seed, first_game_number=first)
            assert (error.reason, error.field) == (Reason.INVALID_SEED, field)
            error = refused(table.evaluate, states, 1, 1, seed=seed, first_game_number=first)
            assert (error.reason, error.field) == (Reason.INVALID_SEED, field)


def sizes(columns: PositionColumns | EvaluationColumns) -> int:
    return sum(map(len, columns))


def test_too_large_results_are_refused(table: Table) -> None:
    """For columns of known size, legal ids, weights and final observations, the limit is exact to the byte."""
    choices = random.Random(1)
    wanted = Columns(legal=True, scores=True, observations=True)
    for seeds in (np.arange(6, dtype="<u8"), None):
        begun = table.new_games(seeds=seeds, count=6 * (seeds is None), columns=wanted)
        ended = 0
        while not ended:
            offsets, ids = np.frombuffer(begun.legal_offsets, "<u4"), np.frombuffer(begun.legal_ids, "<u2")
            moves = np.array([choices.choice(ids[a:b]) for a, b in pairwise(offsets)], "<u2")
            before = begun.states
            begun, _ = table.step(before, moves, columns=wanted, restart=Restart())
            ended = len(begun.final_observations)
            answered = sizes(begun)
            if ended or choices.random() < 0.1:
                again, _ = table.step(before, moves, columns=wanted, restart=Restart(), max_bytes=answered)
                assert again == begun
                for limit in (answered - 1, answered - 1 - ended, answered // 2, 0):
                    error = refused(table.step, before, moves, columns=wanted, restart=Restart(), max_bytes=limit)
                    assert error.reason is Reason.BATCH_TOO_LARGE
                    assert error.metadata["limit"] == str(limit)
                    assert limit < int(error.metadata["asked"]) <= answered
    observations, _ = table.observe(begun.states, bytes(6), max_bytes=6 * table.game.observation_length)
    assert len(observations) == 6 * table.game.observation_length
    error = refused(table.observe, begun.states, bytes(6), max_bytes=len(observations) - 1)
    assert error.reason is Reason.BATCH_TOO_LARGE
    assert error.metadata == {"limit": str(len(observations) - 1), "asked": str(len(observations))}


# Columns


def test_an_empty_batch_has_empty_columns(table: Table) -> None:
    for empty in (b"", np.zeros((0, table.game.packed_size), "u1")):
        for name, call in calls(table, empty).items():
            found = call()
            columns, faults = (found, FaultColumns(b"", ())) if name == "new_games" else found
            assert faults == FaultColumns(b"", ())
            if name == "evaluate":
                assert columns.legal_offsets == bytes(4)
                columns = columns._replace(legal_offsets=b"")
            assert not any(columns)
    nothing, _ = table.step(b"", b"", columns=Columns(legal=True, scores=True, observations=True), restart=Restart())
    assert nothing.legal_offsets == bytes(4)
    assert not any(nothing._replace(legal_offsets=b""))
    assert not any(table.new_games(seeds=b""))


def test_columns_can_be_arrays(table: Table, states: bytes) -> None:
    array = np.frombuffer(states, "u1").reshape(3, table.game.packed_size)
    # Odd addresses are accepted, because no alignment is required.
    odd = memoryview(b"x" + states)[1:]
    for name, call in calls(table, states).items():
        for same in (array, odd, bytearray(states)):
            assert calls(table, same)[name]() == call()
    legal = [table.game.unpack(array[i]).legal_actions()[-1] for i in range(3)]
    expected = table.step(states, np.array(legal, "<u2").tobytes())
    assert table.step(array, np.array(legal, np.uint16)) == expected
    seeds = np.arange(3, dtype=np.uint64)
    assert table.new_games(seeds=seeds, game_numbers=seeds) == table.new_games(
        seeds=seeds.tobytes(), game_numbers=seeds.tobytes()
    )


def test_reusing_the_returned_states_gives_the_same_results(table: Table) -> None:
    # The object that was returned last is not checked again, but a copy of it is.
    columns, restart = Columns(legal=True, scores=True, observations=True), Restart(stride=20)
    seeds, numbers = np.full(20, 1, "<u8"), np.arange(20, dtype="<u8")
    other = Table(table.game, table.players)
    positions = table.new_games(seeds=seeds, game_numbers=numbers, columns=columns)
    for _ in range(30):
        for name in ("playout", "evaluate", "score", "resample", "observe"):
            assert calls(table, positions.states)[name]() == calls(other, positions.states)[name]()
        begins = np.frombuffer(positions.legal_offsets, "<u4")[:-1]
        moves = np.frombuffer(positions.legal_ids, "<u2")[begins].tobytes()
        copied, _ = other.step(bytearray(positions.states), moves, columns=columns, restart=restart)
        positions, faults = table.step(positions.states, moves, columns=columns, restart=restart)
        assert positions == copied
        assert not faults.reasons


def test_broken_states_stay_broken_when_they_are_reused(table: Table, states: bytes) -> None:
    broken = bytearray(states)
    broken[table.game.packed_size + 1] ^= 0xFF
    positions, faults = table.step(broken, bytes(6))
    again, faults_again = table.step(positions.states, bytes(6))
    assert faults.reasons[1] == faults_again.reasons[1] == Reason.UNSUPPORTED_RULES_VERSION.number
    assert positions.actors[1] == again.actors[1] == BROKEN


def test_states_can_be_overwritten(table: Table) -> None:
    # The second item has an invalid state, and the third an invalid move.
    size, columns, restart = (
        table.game.packed_size,
        Columns(legal=True, scores=True, observations=True),
        Restart(None, 20),
    )
    seeds, numbers = np.full(20, 1, "<u8"), np.arange(20, dtype="<u8")
    positions = table.new_games(seeds=seeds, game_numbers=numbers, columns=columns)
    states = np.frombuffer(positions.states, "u1").reshape(20, size).copy()
    states[1, 1] ^= 0xFF
    for _ in range(60):
        moves = np.frombuffer(positions.legal_ids, "<u2")[np.frombuffer(positions.legal_offsets, "<u4")[:-1]].copy()
        moves[2] = 0xFFFF
        expected, expected_faults = table.step(states.tobytes(), moves, columns=columns, restart=restart)
        before = states.copy()
        positions, faults = table.step(states, moves, columns=columns, restart=restart, overwrite_states=True)
        assert np.shares_memory(np.frombuffer(positions.states, "u1"), states)
        assert (positions, faults) == (expected, expected_faults)
        assert states.tobytes() == expected.states
        assert (states[1:3] == before[1:3]).all()
        assert [fault.item for fault in faults.items] == [1, 2]


def test_states_that_cannot_be_overwritten_are_copied(table: Table, states: bytes) -> None:
    odd = memoryview(bytearray(b"x" + states))[1:]
    expected = table.step(states, bytes(6))
    for same in (states, memoryview(states), odd):
        answered = table.step(same, bytes(6), overwrite_states=True)
        assert answered == expected
        assert isinstance(answered[0].states, bytes)
        assert same == states
    assert table.step(bytearray(), b"", overwrite_states=True)[0].states == b""


def test_a_single_item_does_not_change_pythons_shared_bytes(table: Table, states: bytes) -> None:
    # Python shares bytes objects of length one.
    before = [bytes([value])[0] for value in range(256)]
    one = states[: table.game.packed_size]
    for call in calls(table, one).values():
        call()
    table.step(one, b"\xff\xff")
    assert [bytes([value])[0] for value in range(256)] == before
    assert b"".join(bytes([value]) for value in range(256)) == bytes(range(256))


def test_a_result_with_many_legal_ids_is_complete(table: Table) -> None:
    game = table.game
    choices = random.Random(5)
    richest = max(
        (position for seed in range(20) for position in _game(game, table.players, seed, choices)),
        key=lambda position: len(position.legal_actions()),
    )
    legal = richest.legal_actions()
    count = 2000
    found, faults = table.step(
        richest.pack() * count, np.full(count, 0xFFFF, "<u2"), columns=Columns(legal=True, scores=True)
    )
    assert len(faults.items) == 20
    assert faults.reasons == bytes([Reason.INVALID_ACTION.number]) * count
    assert np.frombuffer(found.legal_ids, "<u2").tolist() == legal * count
    assert np.frombuffer(found.legal_offsets, "<u4").tolist() == list(range(0, (count + 1) * len(legal), len(legal)))


def _game(game: Game, players: int, seed: int, choices: random.Random) -> Iterator[Any]:
    position = game.new_game(players, seed=seed)
    while not position.is_terminal():
        yield position.clone()
        position.apply(choices.choice(position.legal_actions()))


def test_faults_fit_into_a_byte(game: Game) -> None:
    assert max(game.description.faults) < 256


def test_reasons_have_distinct_numbers_in_a_byte() -> None:
    assert len({reason.number for reason in Reason}) == len(Reason)
    assert all(0 < reason.number < 256 for reason in Reason)


# Cancellation and threads


# For each kind of batch, a function that runs it. The batches do not end while a test waits.
ENDLESS_BATCHES: dict[str, Callable[..., Any]] = {
    "playouts": lambda table, states, **named: table.playout(states, ENDLESS, seed=1, **named),
    "worlds": lambda table, states, **named: table.evaluate(states, ENDLESS, 1, seed=1, **named),
    "playouts in a world": lambda table, states, **named: table.evaluate(states, 1, ENDLESS, seed=1, **named),
}


@contextmanager
def endless(table: Table, states: bytes, name: str = "playouts") -> Iterator[tuple[Cancellation, Future[Any]]]:
    """Run a batch in a separate thread until it is cancelled."""
    cancellation = Cancellation()
    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(ENDLESS_BATCHES[name], table, states, cancellation=cancellation)
        try:
            yield cancellation, call
        finally:
            cancellation.cancel()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline


def test_a_cancelled_batch_makes_no_move(table: Table, states: bytes) -> None:
    for call in calls(table, states).values():
        cancellation = Cancellation()
        assert not cancellation.cancelled
        cancellation.cancel()
        assert cancellation.cancelled
        with pytest.raises(Cancelled):
            call(cancellation=cancellation)
        assert cancellation.moves == 0


def test_moves_are_counted(table: Table, states: bytes) -> None:
    cancellation = Cancellation()
    legal = [table.game.unpack(part).legal_actions()[0] for part in np.frombuffer(states, "u1").reshape(3, -1)]
    table.step(states, np.array(legal, "<u2"), cancellation=cancellation)
    assert cancellation.moves == 3
    table.step(states, np.array([*legal[:2], 0xFFFF], "<u2"), cancellation=cancellation)
    assert cancellation.moves == 5
    playouts, _ = table.playout(states, 4, seed=1, cancellation=cancellation)
    assert cancellation.moves == 5 + np.frombuffer(playouts.decisions, "<u8").sum()


@pytest.mark.parametrize("name", ENDLESS_BATCHES)
def test_a_cancelled_batch_stops_after_a_bounded_number_of_moves(table: Table, states: bytes, name: str) -> None:
    with endless(table, states, name) as (cancellation, call):
        wait_for(lambda: cancellation.moves > MAX_GAME_LENGTH)
        cancellation.cancel()
        moves = cancellation.moves
        assert isinstance(call.exception(PATIENCE), Cancelled)
        assert cancellation.moves - moves < MAX_GAME_LENGTH


@pytest.mark.threads
@pytest.mark.parametrize("name", ENDLESS_BATCHES)
def test_other_threads_run_while_batches_run(table: Table, states: bytes, name: str) -> None:
    """Batches release the GIL: two batches and this thread all make progress."""
    with endless(table, states, name) as (first, first_call), endless(table, states) as (second, second_call):
        for _ in range(3):
            begun = first.moves, second.moves
            wait_for(lambda: first.moves > begun[0] and second.moves > begun[1])  # noqa: B023
        assert not first_call.done()
        assert not second_call.done()


@pytest.mark.threads
@pytest.mark.parametrize("num_threads", [1, 2])
def test_threads_share_a_table(table: Table, num_threads: int) -> None:
    def play(seed: int, num_threads: int = 1) -> list[bytes | memoryview]:
        asked: Any = {"columns": Columns(legal=True), "num_threads": num_threads}
        found = table.new_games(seeds=np.full(8, seed, "<u8"), **asked)
        seen = [found.states]
        for _ in range(30):
            ids, offsets = np.frombuffer(found.legal_ids, "<u2"), np.frombuffer(found.legal_offsets, "<u4")
            found, _ = table.step(found.states, ids[offsets[:-1]], restart=Restart(), **asked)
            seen.append(found.states)
        return seen

    expected = [play(seed) for seed in range(4)]
    start = threading.Barrier(4)

    def at_once(seed: int) -> list[bytes | memoryview]:
        start.wait(PATIENCE)
        return play(seed, num_threads)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(at_once, range(4))) == expected


THREADS = (2, 3, 5, 256)
ALL_COLUMNS = Columns(legal=True, scores=True, observations=True)


@pytest.mark.threads
@pytest.mark.parametrize("explicit", [False, True])
def test_a_batch_does_not_depend_on_the_number_of_threads(table: Table, explicit: bool) -> None:
    rng = np.random.default_rng(7)
    asked: dict[str, Any] = {"count": 40} if explicit else {"seeds": range(40)}
    positions = table.new_games(**asked, columns=ALL_COLUMNS)
    reusing = Table(table.game, table.players, reuse_memory=True)
    for num_threads in THREADS:
        assert table.new_games(**asked, columns=ALL_COLUMNS, num_threads=num_threads) == positions
    steps = ended = 0
    while steps < 60 if explicit else ended < 40:
        offsets = np.frombuffer(positions.legal_offsets, "<u4")
        places = offsets[:-1] + (rng.random(40) * np.diff(offsets)).astype(np.uint32)
        moves = np.frombuffer(positions.legal_ids, "<u2")[places]
        restart = Restart(stride=40)
        num_threads = int(rng.choice(THREADS))
        expected = table.step(positions.states, moves, columns=ALL_COLUMNS, restart=restart)
        asked = {"columns": ALL_COLUMNS, "restart": restart, "num_threads": num_threads}
        assert table.step(bytearray(positions.states), moves, **asked) == expected
        columns, faults = reusing.step(positions.states, moves, **asked)
        assert (*map(bytes, columns), faults) == (*map(bytes, expected[0]), expected[1])
        positions, _ = expected
        ended += positions.final.count(1)
        steps += 1


@pytest.mark.threads
@pytest.mark.parametrize("num_threads", THREADS)
def test_a_failed_item_does_not_affect_other_items_in_several_threads(
    table: Table, states: bytes, num_threads: int
) -> None:
    broken = states + b"\xff" * (len(states) // 3) + states
    moves = np.full(7, 0xFFFF)
    expected = table.step(broken, moves, columns=ALL_COLUMNS)
    assert table.step(broken, moves, columns=ALL_COLUMNS, num_threads=num_threads) == expected
    assert len(expected[1].items) == 7


@pytest.mark.threads
def test_moves_in_several_threads_are_counted(table: Table) -> None:
    positions = table.new_games(seeds=range(50), columns=Columns(legal=True))
    firsts = np.frombuffer(positions.legal_ids, "<u2")[np.frombuffer(positions.legal_offsets, "<u4")[:-1]]
    cancellation = Cancellation()
    table.step(positions.states, firsts, num_threads=3, cancellation=cancellation)
    assert cancellation.moves == 50
    cancellation.cancel()
    with pytest.raises(Cancelled):
        table.step(positions.states, firsts, num_threads=3, cancellation=cancellation)
    assert cancellation.moves == 50


@pytest.mark.threads
def test_the_size_of_a_result_does_not_depend_on_the_number_of_threads(table: Table) -> None:
    """The size includes the final observations of games that end."""
    columns, restart = ALL_COLUMNS, Restart()
    positions = table.new_games(seeds=[7] * 9, columns=columns)
    while True:
        moves = np.full(9, np.frombuffer(positions.legal_ids, "<u2")[0])
        after, _ = table.step(positions.states, moves, columns=columns, restart=restart)
        if any(after.final):
            break
        positions = after
    size = sizes(after)
    for num_threads in (1, *THREADS):
        asked: Any = {"columns": columns, "restart": restart, "num_threads": num_threads}
        assert table.step(positions.states, moves, max_bytes=size, **asked)[0] == after
        for limit in (size - 1, size - len(after.legal_ids), size - len(after.legal_ids) - 1):
            error = refused(table.step, positions.states, moves, max_bytes=limit, **asked)
            assert error.reason == Reason.BATCH_TOO_LARGE
            assert error.metadata["limit"] == str(limit)


@pytest.mark.parametrize("number", [0, 257, -1, 2.0, None])
def test_the_number_of_threads_is_from_1_to_256(table: Table, states: bytes, number: Any) -> None:
    for error in (
        refused(table.new_games, count=1, num_threads=number),
        refused(table.step, states, [0] * 3, num_threads=number),
    ):
        assert (error.reason, error.field) == (Reason.INVALID_BATCH, "num_threads")


def test_only_ended_games_have_final_scores(table: Table) -> None:
    rng = np.random.default_rng(7)
    ended = 0
    positions = table.new_games(seeds=range(20), columns=ALL_COLUMNS)
    while ended < 20:
        offsets = np.frombuffer(positions.legal_offsets, "<u4")
        places = offsets[:-1] + (rng.random(20) * np.diff(offsets)).astype(np.uint32)
        moves = np.frombuffer(positions.legal_ids, "<u2")[places]
        before = positions.states
        positions, _ = table.step(before, moves, columns=ALL_COLUMNS, restart=Restart(stride=20))
        alone, _ = table.step(before, moves, columns=Columns(final_scores=True), restart=Restart(stride=20))
        final = np.frombuffer(positions.final, "u1")
        ended += int(np.count_nonzero(final))
        totals = np.frombuffer(positions.totals, "<i4").reshape(20, -1) * final[:, None]
        assert alone.totals == totals.astype("<i4").tobytes()
        assert alone.returns == positions.returns
