"""A worker as its supervisor sees it: a process and its output."""

import json
import pickle
import subprocess
import sys
import time
from contextlib import suppress

from chatiere.service.base.heartbeat import BEAT
from chatiere.service.base.settings import SettingError
from chatiere.service.guards.logs import log_line
from chatiere.service.process.wakeups import Lines, Wakeups
from chatiere.service.process.worker import Order

# Seconds for a worker to start serving, unless `hang_timeout` is longer.
_START = 60.0


class WorkerProcess:
    """A process that runs `worker.py`."""

    def __init__(self, order: Order, events: Wakeups) -> None:
        """Start it; `events` will take its lines. Raises OSError if the system cannot start it."""
        self._order = order
        self._events = events
        with events.held_back():
            self._process = subprocess.Popen(
                (sys.executable, "-P", "-m", "chatiere.service.process.worker"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(order.log,),
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.pid = self._process.pid
        self.serves = False
        """True once it has sent a heartbeat."""
        self.refusal: SettingError | None = None
        """The error that it reported instead, if any."""
        self._is_closed = False
        # Of time.monotonic.
        self.started = self._beaten = time.monotonic()
        self._pipes = (
            Lines(self._process.stdout.fileno(), self._take),
            Lines(self._process.stderr.fileno(), self._wrote),
        )
        for pipe in self._pipes:
            events.listen(pipe)
        try:
            # The pipe stays open: its end tells the worker that this process has ended.
            pickle.dump(order, self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError:
            # Dead already, which `exit_code` will show.
            pass
        except BaseException:
            self.kill()
            self.close()
            raise

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    @property
    def patience(self) -> float:
        """The seconds that it may go without a heartbeat."""
        timeout = self._order.settings.hang_timeout
        return timeout if self.serves else max(timeout, _START)

    @property
    def hangs_at(self) -> float:
        """The time, of time.monotonic, from which it counts as hanging unless it beats before."""
        return self._beaten + self.patience

    def forgive(self) -> None:
        """Count its silence from now."""
        self._beaten = time.monotonic()

    def terminate(self) -> None:
        """Let it end gracefully."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()

    def close(self) -> None:
        """Wait for its end, and log its remaining lines; further calls do nothing."""
        self._process.wait()
        if self._is_closed:
            return
        self._is_closed = True
        for pipe in self._pipes:
            self._events.forget(pipe)
            pipe.take_rest()
        for file in self._process.stdin, self._process.stdout, self._process.stderr:
            assert file is not None
            # Unwritten input no longer matters.
            with suppress(BrokenPipeError):
                file.close()

    def _take(self, line: bytes) -> None:
        self._beaten = time.monotonic()
        if line == BEAT:
            self.serves = True
            return
        try:
            self.refusal = SettingError(*json.loads(line))
        except (ValueError, TypeError):
            # A library's print.
            self._wrote(line)

    def _wrote(self, line: bytes) -> None:
        log_line(f"worker-{self._order.number}", line.decode(errors="backslashreplace"))
