"""Fast updates of prometheus_client's metrics, without the overhead of its methods."""

from typing import Any

from prometheus_client import Counter, Gauge, Histogram


class FileValue:
    """The value of a metric, stored in a file that only this process writes. Has prometheus_client's interface."""

    def __init__(self, cell: Any) -> None:
        """Store the value in `cell`, a memoryview of one double."""
        self._cell = cell

    def inc(self, amount: float) -> None:
        """Add to the value. May be called from any thread."""
        # A lock is not needed: with the GIL, CPython switches threads only at calls and at the ends of loop iterations.
        self._cell[0] += amount

    def set(self, value: float) -> None:
        """Set the value. May be called from any thread."""
        self._cell[0] = value


class Count:
    """A counter or a gauge."""

    def __init__(self, metric: Counter | Gauge) -> None:
        """Wrap a metric that has all its label values."""
        self._value: Any = metric._value

    def add(self, amount: float) -> None:
        """Add to the metric. May be called from any thread."""
        _add(self._value, amount)


class Durations:
    """A histogram of seconds."""

    def __init__(self, metric: Histogram) -> None:
        """Wrap a metric that has all its label values."""
        self._sum: Any = metric._sum
        self._bounds: tuple[float, ...] = tuple(metric._upper_bounds)
        self._buckets: tuple[Any, ...] = tuple(metric._buckets)

    def add(self, seconds: float) -> None:
        """Add a duration. May be called from any thread."""
        _add(self._sum, seconds)
        for number, bound in enumerate(self._bounds):
            if seconds <= bound:
                _add(self._buckets[number], 1.0)
                break


def _add(value: Any, amount: float) -> None:
    # With the type of the value, Cython calls the method directly.
    if isinstance(value, FileValue):
        file: FileValue = value
        file.inc(amount)
    else:
        value.inc(amount)
