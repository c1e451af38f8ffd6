"""A proxy that ends connections in chosen phases of a call, as a network or a dying server would."""

import asyncio
import random
import socket
import struct
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from itertools import product
from typing import Literal, NamedTuple, get_args

from .patience import PATIENCE
from .played_frames import DATA, END_STREAM, HEADERS, PREFACE

_CHUNK = 2**16
_HEAD = struct.Struct(">IBI")
# With this option, closing a connection resets it.
_RESET = struct.pack("ii", 1, 0)
# The largest number of matches to skip before a connection is ended. Then the number of the server's frames after which
# a connection is ended in any case.
_MAX_SKIPPED, _MAX_FRAMES = 2, 40

Phase = Literal["connecting", "before headers", "in a message", "between messages", "after half-close"]
End = Literal["FIN", "RST", "silence"]


class _Cut(NamedTuple):
    phase: Phase
    end: End
    skipped: int


class _Unit(NamedTuple):
    # A frame of HTTP/2, or a chunk of HTTP/1.1. A chunk may contain anything.
    data: bytes
    is_from_server: bool
    is_first: bool
    kinds: tuple[int, ...]
    ends_stream: bool


class CuttingProxy:
    """Forwards bytes until `cut`, `reset` or `silence` is called. Create it in a running event loop."""

    def __init__(self, target: str, seed: int, is_http2: bool, delay: float) -> None:
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self._is_http2, self._delay = is_http2, delay
        self._cuts: deque[_Cut] = deque()
        self._matches = self._frames = 0
        self._is_silent = False
        self._random = random.Random(seed)
        self._loop = asyncio.get_running_loop()
        self._open: set[asyncio.WriteTransport] = set()
        self.all_cut = threading.Event()
        """Set when the last of the connections to be cut has ended."""

    def cut(self, rounds: int = 1) -> None:
        """Reset all connections. Then end `rounds` connections in each phase in each way, in random order."""
        cuts = rounds * [*product(get_args(Phase), get_args(End))]
        self._random.shuffle(cuts)
        self._cuts.extend(_Cut(*each, self._random.randrange(_MAX_SKIPPED + 1)) for each in cuts)
        self._loop.call_soon_threadsafe(self.reset)

    def reset(self) -> None:
        """Reset all connections."""
        for transport in self._open:
            transport.abort()

    def silence(self) -> None:
        """Forward nothing from now on."""
        self._is_silent = True

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward the bytes of one connection until it ends."""
        await asyncio.sleep(self._delay)
        from_server, to_server = await asyncio.open_connection(*self._target)
        self._open |= (both := {writer.transport, to_server.transport})
        ways = [(self._units(reader, False), to_server), (self._units(from_server, True), writer)]
        passing = [asyncio.create_task(self._pass_on(units, to)) for units, to in ways]
        done, others = await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        for other in others:
            other.cancel()
        await asyncio.wait(passing)
        end = next(iter(done)).result()
        if end == "silence":
            with suppress(OSError):
                while await reader.read(_CHUNK):
                    pass
        elif end == "RST":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()
        to_server.transport.abort()
        writer.close()
        # The proxy waits for a client that does not read, until `reset`.
        with suppress(OSError):
            await writer.wait_closed()
        self._open -= both

    async def _pass_on(self, units: AsyncIterator[_Unit], writer: asyncio.StreamWriter) -> End:
        # Returns the end of the connection.
        with suppress(OSError, EOFError):
            async for unit in units:
                if self._is_silent:
                    return "silence"
                part, end = self._cut(unit)
                writer.write(part)
                await writer.drain()
                if end is not None:
                    return end
        return "FIN"

    def _cut(self, unit: _Unit) -> tuple[bytes, End | None]:
        # Returns the part of the unit to forward, and the end of its connection after it, if any.
        if not self._cuts:
            return unit.data, None
        phase, end, skipped = self._cuts[0]
        part = unit.data
        if phase == "connecting":
            matches, part = unit.is_from_server and unit.is_first, b""
        elif phase == "before headers":
            matches, part = unit.is_from_server and HEADERS in unit.kinds, b""
        elif phase == "after half-close":
            matches = not unit.is_from_server and unit.ends_stream
        else:
            matches = unit.is_from_server and DATA in unit.kinds
            part = part if phase == "between messages" else part[: len(part) // 2]
        self._matches += matches
        self._frames += unit.is_from_server
        if not (matches and (self._matches > skipped or phase == "connecting")) and self._frames < _MAX_FRAMES:
            return unit.data, None
        self._matches = self._frames = 0
        self._cuts.popleft()
        if not self._cuts:
            self.all_cut.set()
        return part, end

    async def _units(self, reader: asyncio.StreamReader, is_from_server: bool) -> AsyncIterator[_Unit]:
        is_first = True
        if self._is_http2 and not is_from_server:
            yield _Unit(await reader.readexactly(len(PREFACE)), False, True, (), False)
        while True:
            if self._is_http2:
                head = await reader.readexactly(_HEAD.size)
                size_and_kind, flags, _ = _HEAD.unpack(head)
                kinds: tuple[int, ...] = (size_and_kind & 0xFF,)
                data = head + await reader.readexactly(size_and_kind >> 8)
                ends_stream = kinds[0] in (DATA, HEADERS) and bool(flags & END_STREAM)
            else:
                data, kinds, ends_stream = await reader.read(_CHUNK), (DATA, HEADERS), True
            if not data:
                return
            yield _Unit(data, is_from_server, is_first, kinds, ends_stream)
            is_first = False


@contextmanager
def cutting_proxy(
    target: str, seed: int, *, is_http2: bool = True, delay: float = 0.0
) -> Iterator[tuple[CuttingProxy, str]]:
    """Run a CuttingProxy in a thread. Yield the proxy and its address.

    Args:
        target: The address of the server.
        seed: The seed of the order of phases.
        is_http2: False if the server's protocol is HTTP/1.1. The phases are then those of chunks.
        delay: The time in seconds between accepting a connection and connecting to the server.
    """
    started: Future[tuple[CuttingProxy, asyncio.AbstractEventLoop, asyncio.Event, str]] = Future()

    async def run() -> None:
        proxy, ends = CuttingProxy(target, seed, is_http2, delay), asyncio.Event()
        server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        started.set_result((proxy, asyncio.get_running_loop(), ends, address))
        await ends.wait()
        server.close()
        # A connection may still be on its way to the server.
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            proxy.reset()
            await asyncio.wait(tasks, timeout=0.01)

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    proxy, loop, ends, address = started.result(PATIENCE)
    try:
        yield proxy, address
    finally:
        loop.call_soon_threadsafe(ends.set)
        thread.join()
