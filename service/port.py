"""The port that the workers of a server share."""

import errno
import socket
from types import TracebackType
from typing import Self

from chatiere.service.config import SettingError, split_address, with_port


class HeldPort:
    """Holds a port for workers to listen on with SO_REUSEPORT, and for nobody else.

    The system then spreads connections over the workers. Whether the port is free, and which one it is where the
    system chooses, is decided once, before there are workers; while one of them is being replaced the port stays taken.

    `address`: what the workers are to listen on.
    """

    def __init__(self, address: str) -> None:
        """Take the port of an address; use it in a `with` statement. Raises SettingError."""
        host, port = split_address(address)
        self._sockets: list[socket.socket] = []
        try:
            for family, kind, _, _, place in socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            ):
                port = self._hold(socket.socket(family, kind), place[0], port)
            if not self._sockets:
                raise OSError(errno.EADDRNOTAVAIL, "it is not this machine's")
        except OSError as error:
            self.close()
            raise SettingError("address", f"cannot listen on {address}: {error.strerror}") from error
        self.address = with_port(address, port)

    def _hold(self, held: socket.socket, host: str | int, port: int) -> int:
        self._sockets.append(held)
        if held.family == socket.AF_INET6:
            # As gRPC does: [::] takes IPv4 too.
            held.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        # Past connections that the system still remembers are no hindrance …
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            held.bind((host, port))
        except OSError as error:
            # A name can stand for addresses of both kinds, and the machine may have one kind only.
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            self._sockets.remove(held)
            held.close()
            return port
        # … but another server is: it may not bind by either option. Workers may, by this one.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken: int = held.getsockname()[1]
        return taken

    def close(self) -> None:
        """Let the port go."""
        for held in self._sockets:
            held.close()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Let the port go."""
        self.close()
