"""The port that the workers of a server share."""

import errno
import socket
from types import TracebackType
from typing import Any, Self

from chatiere.service.process.settings import SettingError, split_address, with_port


class HeldPort:
    """Holds a port for workers to listen on with SO_REUSEPORT, and for nobody else.

    The system then spreads connections over the workers. Whether the port is free, and which one it is where the
    system chooses, is decided once, before there are workers; while one of them is being replaced the port stays taken.

    `address`: what the workers are to listen on.
    """

    def __init__(self, address: str, setting: str = "address") -> None:
        """Take the port of an address; use it in a `with` statement. Raises SettingError of that setting."""
        # Past connections that the system still remembers are no hindrance …
        self._sockets = _bound(setting, address, socket.SO_REUSEADDR)
        for held in self._sockets:
            # … but another server is: it may not bind by either option. Workers may, by this one.
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.address = with_port(address, self._sockets[0].getsockname()[1])

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


def listening_sockets(setting: str, address: str, *, share_port: bool = False) -> list[socket.socket]:
    """Sockets that listen on all that an address stands for. Raises SettingError of that setting.

    `share_port`: whether others may listen there by SO_REUSEPORT, too.
    """
    # Connections have the options of the socket that accepted them: without SO_REUSEADDR they keep whoever comes
    # by that alone from the port for a minute after they were closed.
    options = (socket.SO_REUSEADDR, socket.SO_REUSEPORT) if share_port else (socket.SO_REUSEADDR,)
    listening = _bound(setting, address, *options)
    for each in listening:
        each.setblocking(False)
        each.listen()
    return listening


def _bound(setting: str, address: str, *options: int) -> list[socket.socket]:
    host, port = split_address(address)
    found: list[socket.socket] = []
    try:
        for family, kind, _, _, place in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            try:
                # Where the system chooses the port, all have the first one's.
                made = _bound_to(family, kind, (place[0], port), options)
            except OSError as error:
                # A name can stand for addresses of both kinds, and the machine may have one kind only.
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
            else:
                found.append(made)
                port = made.getsockname()[1]
        if not found:
            raise OSError(errno.EADDRNOTAVAIL, "it is not this machine's")
    except (OSError, UnicodeError) as error:
        for made in found:
            made.close()
        # A name can be none before anybody is asked for it.
        words = error.strerror if isinstance(error, OSError) else error
        raise SettingError(setting, f"cannot listen on {address}: {words}") from error
    return found


def _bound_to(family: int, kind: int, place: tuple[Any, int], options: tuple[int, ...]) -> socket.socket:
    made = socket.socket(family, kind)
    try:
        if family == socket.AF_INET6:
            # As gRPC does: [::] takes IPv4 too.
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        for option in options:
            made.setsockopt(socket.SOL_SOCKET, option, 1)
        made.bind(place)
    except OSError:
        made.close()
        raise
    return made
