"""Observations, and their arrays and planes, agree with the game's description of their numbers."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chatiere.engine import Game
from chatiere.engine.core.observation import ObservationLayout
from chatiere.engine.core.observation_parts import ObservationField, ObservationKind

from .support import TABLES, Table, positions, thinned

FLAG, COUNT, CATEGORY, BITS = ObservationKind


def fields_of(game: Game) -> list[ObservationField]:
    """Return all fields, in order."""
    return [field for part in game.description.observation for field in part.fields]


def places(field: ObservationField) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the index and the offset of each number of a field."""
    for which in itertools.product(*map(range, field.shape)):
        yield which, field.offset + sum(i * stride for i, stride in zip(which, field.strides, strict=True))


def observations_of(table: Table) -> NDArray[np.uint8]:
    """Return the seats' observations at positions of random games, some of them at chance events."""
    found = [p.observation(seat) for p in thinned(positions(table), 120) for seat in range(table[1])]
    return np.frombuffer(b"".join(found), np.uint8).reshape(len(found), -1)


def test_fields_contain_every_number_once(game: Game) -> None:
    covered = np.zeros((game.observation_length, 8), int)
    for part in game.description.observation:
        for field in part.fields:
            assert field.name == part.name if len(part.fields) == 1 else field.name.startswith(f"{part.name}.")
            assert len(field.shape) == len(field.strides)
            for _, place in places(field):
                assert part.offset <= place < part.offset + int(np.prod(part.shape, dtype=int))
                covered[place, field.first_bit : field.first_bit + field.num_bits] += 1
    # All numbers are covered by fields. Unused bits stay 0. This is checked below.
    assert covered.max() == 1
    assert covered[:, 0].all()
    names = [field.name for field in fields_of(game)]
    assert len(set(names)) == len(names)


def test_largest_numbers_fit_kinds_and_bits(game: Game) -> None:
    for field in fields_of(game):
        assert 1 <= field.largest < 2**field.num_bits
        assert field.first_bit + field.num_bits <= 8
        assert field.kind is not FLAG or field.largest == 1
        assert field.kind is not BITS or field.largest & field.largest + 1 == 0


def test_no_number_is_above_the_largest_of_its_field(table: Table) -> None:
    observations = observations_of(table)
    rest = observations.copy()
    for field in fields_of(table[0]):
        for which, place in places(field):
            numbers = observations[:, place] >> field.first_bit & 2**field.num_bits - 1
            assert numbers.max() <= field.largest, (field.name, which)
            rest[:, place] &= ~np.uint8(2**field.num_bits - 1 << field.first_bit)
    assert not rest.any()


def test_counts_and_categories_are_not_flags(game: Game) -> None:
    most: dict[str, int] = {}
    for table in TABLES:
        if table[0] is game:
            for name, values in ObservationLayout(game.description).arrays(observations_of(table)).items():
                most[name] = max(most.get(name, 0), int(values.max()))
    # Parts that are rare in random games have separate tests.
    assert len([f for f in fields_of(game) if f.kind in (COUNT, CATEGORY) and most[f.name] < 2]) <= 2


def test_arrays_contain_the_numbers_by_name_and_restore_the_observation(table: Table) -> None:
    layout, observations = ObservationLayout(table[0].description), observations_of(table)
    assert layout.length == table[0].observation_length
    arrays = layout.arrays(observations)
    assert list(arrays) == [field.name for field in fields_of(table[0])]
    again = np.zeros_like(observations)
    for field in fields_of(table[0]):
        assert arrays[field.name].shape == (len(observations), *field.shape)
        assert arrays[field.name].dtype == np.uint8
        for which, place in places(field):
            part: Any = (slice(None), *which)
            again[:, place] |= arrays[field.name][part] << field.first_bit
    assert (again == observations).all()


def test_planes_contain_the_same_numbers_from_0_to_1(table: Table) -> None:
    layout, observations = ObservationLayout(table[0].description), observations_of(table)
    arrays, planes = layout.arrays(observations), layout.planes(observations)
    assert list(planes) == list(arrays)
    for field in fields_of(table[0]):
        plane, numbers = planes[field.name], arrays[field.name]
        assert plane.dtype == np.float32
        assert plane.min() >= 0
        assert plane.max() <= 1
        if field.kind is CATEGORY:
            assert plane.shape == (*numbers.shape, field.largest + 1)
            assert (plane.sum(axis=-1) == 1).all()
            assert (plane.argmax(axis=-1) == numbers).all()
        elif field.kind is BITS:
            assert plane.shape == (*numbers.shape, field.largest.bit_length())
            assert (plane @ 2 ** np.arange(plane.shape[-1]) == numbers).all()
        else:
            assert plane.shape == numbers.shape
            assert (np.rint(plane * field.largest) == numbers).all()


def test_single_observations_and_batches_of_any_shape_are_read_the_same(table: Table) -> None:
    layout, observations = ObservationLayout(table[0].description), observations_of(table)[:4]
    square = observations.reshape(2, 2, -1)
    for read in (layout.arrays, layout.planes):
        many = read(square)
        for row, column in itertools.product(range(2), range(2)):
            for one in (read(square[row, column]), read(square[row, column].tobytes())):
                for name, numbers in one.items():
                    assert numbers.shape == many[name].shape[2:]
                    assert (many[name][row, column] == numbers).all()
        assert all(len(numbers) == 0 for numbers in read(observations[:0]).values())


def test_invalid_observations_are_refused(game: Game) -> None:
    layout = ObservationLayout(game.description)
    one = np.frombuffer(game.new_game(game.min_players, seed=1).observation(0), np.uint8)
    wrong: Any
    for wrong in (one[:-1], one.astype(np.float32), one[None].T, np.array(1, np.uint8), one.tobytes() + b"\0"):
        with pytest.raises(ValueError, match=f"^observations are uint8 with {layout.length} numbers"):
            layout.arrays(wrong)
    for field in fields_of(game):
        for _, place in places(field):
            too_large = one.copy()
            too_large[place] = (field.largest + 1 << field.first_bit) & 255
            if field.largest + 1 < 2**field.num_bits:
                with pytest.raises(ValueError, match=f"^{field.name} is {field.largest + 1}, where {field.largest}"):
                    layout.planes(too_large)
                break
