"""Python's and NumPy's integers are accepted wherever an integer is expected. Errors name the wrong argument."""

import array
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conformance.support import random_options

from chatiere.engine import EngineError, Game, Reason
from chatiere.engine.core.batch import Table
from chatiere.engine.core.columns import Columns, Restart
from chatiere.engine.core.integers import must_be, unsigned

NUMBERS: list[Callable[[int], Any]] = [np.int8, np.uint8, np.int64, np.uint64, np.array]
kinds = pytest.mark.parametrize("kind", NUMBERS, ids=lambda kind: kind.__name__)
NO_NUMBERS = [1.0, np.float64(1), "1", None, b"1", [1], np.array([1]), True, np.True_, 1j]


def refused(call: Callable[..., object], *arguments: object, **named: object) -> EngineError:
    with pytest.raises(EngineError) as caught:
        call(*arguments, **named)
    return caught.value


# Single integers


@kinds
def test_a_game_takes_any_integer(game: Game, kind: Callable[[int], Any]) -> None:
    players = game.max_players
    position = game.new_game(players, seed=7, game_number=3)
    assert game.new_game(kind(players), seed=kind(7), game_number=kind(3)) == position
    assert game.new_game(kind(players)) == game.new_game(players)
    assert game.new_game(players, {"first_seat": kind(1)}) == game.new_game(players, {"first_seat": 1})
    assert game.position(position.pack()[32:], tuple(map(kind, (7, 3, 9)))).random_stream() == (7, 3, 9)
    assert Table(game, kind(players)).players == players


@kinds
def test_a_position_takes_any_integer(game: Game, kind: Callable[[int], Any]) -> None:
    position = game.new_game(game.max_players, seed=7)
    action = position.legal_actions()[0]
    assert position.observation(kind(1)) == position.observation(1)
    assert position.resample(kind(1), kind(5), kind(6)) == position.resample(1, 5, 6)
    assert position.child(np.uint16(action)) == position.child(np.array(action)) == position.child(action)
    assert position.action_label(np.uint16(action)) == position.action_label(action)
    assert position.perft(kind(1)) == position.perft(1)
    assert position.clone().playout(kind(5), kind(6)) == position.clone().playout(5, 6)
    chance = game.new_game(game.max_players)
    outcome = chance.chance_outcomes()[0][0]
    assert chance.outcome_label(kind(outcome)) == chance.outcome_label(outcome)


def test_a_range_of_one_integer_is_named_by_that_integer() -> None:
    assert must_be("players", 3, 2, 2) == "players must be the integer 2, not 3"
    assert must_be("players", 7, 2, 6) == "players must be an integer from 2 to 6, not 7"
    assert must_be("seed", -1, 0, 2**64 - 1) == "seed must be an integer from 0 to 2**64 - 1, not -1"


@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=repr)
def test_values_other_than_integers_are_refused_by_name(game: Game, wrong: Any) -> None:
    players = game.min_players
    position = game.new_game(players, seed=7)
    table = Table(game, players)
    for name, reason, call in (
        ("players", Reason.INVALID_PLAYERS, lambda: game.new_game(wrong)),
        ("players", Reason.INVALID_PLAYERS, lambda: Table(game, wrong)),
        ("game_number", Reason.INVALID_SEED, lambda: game.new_game(players, seed=1, game_number=wrong)),
        ("drawn", Reason.INVALID_SEED, lambda: game.position(position.pack()[32:], (0, 0, wrong))),
        ("seat", Reason.INVALID_SEAT, lambda: position.observation(wrong)),
        ("seat", Reason.INVALID_SEAT, lambda: position.resample(wrong, 1)),
        ("seed", Reason.INVALID_SEED, lambda: position.resample(0, wrong)),
        ("seed", Reason.INVALID_SEED, lambda: position.playout(wrong)),
        ("playouts", Reason.INVALID_BATCH, lambda: table.playout(position.pack(), wrong, seed=1)),
        ("worlds", Reason.INVALID_BATCH, lambda: table.evaluate(position.pack(), wrong, 1, seed=1)),
        ("playouts", Reason.INVALID_BATCH, lambda: table.evaluate(position.pack(), 1, wrong, seed=1)),
        ("seed", Reason.INVALID_SEED, lambda: table.resample(position.pack(), [0], seed=wrong)),
        ("restart.stride", Reason.INVALID_BATCH, lambda: table.step(b"", b"", restart=Restart(stride=wrong))),
    ):
        error = refused(call)
        assert (error.reason, error.field) == (reason, name)
        assert re.search(rf"\b{re.escape(name)} must be (an integer from|the integer) \d", error.message)
        assert error.message.endswith(f", not {'int64 (1,)' if isinstance(wrong, np.ndarray) else repr(wrong)}")
    ask: Callable[[Any], object]
    for name, ask in (
        ("move", position.apply),
        ("move", position.child),
        ("action", position.action_label),
        ("outcome", position.outcome_label),
    ):
        with pytest.raises(TypeError, match=f"^{name} must be an integer, not "):
            ask(wrong)
    with pytest.raises(ValueError, match=r"^depth must be an integer from 0 to "):
        position.perft(wrong)
    if wrong is not None:
        assert refused(game.new_game, players, seed=wrong).field == "seed"
        assert refused(table.new_games, count=wrong).field == "count"
        assert refused(table.new_games, count=1, max_bytes=wrong).field == "max_bytes"
        error = refused(game.new_game, players, {"first_seat": wrong})
        assert (error.reason, error.field) == (Reason.INVALID_OPTION, "first_seat")


