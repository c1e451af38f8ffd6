"""Calls that the server ends when they have had their time."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc


class CutContext:
    """A call's context which tells of the call's end when the server has cut it, too.

    Beside what stands here it is the context that it is made of.
    """

    def __init__(self, context: grpc.ServicerContext) -> None:
        """Of a call that has not been cut yet."""
        self._context = context
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self.is_cut = False

    def __getattr__(self, name: str) -> Any:
        """Anything else."""
        return getattr(self._context, name)

    def is_active(self) -> bool:
        """Whether somebody still waits for the answer."""
        return not self.is_cut and self._context.is_active()

    def add_callback(self, callback: Callable[[], None]) -> bool:
        """Have something called when the call ends, or is cut (then twice); False if that is past."""
        with self._lock:
            if self.is_cut:
                return False
            self._callbacks.append(callback)
        return self._context.add_callback(callback)

    def cut(self) -> None:
        """End it: whoever works on it is told and stops."""
        with self._lock:
            self.is_cut = True
        for callback in self._callbacks:
            callback()


class Deadlines:
    """Cuts calls that last too long, in a thread that there is while calls need it."""

    def __init__(self) -> None:
        """No calls yet."""
        self._changed = threading.Condition()
        self._ends: dict[CutContext, float] = {}
        # When the thread looks at the calls again (of time.monotonic); None: there is no thread.
        self._next: float | None = None

    @contextmanager
    def cut_after(self, seconds: float, context: grpc.ServicerContext) -> Iterator[CutContext]:
        """While a call runs that is cut after some seconds; gives the context for it."""
        limited = CutContext(context)
        end = time.monotonic() + seconds
        with self._changed:
            self._ends[limited] = end
            if self._next is None:
                self._next = end
                threading.Thread(target=self._watch, name="deadlines", daemon=True).start()
            elif end < self._next:
                self._changed.notify()
        try:
            yield limited
        finally:
            with self._changed:
                self._ends.pop(limited, None)

    def _watch(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                due = [context for context, end in self._ends.items() if end <= now]
                for context in due:
                    del self._ends[context]
                self._next = following = min(self._ends.values(), default=None)
                if not due and following is None:
                    return
                if not due and following is not None:
                    self._changed.wait(following - now)
            for context in due:
                context.cut()
