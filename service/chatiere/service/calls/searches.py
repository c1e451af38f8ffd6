"""The processor time of searches, counted separately from that of other calls."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from chatiere import engine
from chatiere.engine import Game
from chatiere.service.base.metrics import Metrics


class Searches:
    """The processor time of the searches of a worker."""

    def __init__(self, metrics: Metrics) -> None:
        """Count the time in `metrics`."""
        self._seconds = {game: metrics.search_seconds.labels(game.name) for game in engine.games()}

    @contextmanager
    def measured(self, game: Game) -> Iterator[None]:
        """Count the processor time of this thread inside a `with` statement, even if it raises."""
        begun = time.thread_time()
        try:
            yield
        finally:
            self._seconds[game].inc(time.thread_time() - begun)