def test_numbers_out_of_range_are_refused_by_name(game: Game) -> None:
    position = game.new_game(game.min_players, seed=7)
    for wrong, found in ((-1, "-1"), (np.int64(99), "np.int64(99)"), (10**5000, "an integer of 16610 bits")):
        for call in (game.new_game, position.observation, lambda seat: position.resample(seat, 1)):
            assert refused(call, wrong).message.endswith(f", not {found}")
    assert refused(position.apply, 10**5000).reason is Reason.INVALID_ACTION
    assert refused(position.action_label, 10**5000).reason is Reason.INVALID_ACTION
    with pytest.raises(ValueError, match="depth"):
        position.perft(2**40)


def test_options_take_any_integers(game: Game) -> None:
    choices = random.Random(3)
    for players in range(game.min_players, game.max_players + 1):
        for _ in range(20):
            options = random_options(game, players, choices)
            given = {name: as_numpy(value) for name, value in options.items()}
            assert game.new_game(players, given) == game.new_game(players, options)


def as_numpy(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, int) and value >= 2**63):
        return value
    return np.array(value) if isinstance(value, (list, tuple)) else np.int64(value)


# Columns


@pytest.fixture
def table(game: Game) -> Table:
    return Table(game, game.min_players)


def integers(values: list[int]) -> list[Any]:
    """Return the same numbers in every form that a column can have."""
    return [
        values,
        tuple(values),
        [np.uint8(value) for value in values],
        array.array("q", values),
        memoryview(array.array("i", values)),
        np.array(values).data,
        np.array(values, np.uint16),
        np.array(values, ">i4"),
        np.array(values, np.uint64),
        np.array(values, np.int8),
        np.array(values, object),
        np.repeat(np.array(values), 2)[::2],
    ]


def test_a_column_accepts_any_integers_that_fit(game: Game, table: Table) -> None:
    numbers = [3, 0, 5]
    begun = table.new_games(seeds=np.array(numbers, "<u8"), game_numbers=np.array(numbers, "<u8"))
    for each in integers(numbers):
        assert table.new_games(seeds=each, game_numbers=each) == begun
    seats = [0, 1, 0]
    observed = table.observe(begun.states, bytes(seats))
    drawn = table.resample(begun.states, bytes(seats), seed=1)
    for each in integers(seats):
        assert table.observe(begun.states, each) == observed
        assert table.resample(begun.states, each, seed=1) == drawn
    moves = [min(game.unpack(begun.states[i : i + game.packed_size]).legal_actions()[0], 99) for i in (0, 0, 0)]
    stepped = table.step(begun.states, np.array(moves, "<u2").tobytes())
    for each in integers(moves):
        assert table.step(begun.states, each) == stepped


def test_bytes_are_taken_as_the_column_itself(table: Table) -> None:
    seeds = np.arange(3, dtype="<u8")
    begun = table.new_games(seeds=seeds)
    for same in (seeds.tobytes(), bytearray(seeds.tobytes()), memoryview(seeds.tobytes()), seeds.data.cast("B")):
        assert table.new_games(seeds=same) == begun
    odd = np.repeat(np.frombuffer(seeds.tobytes(), "u1"), 2).data[::2]
    assert table.new_games(seeds=odd) == begun


