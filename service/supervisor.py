"""Running a server: a supervisor, which holds the port, and its workers, which answer calls.

gRPC must not be forked: workers are programs of their own (`worker.py`), and the supervisor makes no gRPC object.
"""

import logging
import multiprocessing
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import Self
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from chatiere.service.config import SettingError, Settings, split_address, with_port
from chatiere.service.logs import configure_logging
from chatiere.service.metrics_files import MetricsFiles, ProcessesCollector
from chatiere.service.port import HeldPort
from chatiere.service.worker import Order

_STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}
_SIGNALS = _STOP_SIGNALS | {signal.SIGCHLD}
# Seconds that a worker gets to end beyond the grace of its calls.
_SLACK = 5.0
# A worker that lives so many seconds is no part of a crash loop: the next one is started at once.
_STEADY = 10.0
# The pause before a worker is started again in a crash loop: it doubles from the first to the second, in seconds.
_PAUSES = (0.1, 10.0)

_log = logging.getLogger(__name__)


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then let calls in flight finish; a second signal ends everything at once.

    To be called in the main thread. Raises SettingError where the settings cannot be followed: an address is taken, a
    file is unreadable …
    """
    multiprocessing.current_process().name = "supervisor"
    configure_logging(settings)
    if settings.tokens:
        for address in settings.open_addresses:
            _log.warning("tokens without TLS: whoever is between a client and %s can read them", address)
    with ExitStack() as stack:
        signals = stack.enter_context(_Signals())
        address = stack.enter_context(HeldPort(settings.address)).address
        play_address = None
        if settings.play_address is not None:
            play_address = stack.enter_context(HeldPort(settings.play_address, "play_address")).address
        files = stack.enter_context(MetricsFiles(settings.workers))
        registry = CollectorRegistry()
        registry.register(files.collector())
        # What the system chose, all workers share.
        shared = replace(settings, address=address, play_address=play_address)
        workers = _Workers(shared, files, registry, signals)
        stack.callback(workers.kill)
        if settings.metrics_address is not None:
            metrics_server = _serve_metrics(settings.metrics_address, registry)
            stack.callback(metrics_server.server_close)
            stack.callback(metrics_server.shutdown)
        workers.start()
        _log.info("serving chatiere.v1 on %s, workers: %d", address, settings.workers)
        if play_address is not None:
            _log.info("streams of batches on %s", play_address)
        workers.keep_running()
        _log.info("stopping: calls in flight have %g seconds", settings.grace)
        hurry = workers.stop()
    if hurry is None:
        _log.info("stopped")
    else:
        # The end that the signal would have made, but with everything cleaned up.
        signal.signal(hurry, signal.SIG_DFL)
        os.kill(os.getpid(), hurry)


class _Signals:
    """Waits for signals, whichever thread the system hands them to: libraries start threads when they are imported."""

    def __enter__(self) -> Self:
        self._told, self._tells = socket.socketpair()
        self._tells.setblocking(False)
        self._before = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
        signal.set_wakeup_fd(self._tells.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            # As Python has them: SIGINT raises KeyboardInterrupt, the others do what the system does.
            signal.signal(number, handler)
        self._told.close()
        self._tells.close()

    def wait(self, timeout: float) -> int | None:
        """The next signal; None if there is none in so many seconds."""
        ready, _, _ = select.select([self._told], [], [], timeout)
        return self._told.recv(1)[0] if ready else None

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Let programs started inside begin with signals that wait: Ctrl-C is sent to them too."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker:
    """The place of one worker."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: subprocess.Popen[bytes] | None = None
        # Of time.monotonic: when it was started, and when to start the next one.
        self.started = self.due = 0.0
        self.pause = 0.0


