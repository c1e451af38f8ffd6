"""One worker of a server: the program `python -m chatiere.service.process.worker`, which supervisor.py starts.

On its standard input it gets an Order, pickled; the end of the input tells it that the supervisor is gone. On its
standard output it tells in JSON, a line each, that it serves (null, again and again: heartbeat.py), or the setting and
the message of a SettingError. It logs to a descriptor of its own: what stands on standard error the supervisor logs.
"""

import faulthandler
import gc
import json
import logging
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import NamedTuple

from prometheus_client import CollectorRegistry

from chatiere.engine.memory import keep_freed_memory, share_one_heap
from chatiere.service.guards.logs import configure_logging
from chatiere.service.guards.metrics_files import use_files
from chatiere.service.ports.server import create_server
from chatiere.service.process.heartbeat import Heartbeat
from chatiere.service.process.settings import SettingError, Settings

_log = logging.getLogger(__name__)


class Order(NamedTuple):
    """An order to a worker."""

    settings: Settings
    """With the ports that all share."""
    number: int
    metrics: Path
    """The directory of MetricsFiles."""
    log: int
    """The descriptor to log to."""


def run_worker(order: Order) -> None:
    """Serve until SIGTERM or the end of the supervisor, then let calls in flight finish."""
    # A terminal sends SIGINT to all processes; only the supervisor has to understand it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    multiprocessing.current_process().name = f"worker-{order.number}"
    keep_freed_memory()
    share_one_heap()
    faulthandler.enable()
    configure_logging(order.settings, os.fdopen(order.log, "w", buffering=1, errors="backslashreplace"))
    use_files(order.metrics, order.number)
    heartbeat = Heartbeat(sys.stdout.fileno(), order.settings.hang_timeout)
    try:
        server, _ = create_server(order.settings, CollectorRegistry(), share_port=True, heartbeat=heartbeat)
    except SettingError as error:
        print(json.dumps((error.setting, error.message)), flush=True)
        raise SystemExit(1) from error
    # What there is now stays: collections need not look at it.
    gc.freeze()
    server.start()
    _log.info("worker %d serves, pid %d", order.number, os.getpid())
    orphaned = threading.Event()
    threading.Thread(target=_end_with_supervisor, args=(orphaned,), daemon=True).start()
    while signal.sigtimedwait({signal.SIGTERM}, heartbeat.interval) is None:
        if not server.wait_for_termination(0):
            raise RuntimeError("the serving loop has ended")
    server.stop(order.settings.grace).wait()
    if orphaned.is_set():
        # Nobody else is there to do it.
        shutil.rmtree(order.metrics, ignore_errors=True)


def _end_with_supervisor(orphaned: threading.Event) -> None:
    # Not through sys.stdin, whose lock the interpreter needs at its end.
    os.read(sys.stdin.fileno(), 1)
    orphaned.set()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    # Under its real name, by which it was pickled.
    from chatiere.service.process import worker

    try:
        worker.run_worker(pickle.load(sys.stdin.buffer))
    except Exception:
        logging.getLogger(worker.__name__).critical("the worker cannot go on", exc_info=True)
        # The threads that gRPC has started would keep the process from ending.
        os._exit(1)
