"""Listening sockets, and the port that the workers of a server share."""

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from chatiere.engine.closing import Closing
from chatiere.service.base.settings import SettingError, split_address, unix_path, with_port

# What a Unix socket's mode lacks: its owner and group may call.
_UMASK = 0o117


class HeldPort(Closing):
    """Holds a port for workers to listen on with SO_REUSEPORT, and for nobody else.

    The system then spreads connections over the workers. Whether the port is free, and which one it is if the system
    chooses, is decided once, before any worker starts; while a worker is being replaced the port stays taken.
    A Unix socket, which the one worker makes, is removed in the end.

    `address`: the address for the workers to listen on.
    """

    def __init__(self, address: str, setting: str = "address") -> None:
        """Take the port of an address; use in a `with` statement. Raises SettingError for that setting."""
        self._sockets: list[socket.socket] = []
        self._path = unix_path(address)
        if self._path is not None:
            _free(setting, address, self._path)
            self.address = address
            return
        # Past connections that the system still remembers do not matter …
        self._sockets = _bound(setting, address, socket.SO_REUSEADDR)
        for held in self._sockets:
            # … but other servers must not bind by either option. Workers may, by this one.
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.address = with_port(address, self._sockets[0].getsockname()[1])

    def close(self) -> None:
        """Release the port."""
        for held in self._sockets:
            held.close()
        if self._path is not None:
            # Another server may have it by now.
            with suppress(OSError):
                _remove_stale(self._path)


def listening_sockets(setting: str, address: str, *, share_port: bool = False) -> list[socket.socket]:
    """Return sockets that listen on all IP addresses of an address, or at a path. Raises SettingError for that setting.

    `share_port`: let others listen there too, by SO_REUSEPORT.
    """
    # Connections inherit the options of the listening socket: without SO_REUSEADDR, for a minute after they were
    # closed, nobody who binds by that option alone could have the port.
    options = (socket.SO_REUSEADDR, socket.SO_REUSEPORT) if share_port else (socket.SO_REUSEADDR,)
    with place_for(setting, address):
        listening = _bound(setting, address, *options)
    for each in listening:
        each.setblocking(False)
        each.listen(socket.SOMAXCONN)
    return listening


@contextmanager
def place_for(setting: str, address: str) -> Iterator[None]:
    """Bind an address inside: if it is a Unix socket's, a stale one is removed before, and the new one has mode 0660.

    Raises SettingError for that setting if somebody listens there.
    """
    path = unix_path(address)
    if path is None:
        yield
        return
    _free(setting, address, path)
    # So that nobody can connect before its mode is set.
    before = os.umask(_UMASK)
    try:
        yield
    finally:
        os.umask(before)


def _free(setting: str, address: str, path: str) -> None:
    try:
        _remove_stale(path)
    except OSError as error:
        raise SettingError(setting, f"cannot listen on {address}: {error.strerror}") from error


def _remove_stale(path: str) -> None:
    """Remove a Unix socket that nobody listens on. Raises OSError if somebody does, or if it is something else."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise FileExistsError(errno.EEXIST, "something else is there")
        with socket.socket(socket.AF_UNIX) as asking:
            asking.setblocking(False)
            asking.connect(path)
    except FileNotFoundError:
        return
    except ConnectionRefusedError:
        os.unlink(path)
        return
    except BlockingIOError:
        # So many wait for the other server.
        pass
    raise OSError(errno.EADDRINUSE, "another server listens there")


def count_of(address: str) -> int:
    """Return the number of IP addresses of an address; 1 for a name that nobody knows, and for a Unix socket."""
    if unix_path(address) is not None:
        return 1
    host, port = split_address(address)
    try:
        return len(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE))
    except (OSError, UnicodeError):
        return 1


def _bound(setting: str, address: str, *options: int) -> list[socket.socket]:
    path = unix_path(address)
    found: list[socket.socket] = []
    try:
        if path is not None:
            return [_bound_to(socket.AF_UNIX, socket.SOCK_STREAM, path, ())]
        host, port = split_address(address)
        for family, kind, _, _, place in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            try:
                # If the system chooses the port, all take the first one's.
                made = _bound_to(family, kind, (place[0], port), options)
            except OSError as error:
                # A name may have addresses of both families on a machine with one.
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
            else:
                found.append(made)
                port = made.getsockname()[1]
        if not found:
            raise OSError(errno.EADDRNOTAVAIL, "not an address of this machine")
    except (OSError, UnicodeError) as error:
        for made in found:
            made.close()
        # A name can be invalid before any look-up.
        words = error.strerror if isinstance(error, OSError) else error
        raise SettingError(setting, f"cannot listen on {address}: {words}") from error
    return found


def _bound_to(family: int, kind: int, place: str | tuple[Any, int], options: tuple[int, ...]) -> socket.socket:
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
