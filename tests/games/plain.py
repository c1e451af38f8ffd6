"""What the games' plain observations share.

A room's `plain_observation` makes a seat's observation once more, in plain Python: part by part, as text.py describes
them, from the seat's view message and the events that it was told. It shares nothing with the kernel.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

Parts = dict[str, Any]


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
