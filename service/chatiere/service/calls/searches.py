"""A counter of the processor time of searches. It does not include the time of other calls."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from chatiere import engine
from chatiere.engine import Game
from chatiere.service.base.metrics import Metrics


class Searches:
    """The counter of the processor time of a worker's searches."""

    def __init__(self, metrics: Metrics) -> None:
        """Create a counter that adds the time to `metrics`."""
        self._seconds = {game: metrics.search_seconds.labels(game.name) for game in engine.games()}

    @contextmanager
    def measured(self, game: Game) -> Iterator[None]:
        """Count this thread's processor time in a `with` statement, even if the statement raises an exception."""
        begun = time.thread_time()
        try:
            yield
        finally:
            self._seconds[game].inc(time.thread_time() - begun)
