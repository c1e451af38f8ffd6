"""The events that wake a supervisor: signals, and lines that its workers write into pipes."""

import os
import selectors
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}
_SIGNALS = STOP_SIGNALS | {signal.SIGCHLD}
_CHUNK = 2**16


class Wakeups:
    """Waits for signals, whichever thread the system delivers them to, and for lines from pipes."""

    def __enter__(self) -> Self:
        """Start to receive signals."""
        # A poll selector needs no descriptor of its own.
        self._selector = selectors.PollSelector()
        self._receiver, self._sender = socket.socketpair()
        self._sender.setblocking(False)
        self._selector.register(self._receiver, selectors.EVENT_READ)
        # The wake-up descriptor sees signals that other threads take: libraries start some when imported.
        self._before = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
        signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Restore the handlers of signals."""
        signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            # Python's own: SIGINT raises KeyboardInterrupt, the others have the system's default action.
            signal.signal(number, handler)
        self._selector.close()
        self._receiver.close()
        self._sender.close()

    def wait(self, timeout: float) -> int | None:
        """Take lines, and return the next signal; None after `timeout` seconds, or once lines have arrived."""
        got = None
        for key, _ in self._selector.select(timeout):
            if key.fileobj is self._receiver:
                got = self._receiver.recv(1)[0]
            else:
                key.data()
        return got

    def listen(self, lines: "Lines") -> None:
        """Take lines during every `wait`, until the pipe ends."""

        def take() -> None:
            lines.take()
            if lines.has_ended:
                self.forget(lines)

        self._selector.register(lines.descriptor, selectors.EVENT_READ, take)

    def forget(self, lines: "Lines") -> None:
        """Stop taking lines."""
        if lines.descriptor in self._selector.get_map():
            self._selector.unregister(lines.descriptor)

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Start programs inside with signals blocked: Ctrl-C reaches them too."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Lines:
    """The lines that come through a pipe."""

    def __init__(self, descriptor: int, found: Callable[[bytes], None]) -> None:
        """Read from `descriptor`; call `found` with each line, a long one in parts."""
        self.descriptor = descriptor
        self.has_ended = False
        self._found = found
        self._part = b""
        os.set_blocking(descriptor, False)

    def take(self) -> bool:
        """Take some of the data that has arrived; return True if there was any."""
        try:
            chunk = os.read(self.descriptor, _CHUNK)
        except BlockingIOError:
            return False
        self.has_ended = not chunk
        *lines, self._part = (self._part + chunk).split(b"\n")
        for line in lines:
            self._found(line)
        if len(self._part) > _CHUNK:
            self._take_part()
        return bool(chunk)

    def take_rest(self) -> None:
        """Take all that a process has left, even an unfinished line."""
        while self.take():
            pass
        if self._part:
            self._take_part()

    def _take_part(self) -> None:
        part, self._part = self._part, b""
        self._found(part)
