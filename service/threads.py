"""The threads that calls run in, and how many calls may wait for them."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class Threads(ThreadPoolExecutor):
    """Threads for calls, made as they are needed.

    `limit`: how many calls they should have at most, waiting ones included; whoever hands them calls looks at `is_full`
    first. `name`: what is limited, in words.
    """

    def __init__(self, name: str, threads: int, limit: float = float("inf")) -> None:
        """See the class."""
        super().__init__(threads, thread_name_prefix=name)
        self.name = name
        self.limit = limit
        self._counting = threading.Lock()
        self._calls = 0

    def is_full(self) -> bool:
        """Whether they have as many calls as they should."""
        return self._calls >= self.limit

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Hand over a call."""
        with self._counting:
            self._calls += 1
        future = super().submit(function, *arguments, **named)
        future.add_done_callback(self._done)
        return future

    def _done(self, _: Future[Any]) -> None:
        with self._counting:
            self._calls -= 1
