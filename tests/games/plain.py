"""What the games' plain observations share, and the comparison with the kernel's.

A room's `plain_observation` makes a seat's observation once more, in plain Python: part by part, as text.py describes
them, from the seat's view message and the events that it was told. It shares nothing with the kernel.
"""

import importlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from chatiere.engine import Position

from .building import view_of

Parts = dict[str, Any]


def observed(position: Position, seat: int) -> dict[str, np.ndarray]:
    """The parts of a seat's observation by name, in their shapes."""
    numbers = np.frombuffer(position.observation(seat), "u1")
    return {
        part.name: numbers[part.offset :][: int(np.prod(part.shape, dtype=int))].reshape(part.shape)
        for part in position.game.description.observation
    }


def check_observation(position: Position, seat: int, events: Sequence[Any] = ()) -> None:
    """Assert that a seat's observation is the plain one; `events`: those that the seat was told since the beginning."""
    plain = importlib.import_module(f"games.{position.game.name}.plain_observation")
    expected = plain.observation(view_of(position, seat), events, seat)
    found = observed(position, seat)
    assert list(found) == list(expected)
    for name, numbers in found.items():
        assert numbers.shape == np.shape(expected[name]), name
        if not np.array_equal(numbers, expected[name]):
            places = [tuple(place) for place in np.argwhere(numbers != expected[name]).tolist()]
            raise AssertionError(f"seat {seat}, {name} at {places}: {numbers} should be {np.array(expected[name])}")


def clockwise(seat: int, players: int) -> list[int]:
    """All seats, that one first."""
    return [(seat + distance) % players for distance in range(players)]


def flags(marked: Collection[int], numbers: Iterable[int]) -> list[int]:
    """For each number whether it is marked."""
    there = set(marked)
    return [int(number in there) for number in numbers]


def one_hot(place: int, length: int) -> list[int]:
    """A one in that place, zeros elsewhere."""
    return [int(place == other) for other in range(length)]


def padded(rows: Sequence[Any], length: int, row: Any = 0) -> list[Any]:
    """The rows, and as many more as there are missing."""
    return [*rows, *[row] * (length - len(rows))]


def is_set(message: Any, field: str, value: int) -> int:
    """Whether an optional field is there and has that value."""
    return int(message.HasField(field) and getattr(message, field) == value)
