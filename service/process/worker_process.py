"""A worker as its supervisor sees it: a process, and what it writes."""

import json
import pickle
import subprocess
import sys
import time
from contextlib import suppress

from chatiere.service.guards.logs import log_line
from chatiere.service.process.events import Events, Lines
from chatiere.service.process.heartbeat import BEAT
from chatiere.service.process.settings import SettingError
from chatiere.service.process.worker import Order

# Seconds that a worker gets to serve, where `hang_timeout` is not longer.
_START = 60.0


class WorkerProcess:
    """A process that runs `worker.py`."""

    def __init__(self, order: Order, events: Events) -> None:
        """Start it; raises OSError where the system does not let it. `events`: what is to wait for its lines."""
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
        """True once it has said so."""
        self.refusal: SettingError | None = None
        """Why it has refused to."""
        self._is_closed = False
        # Of time.monotonic.
        self.started = self._beaten = time.monotonic()
        self._pipes = (
            Lines(self._process.stdout.fileno(), self._told),
            Lines(self._process.stderr.fileno(), self._wrote),
        )
        for pipe in self._pipes:
            events.listen(pipe)
        try:
            # The pipe stays open: its end tells the worker that this process is gone.
            pickle.dump(order, self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError:
            # Dead already; it will be found.
            pass
        except BaseException:
            self.kill()
            self.close()
            raise

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    @property
    def patience(self) -> float:
        """Seconds that it may go without a beat."""
        timeout = self._order.settings.hang_timeout
        return timeout if self.serves else max(timeout, _START)

    @property
    def hangs_at(self) -> float:
        """When it counts as hanging if it does not beat until then, of time.monotonic."""
        return self._beaten + self.patience

    def forgive(self) -> None:
        """Count its silence from now on."""
        self._beaten = time.monotonic()

    def terminate(self) -> None:
        """Let it end gracefully."""
        self._process.terminate()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def close(self) -> None:
        """Wait for its end, and log what it has left to say; once is enough."""
        self._process.wait()
        if self._is_closed:
            return
        self._is_closed = True
        for pipe in self._pipes:
            self._events.forget(pipe)
            pipe.take_rest()
        for file in self._process.stdin, self._process.stdout, self._process.stderr:
            assert file is not None
            # What could not be written into it does not matter any more.
            with suppress(BrokenPipeError):
                file.close()

    def _told(self, line: bytes) -> None:
        self._beaten = time.monotonic()
        if line == BEAT:
            self.serves = True
            return
        try:
            self.refusal = SettingError(*json.loads(line))
        except (ValueError, TypeError):
            # Some library prints.
            self._wrote(line)

    def _wrote(self, line: bytes) -> None:
        log_line(f"worker-{self._order.number}", line.decode(errors="backslashreplace"))
