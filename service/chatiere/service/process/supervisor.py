"""The supervisor of a server. It holds the port, and starts the workers that serve the calls.

A process that uses gRPC must not fork. Therefore workers are separate programs (`worker.py`), and the supervisor
creates no gRPC objects.
"""

import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from prometheus_client import CollectorRegistry, Counter, Gauge

from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.guards.build_info import tell_build
from chatiere.service.guards.connections import raise_limit
from chatiere.service.guards.logs import DroppedLines, configure_logging
from chatiere.service.guards.metrics_files import MetricsFiles, ProcessesCollector
from chatiere.service.ports.listening import HeldPort
from chatiere.service.ports.metrics_port import MetricsPort
from chatiere.service.process.order import Order
from chatiere.service.process.wakeups import IGNORED_SIGNALS, STOP_SIGNALS, Wakeups
from chatiere.service.process.worker_process import WorkerProcess
from chatiere.service.tables.new_key import new_key

# The time in seconds after the grace period of its calls within which a worker must end.
_SLACK = 5.0
# If a dead worker has run for at least this number of seconds, it was not in a crash loop, and the next worker starts
# immediately.
_STEADY = 10.0
# The first and the longest pause in seconds before a worker in a crash loop is restarted. The pause doubles each time.
_PAUSES = (0.1, 10.0)
# The maximum interval between two checks of the workers, in seconds, and the interval above which the supervisor itself
# must have been suspended.
_LOOK, _LATE = 1.0, 3.0

_log = logging.getLogger(__name__)


def serve(settings: Settings, ready: Callable[[Settings], None] | None = None) -> None:
    """Serve until SIGTERM, SIGINT or SIGQUIT. Then let calls in flight finish. A second signal ends them.

    This function must be called in the main thread.

    Args:
        settings: The settings of the server.
        ready: A function that is called when all workers serve. Its argument is the settings, with the ports that the
            system chose.

    Raises:
        SettingError: If the settings cannot be applied, for example because an address is in use.
    """
    multiprocessing.current_process().name = "supervisor"
    configure_logging(settings)
    before, limit = raise_limit()
    _log.info("open files: at most %d%s", limit, f", raised from {before}" if before < limit else "")
    _warn_of_open_doors(settings)
    if settings.table_keys is None:
        _log.warning("no table keys: sealed tables end with this server (see --table-keys)")
    with ExitStack() as stack:
        events = stack.enter_context(Wakeups())
        # A descriptor of this process's log, to which workers write. Their standard error is a pipe.
        log = os.dup(sys.stderr.fileno())
        stack.callback(os.close, log)
        address = stack.enter_context(HeldPort(settings.address)).address
        fast_address = None
        if settings.fast_address is not None:
            fast_address = stack.enter_context(HeldPort(settings.fast_address, "fast_address")).address
        web_address = None
        if settings.web_address is not None:
            web_address = stack.enter_context(HeldPort(settings.web_address, "web_address")).address
        files = stack.enter_context(MetricsFiles())
        registry = CollectorRegistry()
        registry.register(files.collector())
        tell_build(registry)
        # All workers share the ports that the system chose.
        shared = replace(settings, address=address, fast_address=fast_address, web_address=web_address)
        workers = _Workers(shared, files, registry, events, log)
        stack.callback(workers.kill)
        if settings.metrics_address is not None:
            metrics = stack.enter_context(MetricsPort(settings.metrics_address, registry))
            _log.info("metrics on http://%s/metrics", metrics.address)
        if workers.start():
            _log.info("serving chatiere.v1 on %s, workers: %d", address, settings.workers)
            if fast_address is not None:
                _log.info("fast door on %s", fast_address)
            if web_address is not None:
                scheme = "http" if settings.tls_certificate is None else "https"
                _log.info("web door on %s://%s", scheme, web_address)
            if ready is not None:
                ready(shared)
            workers.keep_running()
        _log.info("stopping: calls in flight have %g s to finish", settings.grace)
        hurry = workers.stop()
    if hurry is None:
        _log.info("stopped")
    else:
        logging.shutdown()
        # End the process by the second signal, now that everything is cleaned up.
        signal.signal(hurry, signal.SIG_DFL)
        os.kill(os.getpid(), hurry)


def _warn_of_open_doors(settings: Settings) -> None:
    if settings.tokens:
        for address in settings.open_addresses.values():
            _log.warning("tokens without TLS: anyone between a client and %s can read them", address)
    else:
        for address in settings.open_addresses.values():
            _log.warning("no TLS and no tokens: anyone who can reach %s may call", address)


