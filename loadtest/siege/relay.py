"""A relay that connects to a server from a given source address. gRPC clients cannot choose their source address."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK = 2**16


@contextmanager
def relayed(address: str, source: str) -> Iterator[str]:
    """Yield the address of a relay that forwards connections to `address` from the source address `source`."""
    relay = _Relay(address, source)
    thread = threading.Thread(target=relay.run, daemon=True)
    thread.start()
    relay.listens.wait()
    try:
        yield relay.address
    finally:
        relay.stop()
        thread.join()


class _Relay:
    def __init__(self, address: str, source: str) -> None:
        self._host, _, self._port = address.rpartition(":")
        self._source = source
        self.listens = threading.Event()

    def run(self) -> None:
        asyncio.run(self._serve())

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)

    async def _serve(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._begin, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        self.address = f"{host}:{port}"
        self.listens.set()
        await self._stopping.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._pass_on(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError), _aborting(writer):
            there, back = await asyncio.open_connection(self._host, int(self._port), local_addr=(self._source, 0))
            with _aborting(back):
                await asyncio.gather(_copy(reader, back), _copy(there, writer))


@contextmanager
def _aborting(writer: asyncio.StreamWriter) -> Iterator[None]:
    try:
        yield
    finally:
        writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    writer.close()
