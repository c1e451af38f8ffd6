"""A worker of a server: the program `python -m chatiere.service.process.worker`, which supervisor.py starts.

It reads an Order, pickled, from standard input; the end of the input means that the supervisor has ended. It writes
lines of JSON to standard output: null while it serves (heartbeat.py), or the setting and the message of a SettingError.
It logs to a descriptor of its own; the supervisor logs its standard error.
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
from chatiere.service.base.heartbeat import Heartbeat
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.guards.logs import configure_logging
from chatiere.service.guards.metrics_files import use_files
from chatiere.service.ports.server import create_server

_log = logging.getLogger(__name__)

# Of garbage collection. A full one takes 0.3 s with 8,000 followers, in which nobody is served: MemoryWatch asks for it
# when memory is short or little is done.
_THRESHOLDS = (700, 10, 1000)


class Order(NamedTuple):
    """An order to a worker."""

    settings: Settings
    """The settings, with the ports that all workers share."""
    number: int
    metrics: Path
    """The directory of the MetricsFiles."""
    log: int
    """The descriptor to log to."""
    table_key: bytes
    """The key of sealed tables, the same for all workers; not used if there is a file of keys."""


def run_worker(order: Order) -> None:
    """Serve until SIGTERM or the end of the supervisor, then let calls in flight finish."""
    # A terminal sends SIGINT to all processes; only the supervisor handles it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    multiprocessing.current_process().name = f"worker-{order.number}"
    keep_freed_memory()
    share_one_heap()
    faulthandler.enable()
    configure_logging(order.settings, order.log)
    use_files(order.metrics, order.number)
    heartbeat = Heartbeat(sys.stdout.fileno(), order.settings.hang_timeout)
    try:
        server, _ = create_server(
            order.settings,
            CollectorRegistry(),
            share_port=True,
            heartbeat=heartbeat,
            table_key=order.table_key,
        )
    except SettingError as error:
        print(json.dumps((error.setting, error.message)), flush=True)
        raise SystemExit(1) from error
    # All objects so far are permanent: garbage collection need not visit them.
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    server.start()
    _log.info("worker %d serves, pid %d", order.number, os.getpid())
    orphaned = threading.Event()
    threading.Thread(target=_end_with_supervisor, args=(orphaned,), daemon=True).start()
    while signal.sigtimedwait({signal.SIGTERM}, heartbeat.interval) is None:
        if not server.wait_for_termination(0):
            raise RuntimeError("the serving loop has ended")
    server.stop(order.settings.grace).wait()
    if orphaned.is_set():
        # Nobody else is left to do it.
        shutil.rmtree(order.metrics, ignore_errors=True)


def _end_with_supervisor(orphaned: threading.Event) -> None:
    # Not through sys.stdin, whose lock the interpreter needs at its end.
    os.read(sys.stdin.fileno(), 1)
    orphaned.set()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    # Imported under its real name, by which Order was pickled.
    from chatiere.service.process import worker

    try:
        worker.run_worker(pickle.load(sys.stdin.buffer))
    except Exception:
        logging.getLogger(worker.__name__).critical("the worker failed", exc_info=True)
        logging.shutdown()
        # gRPC's threads would keep the process from ending.
        os._exit(1)