def test_states_accept_any_integers_too(game: Game, table: Table) -> None:
    states = table.new_games(seeds=[1, 2, 3]).states
    rows = np.frombuffer(states, "u1").reshape(3, -1)
    scored = table.score(states)
    items = [states[i : i + game.packed_size] for i in range(0, len(states), game.packed_size)]
    for same in (
        rows,
        rows.astype(np.int64),
        rows.astype(np.int16).ravel(),
        np.asfortranarray(rows),
        np.repeat(rows, 2, axis=0)[::2],
        rows.tolist(),
        list(rows),
        items,
        tuple(states),
    ):
        assert table.score(same) == scored
        assert table.count_states(same) == 3
        assert table.position(same, np.int64(1)) == table.position(states, 1)
    # The states are overwritten in place, or in a copy.
    for same in (rows.astype(np.int64), rows.copy()):
        positions, _ = table.step(same, [0, 0, 0], overwrite_states=True)
        assert bytes(positions.states) == table.step(states, [0, 0, 0])[0].states
    for wrong in (rows.T, rows[None], rows[:, 1:], rows.astype(float), rows.astype(np.int64) - 256, [states]):
        error = refused(table.score, wrong)
        assert (error.reason, error.field.partition("[")[0]) == (Reason.INVALID_BATCH, "states")
        assert error.message.startswith("states")
    assert f"uint8 (n, {game.packed_size})" in refused(table.score, rows.T).message


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ([0, -1, 0], "moves[1] must be an integer from 0 to 65535, not -1"),
        ([0, 0, 2**16], "moves[2] must be an integer from 0 to 65535, not 65536"),
        ([0, 10**5000, 0], "moves[1] must be an integer from 0 to 65535, not an integer of 16610 bits"),
        ([0, 1.0, 0], "moves[1] must be an integer from 0 to 65535, not 1.0"),
        ([[0], [0], [0]], "moves[0] must be an integer from 0 to 65535, not [0]"),
        (np.array([0, 0, -1]), "moves[2] must be an integer from 0 to 65535, not -1"),
        (np.array([2**16, 0, 0], ">u4"), "moves[0] must be an integer from 0 to 65535, not 65536"),
        (np.array([0, 2**64, 0], object), "moves[1] must be an integer from 0 to 65535, not 18446744073709551616"),
        (np.array([0, None, 0], object), "moves[1] must be an integer from 0 to 65535, not None"),
        ([0, True, 0], "moves[1] must be an integer from 0 to 65535, not True"),
        (np.array([0, False, 0], object), "moves[1] must be an integer from 0 to 65535, not False"),
        (np.zeros(3, bool).data, "moves[0] must be an integer from 0 to 65535, not False"),
        (np.zeros(3, bool), "moves must be uint16 (n,), or integers that fit in it, not bool (3,)"),
        (np.zeros(3), "moves must be uint16 (n,), or integers that fit in it, not float64 (3,)"),
        (np.zeros(3, np.float16), "moves must be uint16 (n,), or integers that fit in it, not float16 (3,)"),
        (np.zeros((3, 1), np.uint16), "moves must be uint16 (n,), or integers that fit in it, not uint16 (3, 1)"),
        (np.array(["a"]), "moves must be uint16 (n,), or integers that fit in it, not <U1 (1,)"),
        (np.zeros(3, "M8[ns]"), "moves must be uint16 (n,), or integers that fit in it, not datetime64[ns] (3,)"),
        (np.uint16(5), "moves must be uint16 (n,), or integers that fit in it, not np.uint16(5)"),
        (None, "moves must be uint16 (n,), or integers that fit in it, not None"),
        ("012", "moves must be uint16 (n,), or integers that fit in it, not '012'"),
        (5, "moves must be uint16 (n,), or integers that fit in it, not 5"),
        ({0, 1, 2}, "moves must be uint16 (n,), or integers that fit in it, not {0, 1, 2}"),
        (np.zeros(3, ">u2").data, "moves must be uint16 (n,), or integers that fit in it, not a memoryview"),
        ([0, 0], "moves must be uint16 (3,), 6 bytes, not 4 bytes"),
        (np.zeros(6, np.uint8), "moves must be uint16 (3,), 6 bytes, not 12 bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_values_that_fit_no_column_are_refused_by_name(table: Table, wrong: object, found: str) -> None:
    states = table.new_games(seeds=[1, 2, 3]).states
    error = refused(table.step, states, wrong)
    assert (error.reason, error.field.partition("[")[0]) == (Reason.INVALID_BATCH, "moves")
    assert error.message.startswith(found)


def test_new_games_need_seeds_or_a_count(table: Table) -> None:
    error = refused(table.new_games, columns=Columns(legal=True))
    assert (error.reason, error.field) == (Reason.INVALID_BATCH, "count")
    assert "seeds" in error.message
    # An empty batch needs no seeds, and is the same as with seeds.
    assert table.new_games(count=0) == table.new_games(seeds=[])


@pytest.mark.parametrize("dtype", ["i8", "u2", "f8"])
def test_an_empty_array_is_an_empty_column(table: Table, dtype: str) -> None:
    assert table.step(b"", np.array([], dtype)) == table.step(b"", b"")


@pytest.mark.parametrize(("value", "bits"), [(-1, 8), (256, 8), (2**64, 64)])
def test_numbers_with_too_many_bits_are_refused(value: int, bits: int) -> None:
    with pytest.raises(ValueError, match=f"^size must be an integer from 0 to .*, not {value}$"):
        unsigned("size", value, bits)
    assert unsigned("size", 2**bits - 1, bits) == 2**bits - 1
