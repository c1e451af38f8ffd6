"""A worker of a server. The supervisor starts it by `python -m chatiere.service.process.worker`.

The worker reads a pickled Order from standard input. The end of the input means that the supervisor has ended. The
worker writes lines of JSON to standard output: null as a heartbeat while it serves (heartbeat.py), or the setting and
the message of a SettingError. It logs to a separate file descriptor. The supervisor logs the worker's standard error.
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

from prometheus_client import CollectorRegistry

from chatiere.engine.memory import keep_freed_memory, share_one_heap
from chatiere.service.base.files import reload_files
from chatiere.service.base.heartbeat import Heartbeat
from chatiere.service.base.settings import SettingError
from chatiere.service.guards.logs import configure_logging
from chatiere.service.guards.metrics_files import use_files
from chatiere.service.ports.server import Server, create_server
from chatiere.service.process.order import Order
from chatiere.service.process.wakeups import HELD_SIGNALS

# The module is run as __main__.
_log = logging.getLogger("chatiere.service.process.worker")

# The thresholds of garbage collection, with rare full collections. A full collection takes 0.3 s with 8,000 followers,
# and no call is served during this time. MemoryWatch starts full collections when memory is short or the load is low.
_THRESHOLDS = (700, 10, 1000)
# The time in seconds after which a thread gives the interpreter's lock to a waiting thread. A loop needs the lock
# several times to receive a call, while other threads compute responses. With Python's default of 0.005, other clients'
# calls wait 0.1 s during a flood of calls that take 2 ms each.
_SWITCH_INTERVAL = 0.0005


def run_worker(order: Order) -> None:
    """Serve until SIGTERM arrives or the supervisor ends. Then let calls in flight finish."""
    # A terminal sends signals to all of its processes. Only the supervisor handles them.
    signal.pthread_sigmask(signal.SIG_BLOCK, HELD_SIGNALS)
    multiprocessing.current_process().name = f"worker-{order.number}"
    keep_freed_memory()
    share_one_heap()
    sys.setswitchinterval(_SWITCH_INTERVAL)
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
    # All objects so far are permanent, so garbage collection can skip them.
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    server.start()
    _log.info("worker %d serves, pid %d", order.number, os.getpid())
    orphaned = threading.Event()
    threading.Thread(target=_end_with_supervisor, args=(orphaned,), daemon=True).start()
    threading.Thread(target=_end_with_server, args=(server,), daemon=True).start()
    while signal.sigwait({signal.SIGTERM, signal.SIGHUP}) != signal.SIGTERM:
        reload_files()
    if not server.wait_for_termination(0):
        raise RuntimeError("the serving loop has ended")
    server.stop(order.settings.grace).wait()
    if orphaned.is_set():
        # Remove the files, because the supervisor can no longer do it.
        shutil.rmtree(order.metrics, ignore_errors=True)


def _end_with_supervisor(orphaned: threading.Event) -> None:
    # Do not use sys.stdin, because the interpreter needs the lock of sys.stdin to exit.
    os.read(sys.stdin.fileno(), 1)
    orphaned.set()
    os.kill(os.getpid(), signal.SIGTERM)


def _end_with_server(server: Server) -> None:
    server.wait_for_termination()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    try:
        run_worker(pickle.load(sys.stdin.buffer))
    except Exception:
        _log.critical("the worker failed", exc_info=True)
        logging.shutdown()
        # Exit immediately. Otherwise gRPC's threads would keep the process alive.
        os._exit(1)
