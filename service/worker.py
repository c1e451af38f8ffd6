"""One worker of a server: the program `python -m chatiere.service.worker`, which supervisor.py starts.

On its standard input it gets an Order, pickled; the end of the input tells it that the supervisor is gone. On its
standard output it tells, pickled, None when it answers calls, or the setting and the message of a SettingError.
"""

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

from chatiere.engine.memory import keep_freed_memory
from chatiere.service.config import SettingError, Settings
from chatiere.service.logs import configure_logging
from chatiere.service.metrics_files import use_files
from chatiere.service.server import create_server

_log = logging.getLogger(__name__)


class Order(NamedTuple):
    """What a worker is to do: `settings` has the ports that all share, `metrics` is the directory of MetricsFiles."""

    settings: Settings
    number: int
    metrics: Path


def run_worker(order: Order) -> None:
    """Serve until SIGTERM or the end of the supervisor, then let calls in flight finish."""
    # A terminal sends SIGINT to all processes; only the supervisor has to understand it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    multiprocessing.current_process().name = f"worker-{order.number}"
    keep_freed_memory()
    configure_logging(order.settings)
    use_files(order.metrics, order.number)
    try:
        server, _ = create_server(order.settings, CollectorRegistry(), share_port=True)
    except SettingError as error:
        _tell((error.setting, error.message))
        raise SystemExit(1) from error
    server.start()
    _log.info("worker %d serves, pid %d", order.number, os.getpid())
    _tell(None)
    orphaned = threading.Event()
    threading.Thread(target=_end_with_supervisor, args=(orphaned,), daemon=True).start()
    signal.sigwait({signal.SIGTERM})
    server.stop(order.settings.grace).wait()
    if orphaned.is_set():
        # Nobody else is there to do it.
        shutil.rmtree(order.metrics, ignore_errors=True)


def _tell(answer: tuple[str, str] | None) -> None:
    pickle.dump(answer, sys.stdout.buffer)
    sys.stdout.flush()


def _end_with_supervisor(orphaned: threading.Event) -> None:
    # Not through sys.stdin, whose lock the interpreter needs at its end.
    os.read(sys.stdin.fileno(), 1)
    orphaned.set()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    # Under its real name, by which it was pickled.
    from chatiere.service import worker

    worker.run_worker(pickle.load(sys.stdin.buffer))
