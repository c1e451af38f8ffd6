"""A stream of batches to a service on the same machine, whose messages lie in shared memory."""

import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from mmap import PROT_READ, mmap
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status

from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of_status
from chatiere.engine.core.blocks import Area, receive_packet, send_packet
from chatiere.engine.core.columns import PositionColumns
from chatiere.engine.wire import Buffer
from chatiere.v1.batch_service_pb2 import Faults

PREFIX = "shm:"
"""The prefix of an address, before the path of the fast door's Unix socket."""
# The packets, as in chatiere.service.ports.fast.shared.
_SUFFIX, _VERSION = ".shm", b"1"
_IN_FLIGHT, _ALIGNMENT = 2, 16
_TOLD = 12
_REQUEST, _STEP, _SPACE = range(3)
_RESPONSE, _COLUMNS, _REQUESTS, _RESPONSES, _STATUS = range(5)
# The maximum size of a status in bytes, and the time in seconds after which a wait is checked against its limit.
_MAX_STATUS, _PAUSE = 65536, 1.0
_WAIT = struct.pack("ll", int(_PAUSE), 0)
# The number of each column of Positions. The states, which are the first column, are never sent.
_NUMBERS = {name: number for number, name in enumerate(PositionColumns._fields)}
_CODES = {code.value[0]: code for code in grpc.StatusCode}


class StepColumns:
    """The response to a step of which no item failed. It is read like a Response to a StepRequest."""

    __slots__ = ("_columns", "_tag")

    def __init__(self, tag: int, columns: Sequence[Buffer]) -> None:
        """Create a response.

        Args:
            tag: The tag of the PlayRequest.
            columns: The columns of Positions, in the order of their fields.
        """
        self._tag, self._columns = tag, columns

    def number(self, name: str) -> int:
        """Return the tag."""
        return self._tag

    def which(self, oneof: str) -> str:
        """Return the kind of the response."""
        return "step"

    def inner(self, name: str) -> "StepColumns":
        """Return the response, or its positions."""
        return self

    def column(self, name: str) -> Buffer:
        """Return a column; empty if it is absent."""
        return self._columns[_NUMBERS.get(name, 0)]

    def message(self, name: str) -> Any:
        """Return the faults: none."""
        return Faults()


