"""The port for metrics. It serves GET /metrics over HTTP to Prometheus.

The port belongs to the supervisor, on which all workers depend. Therefore clients may use only a few threads and file
descriptors of the supervisor, and only for a short time.
"""

import logging
import socket
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import CollectorRegistry, make_wsgi_app

from chatiere.engine.closing import Closing
from chatiere.service.base.settings import with_port
from chatiere.service.ports.listening import listening_sockets

# The maximum number of connections at the same time.
_MAX_CONNECTIONS = 8
# Three times in seconds. A client must send some data or receive the response within the first, and its whole request
# must arrive within the second. A connection whose slot is needed must end within the third.
_SILENCE, _REQUEST, _PATIENCE = 5.0, 10.0, 1.0
_PAUSE = 0.1

_log = logging.getLogger(__name__)


class MetricsPort(Closing):
    """Serves the metrics of a registry, in its own threads.

    Attributes:
        address: The address, with the port that the system chose.
    """

    def __init__(self, address: str, registry: CollectorRegistry) -> None:
        """Listen and serve. Use the object in a `with` statement. Raises SettingError for metrics_address."""
        application = _only_metrics(make_wsgi_app(registry))
        self._servers = [_Server(each, application) for each in listening_sockets("metrics_address", address)]
        for server in self._servers:
            threading.Thread(target=server.serve_forever, name="metrics port", daemon=True).start()
        self.address = with_port(address, self._servers[0].server_port)

    def close(self) -> None:
        """Stop serving."""
        for server in self._servers:
            server.shutdown()
            server.server_close()


def _only_metrics(exposed: WSGIApplication) -> WSGIApplication:
    def respond(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/metrics":
            status = "404 Not Found"
        else:
            try:
                return exposed(environ, start_response)
            except Exception:
                # Metrics are read from files, and the process may have run out of file descriptors.
                _log.exception("cannot read the metrics")
                status = "500 Internal Server Error"
        start_response(status, [("Content-Type", "text/plain")])
        return [f"{status}\n".encode()]

    return respond


class _Handler(WSGIRequestHandler):
    """Reads a request and writes the response."""

    timeout = _SILENCE
    server: "_Server"

    def parse_request(self) -> bool:
        is_request = super().parse_request()
        self.server.has_come(self.connection)
        return is_request

    def log_message(self, format: str, *args: object) -> None:
        """Log no requests."""


class _Server(ThreadingMixIn, WSGIServer):
    """Serves one listening socket, with few connections. A new connection may replace the oldest idle connection."""

    daemon_threads = True

    def __init__(self, listening: socket.socket, application: WSGIApplication) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.server_name, self.server_port = listening.getsockname()[:2]
        self.setup_environ()
        self.set_app(application)
        self._slots = threading.Semaphore(_MAX_CONNECTIONS)
        # The connections whose request has not arrived, oldest first, with the times until which they may wait.
        self._waiting: dict[socket.socket, float] = {}
        self._changing = threading.Lock()

    def has_come(self, connection: socket.socket) -> None:
        """Note that a connection's request has arrived."""
        with self._changing:
            self._waiting.pop(connection, None)

    # Methods called by socketserver

    def get_request(self) -> tuple[socket.socket, Any]:
        try:
            return super().get_request()
        except OSError as error:
            # Wait a moment, because the process may have run out of file descriptors. Or the client may have left.
            _log.warning("cannot accept a connection for metrics: %s", error)
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
        # socketserver calls this method between connections, and twice a second.
        now = time.monotonic()
        with self._changing:
            self._cut([connection for connection, end in self._waiting.items() if end <= now])

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        # An OSError means that the client left or was silent. Otherwise, no thread could be started.
        level = logging.DEBUG if isinstance(error, OSError) else logging.WARNING
        _log.log(level, "cannot serve metrics to a client: %s", error)

    def _cut(self, connections: list[socket.socket]) -> None:
        # The threads of these connections then read the end of the stream, and close the connections.
        for connection in connections:
            del self._waiting[connection]
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
