"""Masks of legal actions that batches compute, and choices among the legal actions in lists and masks."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chatiere.engine import EngineError, Game
from chatiere.engine.core import choices
from chatiere.engine.core.batch import Table
from chatiere.engine.core.columns import Columns, PositionColumns, Restart

GAMES = 40


@pytest.fixture
def table(game: Game) -> Table:
    return Table(game, game.max_players)


def new_mask(table: Table, form: str, rows: int = GAMES) -> NDArray[np.uint8]:
    """Return an array for the masks of a table, filled with wrong values."""
    num_actions = table.game.num_distinct_actions
    if form == "bits":
        return np.full((rows, -(-num_actions // 8)), 0xFF, np.uint8)
    mask: NDArray[np.uint8] = np.full((rows, num_actions), True, np.dtype(form))
    return mask


def as_flags(mask: NDArray[np.uint8], form: str, num_actions: int) -> NDArray[np.uint8]:
    if form != "bits":
        return mask.view(np.uint8)
    assert not np.unpackbits(mask, axis=1, bitorder="little")[:, num_actions:].any()
    return np.unpackbits(mask, axis=1, count=num_actions, bitorder="little")


def lists(positions: PositionColumns) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    return np.frombuffer(positions.legal_offsets, np.uint32), np.frombuffer(positions.legal_ids, np.uint16)


def flags_of(positions: PositionColumns, num_actions: int) -> NDArray[np.uint8]:
    """Return the mask that corresponds to the lists of legal actions."""
    offsets, ids = lists(positions)
    flags = np.zeros((len(positions.actors), num_actions), np.uint8)
    for row, actor in enumerate(np.frombuffer(positions.actors, np.int8)):
        if actor >= 0:
            flags[row, ids[offsets[row] : offsets[row + 1]]] = 1
    return flags


@pytest.mark.parametrize("form", ["bool", "uint8", "bits"])
@pytest.mark.parametrize("restarts", [False, True])
def test_masks_agree_with_lists(table: Table, form: str, restarts: bool) -> None:
    columns, restart = Columns(legal=True), Restart(stride=GAMES) if restarts else None
    num_actions = table.game.num_distinct_actions
    mask, alone = new_mask(table, form), new_mask(table, form)
    positions = table.new_games(seeds=np.arange(GAMES), columns=columns, mask=mask)
    assert (as_flags(mask, form, num_actions) == flags_of(positions, num_actions)).all()
    luck = np.random.default_rng(3)
    over = False
    while not over:
        offsets, ids = lists(positions)
        # A game that is over has no legal actions, and a move in it fails.
        counts = np.diff(offsets).astype(np.intp)
        places = np.minimum(offsets[:-1] + (luck.random(GAMES) * counts).astype(np.uint32), len(ids) - 1)
        before, moves = positions.states, ids[places]
        positions, _ = table.step(before, moves, columns=columns, restart=restart, mask=mask)
        assert (as_flags(mask, form, num_actions) == flags_of(positions, num_actions)).all()
        # The mask is the same without lists of legal actions and with several threads.
        table.step(before, moves, restart=restart, mask=alone, num_threads=3)
        assert (alone == mask).all()
        finals = np.frombuffer(positions.final, np.bool_)
        over = bool(finals.any() if restarts else finals.mean() > 0.9)


def test_masks_are_empty_if_no_seat_is_to_act(table: Table) -> None:
    mask = new_mask(table, "bool", 2)
    positions = table.new_games(count=2, columns=Columns(legal=True), mask=mask)
    assert not mask.any()
    broken = b"\xff" * table.game.packed_size
    _, faults = table.step(bytes(positions.states)[: table.game.packed_size] + broken, [65535, 0], mask=mask)
    assert [fault.item for fault in faults.items] == [0, 1]
    assert not mask.any()
    assert table.new_games(seeds=[], mask=new_mask(table, "bits", 0)).states == b""


def test_unsuitable_arrays_for_masks_are_refused(table: Table) -> None:
    num_actions = table.game.num_distinct_actions
    fitting = np.zeros((2, num_actions), np.bool_)
    locked = fitting.copy()
    locked.flags.writeable = False
    forms = rf"bool \(2, {num_actions}\) or uint8 \(2, {num_actions}\) or uint8 \(2, {-(-num_actions // 8)}\)"
    states = bytes(table.new_games(seeds=[1, 2]).states)
    calls: tuple[Callable[[Any], object], ...] = (
        lambda mask: table.new_games(seeds=[1, 2], mask=mask),
        lambda mask: table.step(states, [0, 0], mask=mask),
    )
    wrong: Any
    for call in calls:
        for wrong in (
            fitting[:1],
            fitting[:, 1:],
            fitting.astype(np.int8),
            fitting.astype(np.float32),
            fitting[0],
            1,
            "a",
        ):
            with pytest.raises(EngineError, match=f"^mask must be {forms}, not ") as raised:
                call(wrong)
            assert (raised.value.reason, raised.value.field) == ("INVALID_BATCH", "mask")
        with pytest.raises(EngineError, match=r"^mask must be writable$"):
            call(locked)
        with pytest.raises(EngineError, match=r"^mask must be in C order$"):
            call(np.asfortranarray(fitting))


@pytest.mark.parametrize("form", ["bool", "uint8", "bits"])
def test_choices_among_lists_and_masks_are_the_same(table: Table, form: str) -> None:
    num_actions, mask = table.game.num_distinct_actions, new_mask(table, form)
    positions = table.new_games(seeds=np.arange(GAMES), columns=Columns(legal=True), mask=mask)
    random = np.random.default_rng(3)
    for _ in range(30):
        offsets, ids = lists(positions)
        luck = random.integers(0, 2**64, GAMES, np.uint64)
        moves = choices.random_actions(offsets, ids, luck)
        expected = [
            ids[offsets[row] : offsets[row + 1]][
                int(luck[row] >> np.uint64(32)) * int(offsets[row + 1] - offsets[row]) >> 32
            ]
            for row in range(GAMES)
        ]
        assert moves.tolist() == expected
        assert choices.random_masked_actions(mask, luck, num_actions).tolist() == expected
        again = new_mask(table, form)
        assert choices.legal_mask(offsets, ids, num_actions, again) is again
        assert (again == mask).all()
        positions, _ = table.step(
            positions.states, moves, columns=Columns(legal=True), restart=Restart(stride=GAMES), mask=mask
        )


def test_choices_refuse_invalid_lists_and_masks() -> None:
    luck = np.zeros(2, np.uint64)
    offsets, ids = np.array([0, 1, 3], np.uint32), np.array([4, 2, 3], np.uint16)
    assert np.flatnonzero(choices.legal_mask(offsets, ids, 5)).tolist() == [4, 7, 8]
    assert choices.random_actions(offsets, ids, luck).tolist() == [4, 2]
    wrong: Any
    for wrong in ([], [1, 1, 3], [0, 2, 1, 3], [0, 1, 2], [0, 1, 4]):
        with pytest.raises(ValueError, match=r"^legal_offsets must ascend from 0 to 3"):
            choices.legal_mask(np.array(wrong, np.uint32), ids, 5)
    with pytest.raises(ValueError, match=r"^legal_ids must be below 4, not 4$"):
        choices.legal_mask(offsets, ids, 4)
    with pytest.raises(ValueError, match=r"^decision 1 has no legal action$"):
        choices.random_actions(np.array([0, 3, 3], np.uint32), ids, luck)
    with pytest.raises(ValueError, match=r"^luck must be uint64 \(2,\)"):
        choices.random_actions(offsets, ids, luck[:1])
    mask = np.array([[0, 1, 0], [0, 0, 0]], np.bool_)
    with pytest.raises(ValueError, match=r"^decision 1 has no legal action$"):
        choices.random_masked_actions(mask, luck, 3)
    refused: Any
    for refused in (mask[0], mask.astype(np.float32), np.zeros((2, 2), np.bool_)):
        with pytest.raises(ValueError, match=r"^mask must be bool or uint8 \(n, 3\), or as bits uint8 \(n, 1\), not "):
            choices.random_masked_actions(refused, luck, 3)
    for wrong in (0, 2**16 + 1):
        with pytest.raises(ValueError, match=rf"^num_actions must be from 1 to 65536, not {wrong}$"):
            choices.random_masked_actions(np.ones((2, wrong), np.bool_), luck, wrong)
    assert choices.random_masked_actions(mask[:0], luck[:0], 3).tolist() == []
    assert choices.legal_mask(np.zeros(1, np.uint32), ids[:0], 3).shape == (0, 3)
    assert choices.random_actions(np.zeros(1, np.uint32), ids[:0], luck[:0]).tolist() == []


def test_words_are_scrambled_as_by_splitmix64() -> None:
    # These are the first numbers of the generator with the state 1234567, according to Rosetta Code.
    states = np.uint64(1234567) + np.uint64(0x9E3779B97F4A7C15) * np.arange(5, dtype=np.uint64)
    expected = [
        *(6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431),
        16408922859458223821,
    ]
    assert choices.scramble(states).tolist() == expected
    assert choices.scramble(states[::-1].reshape(5, 1)).ravel().tolist() == expected[::-1]
    assert choices.scramble(states[0]) == expected[0]


def test_luck_is_scrambled_from_seed_game_number_and_decisions() -> None:
    numbers = np.array([0, 1, 2**64 - 1], np.uint64)
    decisions = np.array([0, 5, 2**32 - 1], np.uint32)
    seed = np.uint64(2**64 - 1)
    expected = choices.scramble(choices.scramble(choices.scramble(np.full(3, seed)) + numbers) + decisions)
    assert choices.luck_of(int(seed), numbers, decisions).tolist() == expected.tolist()
    with pytest.raises(ValueError, match=r"^decisions must be uint32 \(3,\), not \(2,\)$"):
        choices.luck_of(0, numbers, decisions[:2])