class SharedCall:
    """A stream with the methods of FastCall, for one thread at a time. Close it after use."""

    def __init__(self, address: str, timeout: float, token: str | None = None) -> None:
        """Connect to a service.

        Args:
            address: "shm:/PATH", with the path of the Unix socket of the fast door.
            timeout: The maximum number of seconds for connecting, and for making room for a request.
            token: The bearer token, if the service requires one.

        Raises:
            TransportError: UNAVAILABLE.
            ImportError: The system is not Linux.
        """
        if sys.platform != "linux":
            raise ImportError(f"{address}: shared memory requires Linux")
        self._timeout = timeout
        # The responses that were received while a request waited for space.
        self._early: deque[Buffer | StepColumns] = deque()
        self._end: ChatiereError | None = None
        self._requests = self._responses = Area(b"")
        self._sent = self._received = 0
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._socket.settimeout(timeout)
            self._socket.connect(address.removeprefix(PREFIX) + _SUFFIX)
            with suppress(ConnectionError):
                # If the service has refused the connection, `receive` raises its status.
                self._socket.send(_VERSION + (b"" if token is None else f"Bearer {token}".encode("latin-1")))
        except OSError as error:
            self._socket.close()
            raise TransportError(grpc.StatusCode.UNAVAILABLE, f"no connection to {address}: {error}") from error
        # `settimeout` would wait with a system call more for each packet.
        self._socket.setblocking(True)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _WAIT)

    @property
    def is_over(self) -> bool:
        """True if no messages will arrive after those already received."""
        return self._end is not None

    def send(self, pieces: Sequence[Buffer]) -> None:
        """Send a message, in pieces to be joined; see FastCall.send."""
        self._send(pieces, _REQUEST, sum(map(len, pieces)), 0, 0, 0)

    def send_step(self, tag: int, number: int, moves: Buffer, rest: bytes) -> None:
        """Send a Step that takes batch `number` and keeps it again.

        Args:
            tag: The tag of the PlayRequest.
            number: The number of the batch.
            moves: The column of moves.
            rest: The StepRequest without its columns, in wire format.
        """
        self._send((moves, rest), _STEP, tag, number, len(moves), len(rest))

    def receive(self, timeout: float | None = None) -> Buffer | StepColumns:
        """Return the next message, or the columns of a step.

        Raises:
            TimeoutError: No message has arrived within `timeout` seconds (None: no limit).
            ChatiereError: The call ended before a message arrived.
        """
        if self._early:
            return self._early.popleft()
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            response = self._receive(end)
            if response is not None:
                return response

    def close(self) -> None:
        """End the call, and free the memory."""
        self._over(TransportError(grpc.StatusCode.CANCELLED, "the call was closed"))

    def _send(self, pieces: Sequence[Buffer], *packet: int) -> None:
        try:
            if self._sent - self._received >= _IN_FLIGHT:
                self._wait_for(lambda: self._sent - self._received < _IN_FLIGHT)
            size = self._requests.put(self._sent, pieces, 1)
            if size > self._requests.half:
                send_packet(self._socket.fileno(), (_SPACE, size, 0, 0, 0), True)
                self._wait_for(lambda: size <= self._requests.half)
                self._requests.put(self._sent, pieces, 1)
            send_packet(self._socket.fileno(), packet, True)
            self._sent += 1
        except (ChatiereError, OSError):
            # `receive` raises the error.
            pass

    def _wait_for(self, is_done: Callable[[], bool]) -> None:
        end = time.monotonic() + self._timeout
        while not is_done():
            self._keep_early(end)

    def _keep_early(self, end: float) -> None:
        try:
            response = self._receive(end)
        except TimeoutError:
            self._over(TransportError(grpc.StatusCode.DEADLINE_EXCEEDED, "the service does not read"))
        else:
            if response is not None:
                self._early.append(response)

    def _receive(self, end: float | None) -> Buffer | StepColumns | None:
        # Return a response, or None after another packet.
        packet = self._packet(end)
        try:
            kind, one, *sizes = packet
            if kind == _STATUS:
                code = _CODES.get(one, grpc.StatusCode.UNKNOWN)
                self._over(_ended(code, self._status()))
            elif kind in (_REQUESTS, _RESPONSES):
                self._take_area(kind, _IN_FLIGHT * one)
            else:
                number = self._received
                self._received += 1
                if kind == _RESPONSE:
                    return self._responses.take(number, (one,), 1)[0]
                # Copy the columns, because the next response but one overwrites them.
                return StepColumns(one, self._responses.take(number, sizes, _ALIGNMENT))
        except (DecodeError, IndexError, ValueError, OSError) as error:
            self._over(_unexpected(error))
        return None

    def _packet(self, end: float | None) -> tuple[int, ...]:
        if self._end is not None:
            raise self._end
        while True:
            is_late = end is not None and time.monotonic() >= end
            try:
                packet = receive_packet(self._socket.fileno(), _TOLD, not is_late)
            except ConnectionResetError:
                # The service did not read everything; the status has nevertheless arrived, if there is one.
                continue
            except ValueError as error:
                raise self._over(_unexpected(error)) from None
            if packet:
                return packet
            if packet is not None:
                raise self._over(TransportError(grpc.StatusCode.UNAVAILABLE, "the service closed the connection"))
            if is_late:
                raise TimeoutError

    def _status(self) -> Status:
        while True:
            # For the first error see `_packet`. The second one means that the status has not arrived yet.
            with suppress(ConnectionResetError, BlockingIOError):
                return Status.FromString(self._socket.recv(_MAX_STATUS))

    def _files(self) -> list[int]:
        while True:
            # For these errors see `_status`.
            with suppress(ConnectionResetError, BlockingIOError):
                # The list is empty if this process can open no more files.
                return socket.recv_fds(self._socket, 1, 1)[1]

    def _take_area(self, kind: int, size: int) -> None:
        files = self._files()
        with open(files[0], "rb+") as file:
            if kind == _REQUESTS:
                self._requests = Area(mmap(file.fileno(), size))
            else:
                self._responses = Area(mmap(file.fileno(), size, prot=PROT_READ))

    def _over(self, end: ChatiereError) -> ChatiereError:
        self._end = self._end or end
        self._socket.close()
        self._requests = self._responses = Area(b"")
        return self._end


def _unexpected(error: Exception) -> TransportError:
    return TransportError(grpc.StatusCode.INTERNAL, f"unexpected packet from the server: {error}")


def _ended(code: grpc.StatusCode, status: Status) -> ChatiereError:
    if code is grpc.StatusCode.OK:
        return TransportError(grpc.StatusCode.UNAVAILABLE, "the service ended the stream")
    return error_of_status(code, status.message, status)
