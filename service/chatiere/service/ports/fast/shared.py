"""Streams of batches in shared memory, for clients on the same machine.

A client connects to a Unix socket next to that of the fast door, which has the same permissions. Over the socket go
only packets of a few numbers. Messages lie in two areas of memory that the service creates: one for the requests, which
the client writes, and one for the responses. Each area has two halves, for two requests in flight. The client cannot
change the size of an area (the areas are sealed), and the service copies a request before it reads it.
"""

from __future__ import annotations

import fcntl
import logging
import mmap
import os
import select
import selectors
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any

from google.rpc.status_pb2 import Status as RpcStatus

from chatiere.engine.core.blocks import Area, receive_packet, send_packet
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import Refusal, Status, limit_exceeded, status_of
from chatiere.service.base.settings import unix_path
from chatiere.service.calls.batch_messages import KeptStep, StepColumns
from chatiere.service.guards.limits import CallLimit, Limits, origin_of
from chatiere.service.guards.memory import Holding
from chatiere.service.guards.sizes import MAX_METADATA
from chatiere.service.ports.listening import SHARED, place_for

if TYPE_CHECKING:
    from chatiere.service.ports.fast.loop import Loop

_log = logging.getLogger(__name__)

# The number of requests in flight, and of halves of an area.
_IN_FLIGHT = 2
# The least size of half an area, and the alignment of columns, in bytes.
_LEAST, _ALIGNMENT = 64 * 1024, 16
# The maximum number of connections that have not sent their first packet. At the limit, the oldest connection of the
# user with the most of them is closed.
_MAX_GREETING = 16
# The cost of a connection, in the unit of `max_fast_cost`.
_OF_CONNECTION = 500_000
# The time in milliseconds in which a stream waits for the next step before it gives its turn back.
_MOMENT = 1
# The time in seconds after which a connection that receives no packet is quiet. A quiet connection has no thread.
_QUIET = 1.0
# The maximum number of quiet connections that the door handles before it accepts new connections.
_MAX_QUIET = 16
# The time in seconds before the next attempt to accept a connection, and the time within which a client must close its
# connection after a status.
_PAUSE, _FAREWELL = 0.1, 0.2
# The beginning of a client's first packet. The value of `authorization` follows, if any.
_VERSION = b"1"
# A packet of a client: its kind, and for REQUEST the size of a PlayRequest, for STEP the tag, the number of the batch
# and the sizes of moves and rest (see KeptStep), for SPACE the size of a request for which the area is too small.
_ASKED = 5
_REQUEST, _STEP, _SPACE = range(3)
# A packet of the service: its kind, and for RESPONSE the size of a PlayResponse, for COLUMNS the tag and the sizes of
# the columns, for the two kinds of areas the size of half an area, and for STATUS the code. After the last three, the
# next packet has the descriptor of the area, or google.rpc.Status in wire format.
_TOLD = 12
_RESPONSE, _COLUMNS, _REQUESTS, _RESPONSES, _STATUS = range(5)
_SEALS = ("F_SEAL_SHRINK", "F_SEAL_GROW", "F_SEAL_SEAL")
# Sockets do not wait. An `int`, because Python's flags are slow.
_NOW = int(socket.MSG_DONTWAIT)
_PEER = struct.Struct("3i")
_NO_AREA = Area(b"")