class _Place:
    """The place of one worker. If its process dies, another process replaces it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: WorkerProcess | None = None
        # The time (time.monotonic) at which to start the next process.
        self.due = 0.0
        self.pause = 0.0
        self.is_killed = False


class _Workers:
    """All workers of the server."""

    def __init__(
        self, settings: Settings, files: MetricsFiles, registry: CollectorRegistry, events: Wakeups, log: int
    ) -> None:
        self._settings = settings
        self._files = files
        self._events = events
        self._log = log
        # All workers have the same key, so that a new worker can open the tables of a dead one.
        self._table_key = new_key()
        self._places = [_Place(number) for number in range(settings.workers)]
        self._processes = ProcessesCollector(registry)
        self._processes.watch("supervisor", os.getpid())
        self._restarted = Counter(
            "chatiere_workers_restarted_total",
            "Workers started to replace dead or hanging ones.",
            registry=registry,
        )
        self._dropped = DroppedLines(
            Counter(
                "chatiere_supervisor_log_lines_dropped_total",
                "Lines that the supervisor did not log, because the log was not read.",
                registry=registry,
            )
        )
        running = Gauge("chatiere_workers", "Running worker processes.", registry=registry)
        running.set_function(lambda: sum(place.process is not None for place in self._places))

    def start(self) -> bool:
        """Start all workers, and wait until they serve.

        Returns:
            False if a signal to stop arrived.

        Raises:
            SettingError: If a worker cannot serve.
        """
        for place in self._places:
            if place.number and self._wait(0) in STOP_SIGNALS:
                return False
            try:
                self._start(place)
            except OSError as error:
                raise SettingError("workers", f"cannot start worker {place.number}: {error}") from error
        for place in self._places:
            process = place.process
            assert process is not None
            while not process.serves:
                if self._wait(_LOOK) in STOP_SIGNALS:
                    return False
                if process.exit_code is not None:
                    # Log the last lines of the worker before the error.
                    process.close()
                if process.refusal is not None:
                    raise process.refusal
                if process.exit_code is not None:
                    raise SettingError("workers", f"worker {place.number} died before it could serve")
                if process.hangs_at <= time.monotonic():
                    raise SettingError("workers", f"worker {place.number} does not serve after {process.patience:g} s")
        return True

    def keep_running(self) -> None:
        """Replace workers that die or hang, until a signal to stop arrives."""
        looked = time.monotonic()
        while True:
            due = [place.due for place in self._places if place.process is None]
            if self._wait(max(0.0, min([*due, looked + _LOOK]) - time.monotonic())) in STOP_SIGNALS:
                return
            now = time.monotonic()
            if now - looked > _LATE:
                # The workers may have been suspended with this process, and their heartbeats may be unread.
                for place in self._places:
                    if place.process is not None:
                        place.process.forgive()
            looked = now
            for place in self._places:
                self._look_at(place, now)
            self._dropped.update()

    def stop(self) -> int | None:
        """Let all workers end gracefully, for a limited time. Return a second stop signal when one arrives."""
        running = [place.process for place in self._places if place.process is not None]
        for process in running:
            if process.serves:
                process.terminate()
            else:
                # A process that is still starting may not handle signals yet.
                process.kill()
        end = time.monotonic() + self._settings.grace + _SLACK
        while any(process.exit_code is None for process in running):
            left = end - time.monotonic()
            if left <= 0:
                _log.warning("killing workers that have not ended")
                return None
            got = self._wait(left)
            if got in STOP_SIGNALS:
                return got
        return None

    def kill(self) -> None:
        """Kill all workers."""
        for place in self._places:
            if place.process is not None:
                place.process.kill()
                place.process.close()

    def _wait(self, timeout: float) -> int | None:
        # Return the next signal. Return None after the timeout or when lines have arrived.
        got = self._events.wait(timeout)
        if got == signal.SIGHUP:
            _log.info("SIGHUP: rereading tokens, table keys and certificates")
            for place in self._places:
                if place.process is not None:
                    place.process.reload_files()
        elif got in IGNORED_SIGNALS:
            _log.warning("%s is ignored", signal.Signals(got).name)
        return got

    def _look_at(self, place: _Place, now: float) -> None:
        process = place.process
        if process is not None and process.exit_code is not None:
            self._bury(place, process, process.exit_code)
        elif process is not None and process.hangs_at <= now and not place.is_killed:
            _log.error(
                "worker %d (pid %d) hangs: no heartbeat for %g s; killing it",
                place.number,
                process.pid,
                process.patience,
            )
            process.kill()
            place.is_killed = True
        if place.process is None and place.due <= now:
            try:
                self._start(place)
            except Exception as error:
                # The system may temporarily have no free file descriptors, processes or memory. Other workers continue.
                self._put_off(place)
                _log.error("cannot start worker %d: %s; trying again in %g s", place.number, error, place.pause)
            else:
                self._restarted.inc()

    def _start(self, place: _Place) -> None:
        files = self._files
        files.prepare(place.number)
        order = Order(self._settings, place.number, files.directory, files.lock, self._log, self._table_key)
        place.process = WorkerProcess(order, self._events)
        place.is_killed = False
        self._processes.watch(f"worker-{place.number}", place.process.pid)

    def _bury(self, place: _Place, process: WorkerProcess, exit_code: int) -> None:
        place.process = None
        process.close()
        if time.monotonic() - process.started >= _STEADY:
            place.pause = 0.0
            place.due = time.monotonic()
        else:
            self._put_off(place)
        _log.error(
            "worker %d (pid %d) died with exit code %d; the next one starts in %g s",
            place.number,
            process.pid,
            exit_code,
            place.pause,
        )

    def _put_off(self, place: _Place) -> None:
        shortest, longest = _PAUSES
        place.pause = min(max(2 * place.pause, shortest), longest)
        place.due = time.monotonic() + place.pause