class _Workers:
    """All workers."""

    def __init__(self, settings: Settings, files: MetricsFiles, registry: CollectorRegistry, signals: _Signals) -> None:
        self._signals = signals
        self._settings = settings
        self._files = files
        self._workers = [_Worker(number) for number in range(settings.workers)]
        self._processes = ProcessesCollector(registry)
        self._processes.watch("supervisor", os.getpid())
        self._restarted = Counter(
            "chatiere_workers_restarted_total", "Workers started in place of ones that had died.", registry=registry
        )
        running = Gauge("chatiere_workers", "Worker processes that run.", registry=registry)
        running.set_function(lambda: sum(worker.process is not None for worker in self._workers))

    def start(self) -> None:
        """Start all and wait until they serve. Raises SettingError if one cannot."""
        for worker in self._workers:
            self._start(worker)
        for worker in self._workers:
            assert worker.process is not None
            assert worker.process.stdout is not None
            try:
                refusal = pickle.load(worker.process.stdout)
            except EOFError:
                raise SettingError("workers", f"worker {worker.number} died before it could serve") from None
            if refusal is not None:
                raise SettingError(*refusal)

    def keep_running(self) -> None:
        """Replace workers that die, until a signal says stop."""
        while True:
            due = [worker.due for worker in self._workers if worker.process is None]
            # Without a worker to start there is nothing to wake up for but a signal.
            timeout = max(0.0, min(due) - time.monotonic()) if due else 3600.0
            if self._signals.wait(timeout) in _STOP_SIGNALS:
                return
            for worker in self._workers:
                if worker.process is not None and worker.process.poll() is not None:
                    self._bury(worker, worker.process)
                if worker.process is None and worker.due <= time.monotonic():
                    self._restarted.inc()
                    self._start(worker)

    def stop(self) -> int | None:
        """Let all end gracefully; those that do not are left to `kill`. The second signal, if one came meanwhile."""
        running = [worker.process for worker in self._workers if worker.process is not None]
        for process in running:
            process.terminate()
        end = time.monotonic() + self._settings.grace + _SLACK
        while any(process.poll() is None for process in running):
            got = self._signals.wait(max(0.0, end - time.monotonic()))
            if got is None:
                _log.warning("killing workers that have not ended")
                return None
            if got in _STOP_SIGNALS:
                return got
        return None

    def kill(self) -> None:
        """End all that run, at once."""
        for worker in self._workers:
            if worker.process is not None:
                worker.process.kill()
                worker.process.wait()

    def _start(self, worker: _Worker) -> None:
        worker.started = time.monotonic()
        with self._signals.held_back():
            worker.process = subprocess.Popen(
                (sys.executable, "-P", "-m", "chatiere.service.worker"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        assert worker.process.stdin is not None
        order = Order(self._settings, worker.number, self._files.directory)
        # The pipe stays open: its end tells the worker that this process is gone.
        try:
            pickle.dump(order, worker.process.stdin)
            worker.process.stdin.flush()
        except BrokenPipeError:
            # Dead already; it will be found.
            return
        self._processes.watch(f"worker-{worker.number}", worker.process.pid)

    def _bury(self, worker: _Worker, process: subprocess.Popen[bytes]) -> None:
        worker.process = None
        for pipe in process.stdin, process.stdout:
            assert pipe is not None
            # What could not be written into it does not matter any more.
            with suppress(BrokenPipeError):
                pipe.close()
        self._files.forget_present(worker.number)
        now = time.monotonic()
        shortest, longest = _PAUSES
        steady = now - worker.started >= _STEADY
        worker.pause = 0.0 if steady else min(max(2 * worker.pause, shortest), longest)
        worker.due = now + worker.pause
        _log.error(
            "worker %d (pid %d) has died, exit code %d; the next one starts in %g s",
            worker.number,
            process.pid,
            process.returncode,
            worker.pause,
        )


def _serve_metrics(address: str, registry: CollectorRegistry) -> WSGIServer:
    host, port = split_address(address)
    try:
        server, _ = start_http_server(port, host, registry)
    except OSError as error:
        raise SettingError("metrics_address", f"cannot serve metrics on {address}: {error.strerror}") from error
    _log.info("metrics on http://%s/metrics", with_port(address, server.server_port))
    return server
