"""A worker as the supervisor handles it: a process and its output."""

import json
import pickle
import signal
import subprocess
import sys
import time
from contextlib import suppress

from chatiere.service.base.heartbeat import BEAT
from chatiere.service.base.settings import SettingError
from chatiere.service.guards.logs import log_line
from chatiere.service.process.order import Order
from chatiere.service.process.wakeups import Lines, Wakeups

# The time in seconds within which a worker must start serving, unless `hang_timeout` is longer.
_START = 60.0


class WorkerProcess:
    """A process that runs `worker.py`."""

    def __init__(self, order: Order, events: Wakeups) -> None:
        """Start the process. `events` will handle its lines. Raises OSError if the system cannot start the process."""
        self._order = order
        self._events = events
        with events.held_back():
            self._process = subprocess.Popen(
                (sys.executable, "-P", "-m", "chatiere.service.process.worker"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(order.log, order.lock),
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.pid = self._process.pid
        self.serves = False
        """True once the worker has sent a heartbeat."""
        self.refusal: SettingError | None = None
        """The error because of which the worker cannot serve, if it reported one."""
        self._is_closed = False
        # The times (time.monotonic) of the start and of the last heartbeat.
        self.started = self._beaten = time.monotonic()
        self._pipes = (
            Lines(self._process.stdout.fileno(), self._take),
            Lines(self._process.stderr.fileno(), self._wrote),
        )
        for pipe in self._pipes:
            events.listen(pipe)
        try:
            # Leave the pipe open. Its end shows the worker that this process has ended.
            pickle.dump(order, self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError:
            # Ignore the error: the worker is already dead, and `exit_code` will show it.
            pass
        except BaseException:
            self.kill()
            self.close()
            raise

    @property
    def exit_code(self) -> int | None:
        """The exit code, or None while the process runs."""
        return self._process.poll()

    @property
    def patience(self) -> float:
        """How long the worker may run without a heartbeat, in seconds."""
        timeout = self._order.settings.hang_timeout
        return timeout if self.serves else max(timeout, _START)

    @property
    def hangs_at(self) -> float:
        """The time (time.monotonic) at which the worker is considered hanging, unless it sends a heartbeat first."""
        return self._beaten + self.patience

    def forgive(self) -> None:
        """Restart the time allowed until the next heartbeat."""
        self._beaten = time.monotonic()

    def reload_files(self) -> None:
        """Make the worker reread its files. A worker that is still starting rereads them when it begins to serve."""
        self._process.send_signal(signal.SIGHUP)

    def terminate(self) -> None:
        """Let the worker end gracefully."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill the worker."""
        self._process.kill()

    def close(self) -> None:
        """Wait for the worker's end, and log its remaining lines. Further calls have no effect."""
        self._process.wait()
        if self._is_closed:
            return
        self._is_closed = True
        for pipe in self._pipes:
            self._events.forget(pipe)
            pipe.take_rest()
        for file in self._process.stdin, self._process.stdout, self._process.stderr:
            assert file is not None
            # Ignore input that was not written, because it no longer matters.
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
            # The line was printed by a library.
            self._wrote(line)

    def _wrote(self, line: bytes) -> None:
        log_line(f"worker-{self._order.number}", line.decode(errors="backslashreplace"))
