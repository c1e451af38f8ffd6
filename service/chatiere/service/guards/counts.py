"""Metrics as calls change them: those of prometheus_client, without what that does around each change."""

from typing import Any

from prometheus_client import Counter, Gauge, Histogram


class FileValue:
    """A value in a file that no other process writes, as prometheus_client's metrics use it."""

    def __init__(self, cell: Any) -> None:
        """Keep the value in `cell`, a memoryview of one double."""
        self._cell = cell

    def inc(self, amount: float) -> None:
        """Add to the value, in any thread."""
        # No lock: CPython, with its GIL, changes threads at calls and at the end of loops, and here is neither.
        self._cell[0] += amount

    def set(self, value: float) -> None:
        """Set the value, in any thread."""
        self._cell[0] = value


class Count:
    """A counter or a gauge."""

    def __init__(self, metric: Counter | Gauge) -> None:
        """Take a metric whose labels have values."""
        self._value: Any = metric._value

    def add(self, amount: float) -> None:
        """Add to it, in any thread."""
        self._value.inc(amount)


class Durations:
    """A histogram of seconds."""

    def __init__(self, metric: Histogram) -> None:
        """Take a metric whose labels have values."""
        self._sum: Any = metric._sum
        self._bounds: tuple[float, ...] = tuple(metric._upper_bounds)
        self._buckets: tuple[Any, ...] = tuple(metric._buckets)

    def add(self, seconds: float) -> None:
        """Add a duration, in any thread."""
        self._sum.inc(seconds)
        for number, bound in enumerate(self._bounds):
            if seconds <= bound:
                self._buckets[number].inc(1.0)
                break
