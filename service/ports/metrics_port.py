"""The port for metrics: GET /metrics over HTTP, as Prometheus asks for them.

It is the supervisor's, which all workers need: whoever connects here gets a few of its threads and files, for seconds.
"""

import logging
import socket
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from socketserver import ThreadingMixIn
from types import TracebackType
from typing import Any, Self
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import CollectorRegistry, make_wsgi_app

from chatiere.service.ports.listening import listening_sockets
from chatiere.service.process.settings import with_port

# Connections at a time.
_MOST = 8
# Seconds for a client to send something, and to take the answer; for its whole request; and for a connection to end
# when another one needs its room.
_SILENCE, _REQUEST, _PATIENCE = 5.0, 10.0, 1.0
_PAUSE = 0.1

_log = logging.getLogger(__name__)


class MetricsPort:
    """Serves the metrics of a registry, in threads of its own.

    `address`: where, with the port that the system has chosen.
    """

    def __init__(self, address: str, registry: CollectorRegistry) -> None:
        """Listen and answer; use it in a `with` statement. Raises SettingError: metrics_address."""
        application = _only_metrics(make_wsgi_app(registry))
        self._servers = [_Server(each, application) for each in listening_sockets("metrics_address", address)]
        for server in self._servers:
            threading.Thread(target=server.serve_forever, name="metrics port", daemon=True).start()
        self.address = with_port(address, self._servers[0].server_port)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Answer no more."""
        for server in self._servers:
            server.shutdown()
            server.server_close()


def _only_metrics(exposed: WSGIApplication) -> WSGIApplication:
    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/metrics":
            status = "404 Not Found"
        else:
            try:
                return exposed(environ, start_response)
            except Exception:
                # They are read from files, which a process may not open without end.
                _log.exception("the metrics could not be read")
                status = "500 Internal Server Error"
        start_response(status, [("Content-Type", "text/plain")])
        return [f"{status}\n".encode()]

    return answer


class _Handler(WSGIRequestHandler):
    """Reads a request and writes the answer."""

    timeout = _SILENCE
    server: "_Server"

    def parse_request(self) -> bool:
        is_request = super().parse_request()
        self.server.has_come(self.connection)
        return is_request

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""


class _Server(ThreadingMixIn, WSGIServer):
    """Answers on one listening socket, a few connections at a time; the oldest that asks for nothing makes room."""

    daemon_threads = True

    def __init__(self, listening: socket.socket, application: WSGIApplication) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.server_name, self.server_port = listening.getsockname()[:2]
        self.setup_environ()
        self.set_app(application)
        self._slots = threading.Semaphore(_MOST)
        # Connections whose request has not come, oldest first, and when it has to be there.
        self._waiting: dict[socket.socket, float] = {}
        self._changing = threading.Lock()

    def has_come(self, connection: socket.socket) -> None:
        """A connection's request is there."""
        with self._changing:
            self._waiting.pop(connection, None)

    # What socketserver calls

    def get_request(self) -> tuple[socket.socket, Any]:
        try:
            return super().get_request()
        except OSError as error:
            # The process may open no more files, which may change; or the client is gone already.
            _log.warning("a connection for metrics could not be taken: %s", error)
            time.sleep(_PAUSE)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._slots.acquire(blocking=False):
            with self._changing:
                self._cut(list(self._waiting)[:1])
            if not self._slots.acquire(timeout=_PATIENCE):
                super().shutdown_request(request)
                return
        with self._changing:
            self._waiting[request] = time.monotonic() + _REQUEST
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.has_come(request)
        super().shutdown_request(request)
        self._slots.release()

    def service_actions(self) -> None:
        # Between connections, and twice a second.
        now = time.monotonic()
        with self._changing:
            self._cut([connection for connection, end in self._waiting.items() if end <= now])

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        # Clients leave, or are silent; and there may be no more threads.
        _log.log(logging.DEBUG if isinstance(error, OSError) else logging.WARNING, "no metrics for a client: %s", error)

    def _cut(self, connections: list[socket.socket]) -> None:
        # Whoever reads from them sees their end, and closes them.
        for connection in connections:
            del self._waiting[connection]
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
