"""Listening sockets, and the port shared by the workers of a server."""

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from chatiere.engine.closing import Closing
from chatiere.service.base.settings import SettingError, split_address, unix_path, with_port

SHARED = ".shm"
"""The suffix of the path of the socket for shared memory, after the path of the fast door's socket."""
# The umask for Unix sockets. Only the socket's owner and group may connect.
_UMASK = 0o117


class HeldPort(Closing):
    """Holds a port, so that only workers of this server can listen on it, with SO_REUSEPORT.

    The system distributes connections over the workers. The port is bound before any worker starts, so that errors are
    detected early and the system chooses the port only once. The port stays bound while a worker is replaced. `close`
    removes the Unix sockets of a single worker, even if the worker was killed.

    Attributes:
        address: The address for the workers to listen on.
    """

    def __init__(self, address: str, setting: str = "address") -> None:
        """Bind the port of an address. Use the object in a `with` statement. Raises SettingError for `setting`."""
        self._sockets: list[socket.socket] = []
        self._path = unix_path(address)
        if self._path is not None:
            _free(setting, address, self._path)
            self.address = address
            return
        # SO_REUSEADDR allows a port for which the system still remembers closed connections.
        self._sockets = _bound(setting, address, socket.SO_REUSEADDR)
        for held in self._sockets:
            # From now on, workers can bind the port with SO_REUSEPORT. Other servers cannot bind it with either option.
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.address = with_port(address, self._sockets[0].getsockname()[1])

    def close(self) -> None:
        """Release the port."""
        for held in self._sockets:
            held.close()
        for path in () if self._path is None else (self._path, self._path + SHARED):
            # Ignore errors, because the path may now belong to another server.
            with suppress(OSError):
                _remove_stale(path)


def listening_sockets(setting: str, address: str, *, share_port: bool = False) -> list[socket.socket]:
    """Return sockets that listen on all IP addresses of an address, or at a path.

    Args:
        setting: The name of the setting, for errors.
        address: The address.
        share_port: True if other processes may also listen on the port, with SO_REUSEPORT.

    Raises:
        SettingError: If the address cannot be bound.
    """
    # Connections inherit the options of the listening socket. Without SO_REUSEADDR, closed connections would prevent
    # programs that bind only with this option from using the port for a minute.
    options = (socket.SO_REUSEADDR, socket.SO_REUSEPORT) if share_port else (socket.SO_REUSEADDR,)
    with place_for(setting, address):
        listening = _bound(setting, address, *options)
    for each in listening:
        each.setblocking(False)
        each.listen(socket.SOMAXCONN)
    return listening


@contextmanager
def place_for(setting: str, address: str) -> Iterator[None]:
    """Return a context in which to bind an address. A stale Unix socket is removed. A new one has the mode 0660.

    Raises:
        SettingError: For `setting`, if a server already listens at the address.
    """
    path = unix_path(address)
    if path is None:
        yield
        return
    _free(setting, address, path)
    # Create the socket with this mode, so that other users can never connect.
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
    """Remove a Unix socket on which no process listens. Raises OSError if one listens, or for another kind of file."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise FileExistsError(errno.EEXIST, "the path exists and is not a socket")
        with socket.socket(socket.AF_UNIX) as asking:
            asking.setblocking(False)
            asking.connect(path)
    except FileNotFoundError:
        return
    except ConnectionRefusedError:
        os.unlink(path)
        return
    except BlockingIOError:
        # A server listens on the socket, and has many pending connections.
        pass
    raise OSError(errno.EADDRINUSE, "another server listens there")


def count_of(address: str) -> int:
    """Return the number of IP addresses of an address. Return 1 for an unknown name or a Unix socket."""
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
                # If the system chooses the port, use the port of the first IP address for all further addresses.
                made = _bound_to(family, kind, (place[0], port), options)
            except OSError as error:
                # Skip addresses of a family that the machine does not support.
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
        # An invalid name causes a UnicodeError, before any look-up.
        words = error.strerror if isinstance(error, OSError) else error
        raise SettingError(setting, f"cannot listen on {address}: {words}") from error
    return found


def _bound_to(family: int, kind: int, place: str | tuple[Any, int], options: tuple[int, ...]) -> socket.socket:
    made = socket.socket(family, kind)
    try:
        if family == socket.AF_INET6:
            # As in gRPC, a socket at [::] also accepts IPv4 connections.
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        for option in options:
            made.setsockopt(socket.SOL_SOCKET, option, 1)
        made.bind(place)
    except OSError:
        made.close()
        raise
    return made
