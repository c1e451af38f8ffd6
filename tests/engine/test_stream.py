"""The random stream is Philox4x64-10 in NumPy's order. Lemire's method draws numbers below n from it."""

from typing import Any

import numpy as np
import pytest
from conformance.documented_stream import DocumentedStream
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from chatiere.engine.core.stream import numbers_below, words

U64 = st.integers(0, 2**64 - 1)

# Map (seed, game number) to the first six words: numpy.random.Philox(key=[seed, game number]).random_raw(6) of NumPy
# 2.4.
FIRST_WORDS = {
    (0, 0): (
        0x02F4BA6408E4D89B,
        0x3DD62B0B9CA8C5B2,
        0x1C8667A55D902E79,
        0x907D7A052FD5B4DC,
        0x809BF322883987C3,
        0x471128B9E807F7DD,
    ),
    (1, 0): (
        0x4DB6A27B756282DF,
        0xD944FA03BABE0E2F,
        0x27F872E577060D32,
        0x07F697696A0482A2,
        0xE677FE4BBD0452EC,
        0x0D543DBA56D1E799,
    ),
    (0, 1): (
        0xD037F8C3F9A1D176,
        0xC057419B4C210765,
        0xABF13115117B0065,
        0x7BAE035DEA6EA5C0,
        0xB487AC82E7DDD46F,
        0x45E81EDBA7C59426,
    ),
    (2**64 - 1, 2**64 - 1): (
        0x6D46CC0E71F0BE7E,
        0x924EA1693F9A8BC0,
        0xFDC35F0198C91181,
        0xB4A311F17AA6568D,
        0x67E12C1EFF8DE57E,
        0x6877618422B87B0E,
    ),
    (0x0123456789ABCDEF, 0xFEDCBA9876543210): (
        0x2D2E7C09C193C5FA,
        0xD56C6AA2D11F06AA,
        0x184FCDF7F5474A23,
        0x367832D087008054,
        0x56FFD4CF84D16286,
        0x09FC1192F2145D80,
    ),
}


def documented(seed: int, game_number: int, bounds: list[int]) -> tuple[list[int], int]:
    """Return the expected result of `numbers_below`."""
    stream = DocumentedStream(seed, game_number)
    return [stream.number_below(bound) for bound in bounds], stream.drawn


@pytest.mark.parametrize(("key", "expected"), FIRST_WORDS.items())
def test_the_first_words_are_pinned(key: tuple[int, int], expected: tuple[int, ...]) -> None:
    assert tuple(words(*key, 0, 6)) == expected


def test_words_far_into_a_stream_are_pinned() -> None:
    first = 4 * (2**61 + 3)
    assert words(5, 7, first, 2) == [0x4F07EB96A880A2EF, 0x2022FA06EC21A5C0]
    assert words(5, 7, 2**64 - 3, 3) == [0xC2A26583737D5D4D, 0x7EFDAE20172C1792, 0x0A27BE84C5050D94]


def test_numbers_below_bounds_are_pinned() -> None:
    bounds = [6, 50, 90, 2**63 + 1, 2**63 + 1, 2**63 + 1, 1, 2**64 - 1]
    numbers = [1, 17, 3, 8871983489270291617, 175186296725374881, 3084181013934079822, 0, 11765738615671844846]
    assert numbers_below(1, 2, bounds) == (numbers, 9)


@given(U64, U64, U64.map(lambda first: min(first, 2**64 - 16)), st.integers(0, 12))
def test_words_are_the_same_as_numpys(seed: int, game_number: int, first: int, count: int) -> None:
    stream = DocumentedStream(seed, game_number, first)
    assert words(seed, game_number, first, count) == [stream.word() for _ in range(count)]


@given(U64, U64, st.integers(0, 20))
def test_a_stream_can_be_read_from_any_place(seed: int, game_number: int, first: int) -> None:
    assert words(seed, game_number, 0, 30)[first:] == words(seed, game_number, first, 30 - first)


@given(
    U64,
    U64,
    st.lists(st.one_of(st.integers(1, 100), st.integers(1, 2**64 - 1), st.integers(2**63, 2**63 + 9)), max_size=20),
)
def test_numbers_below_follow_lemires_method(seed: int, game_number: int, bounds: list[int]) -> None:
    assert numbers_below(seed, game_number, bounds) == documented(seed, game_number, bounds)


def test_words_that_would_bias_the_result_are_redrawn() -> None:
    # With a bound just above half of 2**64, every second word is redrawn. With a power of two, no word is redrawn.
    bound = 2**63 + 1
    numbers, drawn = numbers_below(3, 4, [bound] * 1000)
    assert (numbers, drawn) == documented(3, 4, [bound] * 1000)
    assert 1800 < drawn < 2200
    assert max(numbers) < bound
    assert numbers_below(3, 4, [2**63] * 1000)[1] == 1000


@pytest.mark.parametrize("bound", [2, 3, 6, 50, 90, 127])
def test_numbers_below_are_uniform(bound: int) -> None:
    numbers, _ = numbers_below(11, bound, [bound] * 200 * bound)
    assert chisquare(np.bincount(numbers, minlength=bound)).pvalue > 1e-4


def test_numbers_below_a_large_bound_are_uniform() -> None:
    # Without redrawing, numbers in the first third would occur twice as often as the rest.
    bound = 3 * 2**62
    numbers, _ = numbers_below(12, 0, [bound] * 3000)
    assert chisquare(np.bincount([number >> 62 for number in numbers], minlength=3)).pvalue > 1e-4


@pytest.mark.parametrize("wrong", [-1, 2**64, "1"])
def test_invalid_words_are_refused(wrong: Any) -> None:
    with pytest.raises((OverflowError, TypeError)):
        words(wrong, 0, 0, 1)
    with pytest.raises((OverflowError, TypeError)):
        numbers_below(0, 0, [wrong])
