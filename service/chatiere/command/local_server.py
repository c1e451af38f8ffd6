"""A temporary server in a process of its own."""

import multiprocessing
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import NamedTuple

from prometheus_client import CollectorRegistry

from chatiere.engine.memory import keep_freed_memory
from chatiere.http2 import is_built
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server

LOOPBACK = "127.0.0.1"


class LocalServer(NamedTuple):
    """The addresses of a server, named like the settings; no fast one if this build has no fast door."""

    address: str
    fast_address: str | None


@contextmanager
def local_server() -> Iterator[LocalServer]:
    """Run a server on free local ports, in a process that ends with this one at the latest.

    So client and server work in parallel. Programs that call it need the usual `if __name__ == "__main__"`.
    """
    processes = multiprocessing.get_context("spawn")
    here, there = processes.Pipe()
    process = processes.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    there.close()
    try:
        port, fast_port = here.recv()
        yield LocalServer(f"{LOOPBACK}:{port}", None if fast_port is None else f"{LOOPBACK}:{fast_port}")
    finally:
        here.close()
        process.join()


def _serve(parent: Connection) -> None:
    # Ctrl-C reaches both processes; this one ends when the other closes its end of the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_freed_memory()
    free = f"{LOOPBACK}:0"
    server, port = create_server(Settings(address=free, fast_address=free if is_built() else None), CollectorRegistry())
    server.start()
    parent.send((port, server.fast_port))
    try:
        parent.recv()
    except EOFError:
        # The client's channel may still be closing: if the server stopped at once, gRPC would print a message.
        server.stop(grace=1.0).wait()
