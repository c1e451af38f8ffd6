"""The events for which a supervisor waits: signals, and lines that its workers write to pipes."""

import errno
import os
import selectors
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGQUIT}
# Signals that would end the process if it did not handle them.
IGNORED_SIGNALS = {
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGVTALRM,
    signal.SIGPROF,
    signal.SIGIO,
}
HELD_SIGNALS = STOP_SIGNALS | IGNORED_SIGNALS | {signal.SIGHUP}
"""The signals that only the supervisor handles. Workers block them."""
_SIGNALS = HELD_SIGNALS | {signal.SIGCHLD}
_CHUNK = 2**16


class Wakeups:
    """Waits for lines from pipes, and for signals. The system may deliver a signal to any thread."""

    def __enter__(self) -> Self:
        """Start receiving signals."""
        # A poll selector does not need a file descriptor.
        self._selector = selectors.PollSelector()
        self._receiver, self._sender = socket.socketpair()
        self._sender.setblocking(False)
        self._selector.register(self._receiver, selectors.EVENT_READ)
        # Some libraries start threads on import. The wake-up descriptor also receives signals that these threads
        # handle.
        self._before = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
        signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        # A program started by nohup ignores SIGHUP, and continues when its terminal is closed.
        self._needs_terminal = self._before[signal.SIGHUP] is not signal.SIG_IGN and _has_terminal()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Restore the signal handlers."""
        signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            # These are usually Python's handlers: SIGINT raises KeyboardInterrupt, and other signals have the default
            # action.
            signal.signal(number, handler)
        self._selector.close()
        self._receiver.close()
        self._sender.close()

    def wait(self, timeout: float) -> int | None:
        """Handle lines, and return the next signal. Return None after `timeout` seconds or when lines have arrived.

        A SIGHUP that was sent because the terminal was closed is treated as SIGTERM.
        """
        got = None
        for key, _ in self._selector.select(timeout):
            if key.fileobj is self._receiver:
                got = self._receiver.recv(1)[0]
                if got == signal.SIGHUP and self._needs_terminal and not _has_terminal():
                    got = signal.SIGTERM
            else:
                key.data()
        return got

    def listen(self, lines: "Lines") -> None:
        """Handle lines from a pipe during every `wait`, until the pipe ends."""

        def take() -> None:
            lines.take()
            if lines.has_ended:
                self.forget(lines)

        self._selector.register(lines.descriptor, selectors.EVENT_READ, take)

    def forget(self, lines: "Lines") -> None:
        """Stop handling lines from a pipe."""
        if lines.descriptor in self._selector.get_map():
            self._selector.unregister(lines.descriptor)

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Block HELD_SIGNALS, also in programs started in this context, because terminals signal them too."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD_SIGNALS)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _has_terminal() -> bool:
    # Return False if the process has no controlling terminal.
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY))
    except OSError as error:
        return error.errno != errno.ENXIO
    return True


class Lines:
    """The lines received through a pipe."""

    def __init__(self, descriptor: int, found: Callable[[bytes], None]) -> None:
        """Read from `descriptor`, and call `found` with each line. A long line is passed in parts."""
        self.descriptor = descriptor
        self.has_ended = False
        self._found = found
        self._part = b""
        os.set_blocking(descriptor, False)

    def take(self) -> bool:
        """Handle some of the data that has arrived. Return True if any data had arrived."""
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
        """Handle all remaining data of a process that has ended, including an unfinished line."""
        while self.take():
            pass
        if self._part:
            self._take_part()

    def _take_part(self) -> None:
        part, self._part = self._part, b""
        self._found(part)