class SharedConnection:
    """A connection: the endpoint of its loop, and the wire of its only call (see exchange.wire.Wire)."""

    timeout = None
    has_part = has_ended = is_behind = is_sending = False
    is_alone = True

    def __init__(self, loop: Loop, connected: socket.socket, hello: bytes, largest: int) -> None:
        """Create a connection.

        Args:
            loop: The loop.
            connected: The socket.
            hello: The client's value of `authorization`; empty for none.
            largest: The maximum size of a request in bytes.

        Raises:
            OSError: If there is no file descriptor.
        """
        self.loop = loop
        self.holding: Holding | None = None
        """The account of the areas' memory. It must be set before the first packet."""
        self.watch: Callable[[], None] | None = None
        self.peer = _peer_of(connected)
        self.metadata = (("authorization", hello.decode("latin-1")),) if hello else ()
        self.fault: Exception | None = None
        """The error that ends the call, because a request does not fit."""
        self._largest = largest
        self.connections = 1
        """The number of open connections, as at the other endpoints: 0 once the client or the service has left."""
        self._socket = connected
        self._waking = threading.Lock()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK)
        self._poll = select.poll()
        self._poll.register(connected, select.POLLIN)
        self._poll.register(self._wake, select.POLLIN)
        self._received: list[bytes | KeptStep] = []
        self._taken = self._sent = 0
        self._requests = self._responses = _NO_AREA
        # The replaced areas for responses, each with the number of the first response in the next area.
        self._old: list[tuple[int, Area]] = []
        self.is_leaving = False
        """True once the call has ended, even if the client has not yet closed the connection."""
        self.is_quiet = False
        """True if `turn` last waited for the maximum time, _QUIET, and no packet arrived."""

    # The endpoint

    def turn(self, seconds: float) -> float:
        """Wait for at most `seconds`, and handle a packet. Return the time, on the clock of time.monotonic."""
        if not self._received or self.loop.under_way:
            is_ready = self._wait(ceil(1000 * min(seconds, _QUIET)))
            self.is_quiet = not is_ready and seconds >= _QUIET
        if self.watch is not None:
            self.watch()
        return monotonic()

    def next_step(self) -> KeptStep | None:
        """Wait a moment for the next request, and return it if it is a KeptStep."""
        if not self._received:
            # With two requests in flight, the next one has often arrived already.
            self._receive()
            if not self._received and self.connections:
                self._wait(_MOMENT)
        first = self._received[0] if self._received else None
        if not isinstance(first, KeptStep):
            return None
        del self._received[0]
        return first

    def wake(self) -> None:
        """End the wait of `turn`. May be called from any thread."""
        with self._waking:
            if self._wake >= 0:
                os.eventfd_write(self._wake, 1)

    @property
    def files(self) -> tuple[int, int]:
        """The file descriptors that become readable when `turn` has something to do."""
        return self._socket.fileno(), self._wake

    def has_left(self) -> bool:
        """Return True if the client has closed the connection and all of its packets have been read."""
        try:
            return not self._socket.recv(1, _NOW | socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def drain(self) -> None:
        """Do nothing, because the connection has no other calls than the stream, which the door ends."""

    def cut(self) -> None:
        """End the connection and its call."""
        self.reset()
        if self.watch is not None:
            self.watch()

    def close(self) -> None:
        """End the connection. It can no longer be used."""
        self.cut()
        with self._waking:
            wake, self._wake = self._wake, -1
        if wake >= 0:
            os.close(wake)

    @property
    def areas(self) -> int:
        """The size of the areas in bytes."""
        return len(self._requests) + len(self._responses) + sum(len(area) for _, area in self._old)

    # The wire

    @property
    def is_closed(self) -> bool:
        """See Wire."""
        return not self.connections

    is_delivered = is_closed

    @property
    def waiting(self) -> int:
        """See Wire."""
        return len(self._received)

    @property
    def held(self) -> int:
        """See Wire."""
        return sum(map(len, self._received))

    def request(self) -> bytes | None:
        """See Wire."""
        return None

    def take_buffer(self) -> Any:
        """See Wire. A request may be a KeptStep."""
        return self._received.pop(0) if self._received else None

    def answer(self, response: bytes, request_id: str, language: str) -> None:
        """See Wire."""

    def send(self, pieces: list[Buffer], language: str) -> None:
        """See Wire. Raises Refusal if there is no memory for a larger area."""
        if self.is_closed:
            return
        alignment = _ALIGNMENT if isinstance(pieces, StepColumns) else 1
        size = self._responses.put(self._sent, pieces, alignment)
        if size > self._responses.half:
            made = self._area(_RESPONSES, size)
            if self.is_closed:
                return
            self._old.append((self._sent, self._responses))
            self._responses = made
            made.put(self._sent, pieces, alignment)
        self._sent += 1
        if isinstance(pieces, StepColumns):
            self._put((_COLUMNS, pieces.tag, *map(len, pieces)))
        else:
            self._tell(_RESPONSE, size)

    def finish(self, status: Status, request_id: str) -> None:
        """See Wire."""
        if not self.is_closed:
            details = status.details or RpcStatus(code=status.code, message=status.message).SerializeToString()
            self._tell(_STATUS, status.code)
            self._put_bytes(details)
            # The client may still read its last responses. It closes the connection when it has received the status.
            self.is_leaving = True
            self._received.clear()
            self.loop.after(_FAREWELL, self.reset)

    def reset(self) -> None:
        """See Wire."""
        if self.connections:
            self.connections = 0
            self.is_leaving = True
            self._poll.unregister(self._socket)
            self._socket.close()
            for area in (self._requests, self._responses, *(area for _, area in self._old)):
                _empty(area)
            self._requests = self._responses = _NO_AREA
            self._old.clear()
            if self.holding is not None:
                self.holding.release()

    # Packets

    def _wait(self, milliseconds: int) -> bool:
        # Wait for a packet or a call of `wake`. Return False if the time passed without either.
        ready = self._poll.poll(milliseconds)
        for file, _ in ready:
            if file == self._wake:
                os.eventfd_read(file)
            else:
                self._receive()
        return bool(ready)

    def _receive(self) -> None:
        try:
            packet = receive_packet(self._socket.fileno(), _ASKED, False)
            if packet is None or (packet and self.is_leaving):
                return
            kind, one, number, moves, rest = packet
        except (OSError, ValueError):
            # The client has closed the connection, or sends something else.
            self.reset()
            return
        if kind == _SPACE:
            self._make_space(one)
            return
        size = moves + rest if kind == _STEP else one
        largest = min(self._requests.half, self._largest)
        if kind > _STEP or not 0 < size <= largest or self._taken - self._sent >= _IN_FLIGHT:
            self.reset()
            return
        if kind == _STEP:
            request: bytes | KeptStep = KeptStep(one, number, *self._requests.take(self._taken, (moves, rest), 1))
        else:
            (request,) = self._requests.take(self._taken, (size,), 1)
        self._taken += 1
        if self._old:
            self._empty_old()
        self._received.append(request)

    def _make_space(self, size: int) -> None:
        if size <= self._requests.half:
            # The client would only cause work.
            self.reset()
            return
        try:
            if size > self._largest:
                raise limit_exceeded("bytes of a request", self._largest)
            made = self._area(_REQUESTS, size)
            # All requests in the old area have been copied.
            _empty(self._requests)
            self._requests = made
        except (Refusal, OSError) as error:
            # The traceback would keep the area.
            self.fault = error.with_traceback(None)

    def _empty_old(self) -> None:
        # Empty the areas that the client no longer reads: before it sends another request, it has received all
        # responses except the last one.
        while self._old and self._taken > self._old[0][0] + 1:
            _empty(self._old.pop(0)[1])

    def _area(self, kind: int, size: int) -> Area:
        # Create an area for messages of `size` bytes next to the others, and give it to the client. A margin of an
        # eighth lets messages grow a little.
        half = -(-(size + size // 8) // _LEAST) * _LEAST
        assert self.holding is not None
        replaced = len(self._requests) if kind == _REQUESTS else 0
        self.holding.hold(self.areas - replaced + _IN_FLIGHT * half)
        file = os.memfd_create("chatiere", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(file, _IN_FLIGHT * half)
            for seal in _SEALS:
                fcntl.fcntl(file, fcntl.F_ADD_SEALS, getattr(fcntl, seal))
            made = Area(mmap.mmap(file, _IN_FLIGHT * half))
            self._tell(kind, half)
            self._put_bytes(b"-", [file])
        finally:
            os.close(file)
        return _NO_AREA if self.is_closed else made

    def _tell(self, kind: int, number: int) -> None:
        self._put((kind, number, *[0] * (_TOLD - 2)))

    def _put(self, packet: tuple[int, ...]) -> None:
        try:
            send_packet(self._socket.fileno(), packet, False)
        except OSError:
            # The client has left, or does not read.
            self.reset()

    def _put_bytes(self, packet: bytes, files: Sequence[int] = ()) -> None:
        try:
            socket.send_fds(self._socket, [packet], files, _NOW)
        except OSError:
            self.reset()


def _empty(area: Area) -> None:
    # Free the memory of an area, even if the client keeps the area.
    if area:
        area.memory.madvise(mmap.MADV_REMOVE)


def _peer_of(connected: socket.socket) -> str:
    # Return the client's address in gRPC's notation.
    process, user, _ = _PEER.unpack(connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return f"unix:{user}:{process}"


def _refuse(connected: socket.socket, status: Status) -> None:
    with suppress(OSError):
        send_packet(connected.fileno(), (_STATUS, status.code, *[0] * (_TOLD - 2)), False)
        connected.send(status.details, _NOW)
    connected.close()


class SharedDoor:
    """The socket to which clients connect, and a thread that accepts connections and watches quiet connections.

    Quiet connections share this thread, because hundreds of threads that wake at the same time would delay all other
    threads. The door can be started and stopped once.
    """

    def __init__(
        self,
        address: str,
        take: Callable[[socket.socket, bytes], None],
        resume: Callable[[SharedConnection], None],
        forget: Callable[[SharedConnection], None],
        max_cost: float,
    ) -> None:
        """Listen next to a Unix socket.

        Args:
            address: The address of the fast door.
            take: A function that receives each connection, with the client's first packet.
            resume: A function that receives each quiet connection that again has something to do.
            forget: A function that receives each quiet connection whose client has left.
            max_cost: The cost per second up to which each user may open connections.

        Raises:
            SettingError: For fast_address.
        """
        self._path = f"{unix_path(address)}{SHARED}"
        self._take, self._resume, self._forget = take, resume, forget
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with place_for("fast_address", f"unix:{self._path}"):
                self._listening.bind(self._path)
        except BaseException:
            self._listening.close()
            raise
        self._listening.listen(socket.SOMAXCONN)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        # The connections without a first packet and the origins of their users, the oldest connection first.
        self._greeting: dict[socket.socket, str] = {}
        self._limits = Limits(0, max_cost / _OF_CONNECTION)
        self._connection = CallLimit("connections", sys.maxsize)
        self._is_stopping = threading.Event()
        # A lock for changes to the watched files of quiet connections.
        self._changing = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="shared memory", daemon=True)

    def start(self) -> None:
        """Start to take connections."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more connections."""
        self._is_stopping.set()
        # The thread may already have closed the socket.
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            os.unlink(self._path)

    def rest(self, connection: SharedConnection) -> bool:
        """Watch a quiet connection, which no other thread may use from now on. Return False if the door is stopping."""
        with self._changing:
            if self._is_stopping.is_set():
                return False
            for file in connection.files:
                self._selector.register(file, selectors.EVENT_READ, connection)
            return True

    def _serve(self) -> None:
        while not self._is_stopping.is_set():
            try:
                self._turn()
            except Exception:
                _log.exception("a connection to shared memory has failed")
                self._is_stopping.wait(_PAUSE)
        with self._changing:
            resting = {key.data for key in self._selector.get_map().values() if key.data is not None}
        for each in (*self._greeting, self._listening):
            each.close()
        self._selector.close()
        for connection in resting:
            self._resume(connection)

    def _turn(self) -> None:
        ready = {key.fileobj: key.data for key, _ in self._selector.select()}
        for connection in islice({data for data in ready.values() if data is not None}, _MAX_QUIET):
            with self._changing:
                for file in connection.files:
                    self._selector.unregister(file)
            (self._forget if connection.has_left() else self._resume)(connection)
        for each in [each for each in self._greeting if each in ready]:
            self._greet(each)
        # Accept last, because this may close a connection whose first packet has arrived.
        if self._listening in ready:
            self._accept()

    def _accept(self) -> None:
        try:
            connected, _ = self._listening.accept()
        except OSError:
            # The door is stopping, or there are no descriptors.
            self._is_stopping.wait(_PAUSE)
            return
        origin = origin_of(_peer_of(connected))
        try:
            self._limits.begin(self._connection, origin)
        except Refusal as error:
            _refuse(connected, status_of(error, ""))
            return
        self._limits.end(self._connection, origin)
        if len(self._greeting) >= _MAX_GREETING:
            [(most, _)] = Counter(self._greeting.values()).most_common(1)
            self._leave(next(each for each, owner in self._greeting.items() if owner == most)).close()
        self._greeting[connected] = origin
        self._selector.register(connected, selectors.EVENT_READ)

    def _greet(self, connected: socket.socket) -> None:
        hello = b""
        with suppress(OSError):
            hello = connected.recv(MAX_METADATA, _NOW)
        self._leave(connected)
        if hello[:1] == _VERSION:
            self._take(connected, hello[1:])
        else:
            connected.close()

    def _leave(self, connected: socket.socket) -> socket.socket:
        self._selector.unregister(connected)
        del self._greeting[connected]
        return connected
