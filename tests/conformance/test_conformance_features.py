"""Features: the compiled encoders and windows agree with planes and with NumPy, for all games and seats."""

import itertools
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chatiere import engine
from chatiere.engine import EngineError, Game
from chatiere.engine.core.compact import CompactObservations
from chatiere.engine.core.observation import Described, ObservationLayout
from chatiere.engine.core.observation_parts import ObservationKind, bits, category, count, flag, lay_out

from .support import Table
from .test_conformance_observation import observations_of

FORMS = (np.float32, np.float16)
WITH_BOARD = engine.game("chat_cartonne")


def planes_in_a_row(layout: ObservationLayout, observations: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the features of observations, computed by NumPy."""
    return np.concatenate(
        [plane.reshape(len(observations), -1) for plane in layout.planes(observations).values()], axis=1
    )


def assert_encodes(layout: ObservationLayout, observations: NDArray[np.uint8]) -> None:
    expected = planes_in_a_row(layout, observations)
    assert expected.shape == (len(observations), layout.num_features)
    features = layout.features(observations)
    assert features.dtype == np.float32
    assert (features == expected).all()
    for dtype in FORMS:
        out: Any = np.full(expected.shape, np.nan, dtype)
        assert layout.features(observations, out) is out
        assert (out == expected.astype(dtype)).all()
    packed = np.full((len(observations), layout.packed_size), 0xFF, np.uint8)
    layout.features(observations, packed)
    assert (layout.unpacked(packed) == expected).all()
    offsets, numbers, values = layout.sparse(observations)
    rows = np.repeat(np.arange(len(observations)), np.diff(offsets))
    order, nonzero = np.lexsort((numbers, rows)), expected.nonzero()
    assert (np.array((rows, numbers))[:, order] == nonzero).all()
    assert (values[order] == expected[nonzero]).all()
    others = layout.num_features - layout.num_counts
    assert not np.unpackbits(packed[:, layout.num_counts :], axis=1, bitorder="little")[:, others:].any()


def test_features_are_the_planes_in_every_form(table: Table) -> None:
    assert_encodes(ObservationLayout(table[0].description), observations_of(table))


@given(st.sampled_from(engine.games()), st.integers(0, 2**32 - 1), st.sampled_from((0, 0.02, 0.3, 1)))
def test_any_numbers_are_encoded_like_planes(game: Game, seed: int, density: float) -> None:
    layout, random = ObservationLayout(game.description), np.random.default_rng(seed)
    observations = np.zeros((5, layout.length), np.uint8)
    for part in game.description.observation:
        for field in part.fields:
            places = np.full(field.shape, field.offset)
            for axis, stride in enumerate(field.strides):
                places += stride * np.indices(field.shape, sparse=True)[axis]
            numbers = random.integers(0, field.largest + 1, (5, places.size), np.uint8)
            numbers[random.random(numbers.shape) >= density] = 0
            observations[:, places.ravel()] |= numbers << np.uint8(field.first_bit)
    assert_encodes(layout, observations)


def described(*parts: Any) -> Described:
    return SimpleNamespace(observation=lay_out(parts))


def test_fields_of_every_kind_share_uint8s() -> None:
    layout = ObservationLayout(
        described(
            ("flags", "", (9,), (flag(),)),
            ("rows", "", (2, 3), (bits(3, "low"), category(4, "high", first_bit=3), flag("set"), count(7, "many"))),
            ("most", "", (), (category(255),)),
        )
    )
    random = np.random.default_rng(9)
    observations = random.integers(0, 2, (50, layout.length), np.uint8)
    observations[:, [9, 12]] = random.integers(0, 8, (50, 2)) | random.integers(0, 5, (50, 2)) << 3
    observations[:, [11, 14]] = random.integers(0, 8, (50, 2))
    observations[:, -1] = random.integers(0, 256, 50)
    assert_encodes(layout, observations)


def test_numbers_that_share_an_incompletely_used_uint8_have_no_features() -> None:
    wrong = SimpleNamespace(
        kind=ObservationKind.CATEGORY, largest=1, name="b", offset=0, shape=(1,), strides=(1,), first_bit=4, num_bits=4
    )
    low = SimpleNamespace(
        kind=ObservationKind.COUNT, largest=9, name="a", offset=0, shape=(1,), strides=(1,), first_bit=0, num_bits=4
    )
    layout = ObservationLayout(
        SimpleNamespace(observation=[SimpleNamespace(name="p", shape=(1,), fields=[low, wrong])])
    )
    with pytest.raises(ValueError, match=r"^b shares its uint8s with numbers"):
        layout.features(np.zeros((1, 1), np.uint8))


def test_rows_of_any_shape_are_encoded(game: Game) -> None:
    layout = ObservationLayout(game.description)
    one = np.frombuffer(game.new_game(game.min_players, seed=1).observation(0), np.uint8)
    expected = layout.features(one)
    assert expected.shape == (layout.num_features,)
    assert (layout.features(one.tobytes()) == expected).all()
    assert (pickle.loads(pickle.dumps(layout)).features(one) == expected).all()
    many = np.tile(one, (2, 3, 1))
    assert (layout.features(many) == expected).all()
    assert (layout.features(np.asfortranarray(many)) == expected).all()
    out = np.empty((2, 3, layout.num_features), np.float16)
    assert (layout.features(many, out) == expected.astype(np.float16)).all()
    assert layout.features(many[:0]).shape == (0, 3, layout.num_features)
    assert [len(column) for column in layout.sparse(many[0, :0])] == [1, 0, 0]
    assert layout.sparse(many[0]).numbers.tolist() == 3 * layout.sparse(one).numbers.tolist()


def test_unsuitable_arrays_for_features_are_refused_and_unchanged(game: Game) -> None:
    layout = ObservationLayout(game.description)
    observations = np.zeros((2, layout.length), np.uint8)
    fitting = np.full((2, layout.num_features), 7, np.float32)
    locked = fitting.copy()
    locked.flags.writeable = False
    odd = np.zeros(fitting.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(fitting.shape)
    reals = rf"\(2, {layout.num_features}\)"
    forms = rf"float32 {reals} or float16 {reals} or uint8 \(2, {layout.packed_size}\)"
    refused: Any
    for refused in (fitting.astype(np.float64), fitting[:, :-1].copy(), fitting.astype(np.uint8)):
        with pytest.raises(EngineError, match=f"^out must be {forms}, not "):
            layout.features(observations, refused)
    for refused in (fitting[:1], np.asfortranarray(fitting), fitting[0], odd):
        with pytest.raises(ValueError, match=r"^out must be aligned and in C order"):
            layout.features(observations, refused)
    with pytest.raises(EngineError, match=r"^out must be writable$"):
        layout.features(observations, locked)
    observations[1, 3] = 255
    if layout.largest[3] < 255:
        with pytest.raises(ValueError, match=rf"^number 3 of observation 1 is 255, above {layout.largest[3]}$"):
            layout.features(observations, fitting)
        with pytest.raises(ValueError, match=rf"^number 3 of observation 1 is 255, above {layout.largest[3]}$"):
            layout.sparse(observations)
    assert (fitting == 7).all()
    with pytest.raises(ValueError, match=rf"^packed features are uint8 \(…, {layout.packed_size}\), not "):
        layout.unpacked(np.zeros((2, layout.packed_size + 1), np.uint8))


def cropped(observation: NDArray[np.uint8], side: int, window: int, layout: ObservationLayout) -> dict[str, Any]:
    """Return a mapping from the names of a compact observation's parts to their numbers, computed by NumPy."""
    arrays = layout.arrays(observation)
    boards = {name: numbers for name, numbers in arrays.items() if numbers.shape == (side, side)}
    laid = np.any([numbers != 0 for numbers in boards.values()], axis=0)
    corner = []
    for axis in (1, 0):
        lines = np.flatnonzero(laid.any(axis=axis))
        first, last = (lines[0], lines[-1]) if len(lines) else (0, side - 1)
        corner.append(int(np.clip((first + last + 1 - window) // 2, 0, side - window)))
    shown = tuple(slice(begin, begin + window) for begin in corner)
    found: dict[str, Any] = arrays | {name: numbers[shown] for name, numbers in boards.items()}
    found |= {"window.row": corner[0], "window.column": corner[1]}
    for name, numbers in boards.items():
        outside = numbers.copy()
        outside[shown] = 0
        kinds = range(4) if name == "walls.sides" else range(1, LARGEST[name] + 1)
        counted = [outside >> kind & 1 if name == "walls.sides" else outside == kind for kind in kinds]
        found[f"outside.{name}"] = np.array([min(int(each.sum()), window) for each in counted])
    return found


LARGEST = {field.name: field.largest for part in WITH_BOARD.description.observation for field in part.fields}


def test_compact_observations_have_a_window_and_count_the_rest() -> None:
    layout, compact = ObservationLayout(WITH_BOARD.description), CompactObservations(WITH_BOARD.description)
    of_compact, random = ObservationLayout(compact), np.random.default_rng(2)
    found = observations_of((WITH_BOARD, 5))
    side, window = 24, compact.window
    assert window == 12
    scattered = np.repeat(found[:1], 60, axis=0)
    scattered[:, : 2 * side * side] = 0
    for row, (few, span) in enumerate(itertools.product((0, 1, 2, 20, 500), (1, 9, 12, 13, 20, 24) * 2)):
        places = random.integers(0, span, (few, 2)) + random.integers(0, 25 - span, 2)
        for y, x in places:
            scattered[row, side * y + x] = random.integers(0, LARGEST["contents"] + 1)
            scattered[row, side * (side + y) + x] = random.integers(0, 16) | random.integers(0, 10) << 4
    for observations in (found, scattered):
        rows = compact.crop(observations)
        assert rows.shape == (len(observations), compact.length) == (len(observations), of_compact.length)
        for whole, row in zip(observations, rows, strict=True):
            expected, numbers = cropped(whole, side, window, layout), of_compact.arrays(row)
            assert set(numbers) == set(expected)
            for name, values in expected.items():
                assert numbers[name].tolist() == np.asarray(values).tolist(), name
        assert_encodes(of_compact, rows)
    assert (compact.crop(found[0]) == compact.crop(found)[0]).all()
    assert of_compact.num_features < layout.num_features / 3
    assert compact.crop(found[:0]).shape == (0, compact.length)
    found = found.copy()
    found[2, 7] = 255
    with pytest.raises(ValueError, match=rf"^number 7 of observation 2 is 255, above {LARGEST['contents']}$"):
        compact.crop(found)


def test_observations_without_boards_of_one_side_have_no_compact_form(game: Game) -> None:
    if game is not WITH_BOARD:
        with pytest.raises(ValueError, match=r"^no part of the observation is a board"):
            CompactObservations(game.description)
    for sides in ((16, 17), (65, 65)):
        boards = [(f"b{side}", "", (side, side), (flag(),)) for side in sides]
        with pytest.raises(ValueError, match=r"^boards must have the same side, at most 64, not \["):
            CompactObservations(described(*boards))
