"""The acceptor of the port for browsers. It limits connections, including those in the TLS handshake."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from chatiere.service.ports.web.connection import Connection, PortState

_log = logging.getLogger(__name__)

# The maximum number of connections accepted in one turn of the loop. All further work for a connection waits for the
# turn of its address.
_AT_A_TIME = 64
# As at the fast door, connections to machines that have disappeared are closed. A machine that does not confirm two
# heartbeats of a room (20 s) has disappeared, too, so that the room no longer shows its person as present. Some systems
# lack some of these options.
_KEEPALIVE = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 20_000))


class Acceptor:
    """Accepts connections. At the limit, a connection from the address with the most connections is ended."""

    def __init__(
        self,
        state: PortState,
        listening: Sequence[socket.socket],
        most: int,
        context: Callable[[], ssl.SSLContext | None],
    ) -> None:
        """Create the acceptor. `most`: the limit. `context`: a function that returns a new connection's TLS context."""
        self._state, self._listening, self._most, self._context = state, listening, most, context
        self._loop = asyncio.get_running_loop()
        self._is_accepting = False
        self._number = 0
        # For each address, its connections and their sockets, oldest first.
        self._held: dict[str, dict[Connection, socket.socket]] = {}
        # The connections in the handshake, with their tasks.
        self._welcomes: dict[Connection, asyncio.Task[None]] = {}
        state.forgets.append(self._forget)

    def accept(self) -> None:
        """Start accepting connections."""
        if not self._is_accepting:
            self._is_accepting = True
            for each in self._listening:
                self._loop.add_reader(each, self._accept_some, each)

    async def close(self) -> None:
        """Stop accepting, and end connections in the handshake."""
        self._pause()
        for listening in self._listening:
            listening.close()
        new = [each for held in self._held.values() for each in held.items() if not each[0].is_made]
        welcomes = list(self._welcomes.values())
        for task in welcomes:
            task.cancel()
        await asyncio.gather(*welcomes, return_exceptions=True)
        # No other code closes connections that have not begun.
        for connection, accepted in new:
            self._forget(connection)
            accepted.close()

    def _pause(self) -> None:
        if self._is_accepting:
            self._is_accepting = False
            for each in self._listening:
                self._loop.remove_reader(each)

    def _accept_some(self, listening: socket.socket) -> None:
        for _ in range(_AT_A_TIME):
            try:
                accepted, place = listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                # Stop accepting, because descriptors or memory may be short. The port will call `accept` again.
                _log.warning("connections could not be accepted: %s", error.strerror)
                self._end_one()
                self._pause()
                return
            accepted.setblocking(False)
            _keep_alive(accepted)
            if self._number >= self._most:
                self._end_one()
            connection = Connection(self._state, place)
            self._held.setdefault(connection.origin, {})[connection] = accepted
            self._number += 1
            self._state.turns.take(connection.origin, partial(self._begin, connection, accepted))

    def _begin(self, connection: Connection, accepted: socket.socket) -> None:
        # Do nothing if the connection has been ended in the meantime.
        if connection in self._held.get(connection.origin, {}):
            self._welcomes[connection] = self._loop.create_task(self._welcome(connection, accepted))

    async def _welcome(self, connection: Connection, accepted: socket.socket) -> None:
        context = self._context()
        patience = None if context is None else self._state.patience
        try:
            # An OSError means that the client left during the handshake, or was too slow.
            with suppress(OSError):
                await self._loop.connect_accepted_socket(
                    lambda: connection,
                    accepted,
                    ssl=context,
                    ssl_handshake_timeout=patience,
                    ssl_shutdown_timeout=patience,
                )
        finally:
            del self._welcomes[connection]
            if not connection.is_made:
                self._forget(connection)

    def _end_one(self) -> None:
        # End a connection from the address with the most connections: the oldest connection without a request or, if
        # all have requests, the oldest connection.
        if not self._held:
            return
        held = max(self._held.values(), key=len)
        connection = next((each for each in held if each.is_idle), next(iter(held)))
        accepted = held[connection]
        self._forget(connection)
        if connection.is_made:
            connection.transport.abort()
        elif connection in self._welcomes:
            with suppress(OSError):
                accepted.shutdown(socket.SHUT_RDWR)
        else:
            accepted.close()

    def _forget(self, connection: Connection) -> None:
        held = self._held.get(connection.origin, {})
        if held.pop(connection, None) is not None:
            self._number -= 1
            if not held:
                del self._held[connection.origin]


def _keep_alive(accepted: socket.socket) -> None:
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):
            accepted.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
