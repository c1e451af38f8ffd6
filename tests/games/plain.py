"""Helpers shared by the games' plain observations, and their comparison with the kernel's observations.

A game's `plain_observation` computes a seat's observation in plain Python, in the parts that description.py defines,
from the seat's view message and the events that it received. It shares no code with the kernel.
"""

import importlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from chatiere.engine import Position

from .building import view_of

Parts = dict[str, Any]


def observed(position: Position, seat: int) -> dict[str, np.ndarray]:
    """Return a mapping from the names of the parts of a seat's observation to arrays in the parts' shapes."""
    numbers = np.frombuffer(position.observation(seat), "u1")
    return {
        part.name: numbers[part.offset :][: int(np.prod(part.shape, dtype=int))].reshape(part.shape)
        for part in position.game.description.observation
    }


def check_observation(position: Position, seat: int, events: Sequence[Any] = ()) -> None:
    """Compare a seat's observation with the plain observation. `events` are all events shown to the seat so far."""
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
    """Return all seats in order, starting with `seat`."""
    return [(seat + distance) % players for distance in range(players)]


def flags(marked: Collection[int], numbers: Iterable[int]) -> list[int]:
    """Return a flag for each number: 1 if the number is marked, otherwise 0."""
    there = set(marked)
    return [int(number in there) for number in numbers]


def one_hot(place: int, length: int) -> list[int]:
    """Return a list with a one at the given place and zeros elsewhere."""
    return [int(place == other) for other in range(length)]


def padded(rows: Sequence[Any], length: int, row: Any = 0) -> list[Any]:
    """Return the rows, padded with `row` to `length` rows."""
    return [*rows, *[row] * (length - len(rows))]


def is_set(message: Any, field: str, value: int) -> int:
    """Return 1 if an optional field is set and has that value, otherwise 0."""
    return int(message.HasField(field) and getattr(message, field) == value)
