"""Runs of a supervisor. Its workers are simulated processes that crash, hang, start slowly or do not end."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from prometheus_client import CollectorRegistry

from chatiere.service.base.heartbeat import BEAT
from chatiere.service.base.settings import Settings
from chatiere.service.process import supervisor, worker_process
from chatiere.service.process.wakeups import STOP_SIGNALS

from .clock import Broken, Run, replaced

_FAULTS = ("crashes", "crash loops", "hangs", "slow starts", "no starts", "suspensions", "stubborn ends")
# Times in seconds: between two heartbeats, for a worker's start, and for a worker's end after the grace period.
_BEAT, _START, _SLACK = 1.0, 60.0, 5.0
# The maximum number of processes that may be started for each worker within ten seconds.
_MOST_STARTS = 10


class _Pipe:
    """A pipe from a process, in place of wakeups.Lines."""

    def __init__(self, process: "_Process", found: Callable[[bytes], None]) -> None:
        self.lines: list[bytes] = []
        self.has_ended = False
        self._found = found
        process.pipes.append(self)

    def take(self) -> None:
        lines, self.lines = self.lines, []
        for line in lines:
            self._found(line)

    take_rest = take


class _Process:
    """A worker as a process, in place of subprocess.Popen."""

    def __init__(self, world: "Supervision") -> None:
        self._world, self._run = world, world.run
        choices, faults = world.run.choices, world.faults
        self.pipes: list[_Pipe] = []
        self.pid = world.next_pid()
        self.exit_code: int | None = None
        self.is_hanging = self.is_closed = False
        self.hangs_since = 0.0
        self.beaten, self.patience = world.run.now, max(_START, world.settings.hang_timeout)
        self.stdin = self.stdout = self.stderr = self
        self._is_stubborn = "stubborn ends" in faults and choices.random() < 0.5
        start = choices.choice((0.2, 30.0 if "slow starts" in faults else 1.0)) * choices.random()
        self._run.after(start, self._beat)
        if "crash loops" in faults and choices.random() < 0.9:
            self._run.soon(0.2, lambda: self.end(1))
        if "crashes" in faults and choices.random() < 0.6:
            self._run.soon(choices.choice((0.1, 5.0, 40.0)), lambda: self.end(1))
        if "hangs" in faults and choices.random() < 0.5:
            self._run.soon(30.0, self._hang)

    # For the supervisor

    def poll(self) -> int | None:
        return self.exit_code

    def wait(self) -> None:
        if self.exit_code is None:
            raise Broken(f"the supervisor waits for process {self.pid}, which runs")

    def terminate(self) -> None:
        if not self._is_stubborn:
            self._run.soon(self._world.settings.grace, lambda: self.end(0))

    def kill(self) -> None:
        is_well = self._run.now < max(self.beaten, self._world.suspended_until) + self.patience and not self.is_hanging
        if self.exit_code is None and is_well and not self._world.is_stopping:
            raise Broken(f"process {self.pid} is killed although it works")
        self.end(-signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        """Do nothing. The signal would make a worker read its files again."""

    def fileno(self) -> "_Process":
        return self

    def write(self, data: bytes) -> None:
        """Accept the order."""

    def flush(self) -> None:
        """Accept the order."""

    def close(self) -> None:
        self.is_closed = True

    # Events in the process

    def _beat(self) -> None:
        if self.exit_code is not None or self.is_hanging:
            return
        if not self._world.are_all_suspended:
            self.beaten, self.patience = self._run.now, self._world.settings.hang_timeout
            self._write(0, BEAT)
            if self._run.choices.random() < 0.02:
                self._write(0, b"words of a library")
                self._write(1, b"a warning")
        self._run.after(_BEAT, self._beat)

    def _hang(self) -> None:
        if self.exit_code is None and not self._world.is_healed:
            self.is_hanging, self.hangs_since = True, self._run.now
            self._run.note("process", self.pid, "hangs")

    def _write(self, number: int, line: bytes) -> None:
        self.pipes[number].lines.append(line)
        self._world.wake()

    def end(self, code: int) -> None:
        if self.exit_code is None and not (code == 1 and self._world.is_healed):
            self.exit_code = code
            self._run.note("process", self.pid, "ends with", code)
            self._world.receive(signal.SIGCHLD)


class Supervision:
    """A supervisor, its workers, and the faults of a run. It replaces Wakeups."""

    def __init__(self, run: Run) -> None:
        self.run = run
        choices = run.choices
        self.faults = {fault for fault in _FAULTS if choices.random() < 0.5}
        self.settings = Settings(
            workers=choices.randrange(1, 3), hang_timeout=choices.choice((5.0, 30.0)), grace=choices.choice((1.0, 10.0))
        )
        self.is_healed = self.is_stopping = self.are_all_suspended = False
        self._processes: list[_Process] = []
        self._pipes: list[_Pipe] = []
        self._signals: list[int] = []
        self._has_woken = False
        self.suspended_until = 0.0
        """The time at which the last suspension of the supervisor ends."""
        self._pid = 100
        self._starts: list[float] = []
        run.note("supervisor", *sorted(self.faults))
        files: Any = SimpleNamespace(prepare=lambda number: None, directory=None, lock=0)
        events: Any = self
        self._workers = supervisor._Workers(self.settings, files, CollectorRegistry(), events, 0)
        self._count = len(self._workers._places)

    # For the supervisor

    def listen(self, pipe: _Pipe) -> None:
        self._pipes.append(pipe)

    def forget(self, pipe: _Pipe) -> None:
        if pipe in self._pipes:
            self._pipes.remove(pipe)

    @contextmanager
    def held_back(self) -> Iterator[None]:
        yield

    def wait(self, timeout: float) -> int | None:
        run = self.run
        # Each call of this method takes some time.
        end = max(run.now + timeout, run.now + 1e-4)
        while not (self._signals or self._has_woken) or run.now < self.suspended_until:
            if not run.step(max(end, self.suspended_until)):
                break
        self._has_woken = False
        got = self._signals.pop(0) if self._signals else None
        for pipe in list(self._pipes):
            pipe.take()
        self._check()
        return got

    def next_pid(self) -> int:
        """Return the id of a new process."""
        self._pid += 1
        return self._pid

    def start_process(self, *command: Any, **options: Any) -> _Process:
        """Start a process, in place of subprocess.Popen."""
        now = self.run.now
        self._starts = [*(each for each in self._starts if each > now - 10.0), now]
        if "no starts" in self.faults and not self.is_healed and self.run.choices.random() < 0.3:
            raise OSError("out of memory")
        process = _Process(self)
        self._processes.append(process)
        self.run.note("process", process.pid, "starts")
        if len(self._starts) > _MOST_STARTS * self._count:
            raise Broken(f"{len(self._starts)} processes within ten seconds")
        return process

    # For processes

    def wake(self) -> None:
        """Note that lines of a process wait."""
        self._has_woken = True

    def receive(self, number: int) -> None:
        """Receive a signal."""
        self._signals.append(number)

    # The run

    def play(self) -> None:
        """Let the supervisor keep its workers running in spite of the faults. Then end it, and check the properties."""
        run, choices = self.run, self.run.choices
        popen = SimpleNamespace(Popen=self.start_process, PIPE=-1)
        with (
            replaced(worker_process, subprocess=popen, Lines=_Pipe),
            replaced(supervisor, new_key=lambda: b""),
        ):
            try:
                for place in self._workers._places:
                    self._start(place)
                if "suspensions" in self.faults:
                    run.soon(40.0, self._suspend)
                healed = choices.random() * 120.0
                run.after(healed, self._heal)
                run.after(healed + self.settings.hang_timeout + 90.0, self._stop)
                self._workers.keep_running()
                begun = run.now
                if choices.random() < 0.2:
                    run.soon(5.0, lambda: self.receive(signal.SIGTERM))
                self._workers.stop()
            finally:
                self.is_stopping = True
            if run.now > begun + self.settings.grace + _SLACK + 0.1:
                raise Broken(f"the supervisor takes {run.now - begun:.1f} s to stop")
            self._workers.kill()
        if running := [process.pid for process in self._processes if process.exit_code is None]:
            raise Broken(f"processes that run after the supervisor: {running}")
        if unclosed := [process.pid for process in self._processes if not process.is_closed]:
            raise Broken(f"processes that the supervisor has not closed: {unclosed}")
        if self._pipes:
            raise Broken(f"{len(self._pipes)} pipes that the supervisor has not forgotten")

    def _start(self, place: Any) -> None:
        # The supervisor's `start` fails if workers do not serve. In this simulation it has already succeeded.
        try:
            self._workers._start(place)
        except OSError:
            self._workers._put_off(place)

    def _suspend(self) -> None:
        if self.is_healed:
            return
        seconds = self.run.choices.choice((2.0, 20.0, 100.0))
        self.suspended_until = self.run.now + seconds
        self.are_all_suspended = self.run.choices.random() < 0.5
        self.run.note("the supervisor is suspended,", "with its workers" if self.are_all_suspended else "alone")
        self.run.after(seconds, self._resume)

    def _resume(self) -> None:
        self.are_all_suspended = False
        self.run.soon(40.0, self._suspend)

    def _heal(self) -> None:
        self.run.note("no more faults")
        self.is_healed, self.are_all_suspended = True, False
        self.suspended_until = min(self.suspended_until, self.run.now)
        self.faults = set()

    def _stop(self) -> None:
        for place in self._workers._places:
            if place.process is None or not place.process.serves:
                raise Broken(f"worker {place.number} does not serve")
        self.run.note("the supervisor stops")
        self.is_stopping = True
        self.receive(self.run.choices.choice(sorted(STOP_SIGNALS)))

    def _check(self) -> None:
        # Hanging processes are killed in time, unless the supervisor was suspended.
        for process in self._processes:
            is_due = process.exit_code is None and process.is_hanging and not self.is_stopping
            since = max(process.beaten, self.suspended_until)
            if is_due and self.run.now > since + process.patience + 2 * _BEAT:
                raise Broken(f"process {process.pid} hangs for {self.run.now - process.hangs_since:.1f} s")
