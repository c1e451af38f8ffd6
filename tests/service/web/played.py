"""A connection of the web door without a network. Its input and output are bytes."""

import asyncio
from collections.abc import Callable
from typing import Any

from chatiere.service.exchange.turns import Turns
from chatiere.service.ports.web.connection import Connection, PortState, Request


class PlayedTransport:
    """A transport. Its client reads everything, except while `is_stuck`."""

    def __init__(self) -> None:
        self.sent, self.untaken = b"", 0
        self.is_closed = self.is_aborted = self.is_stuck = False
        self.is_paused = False

    def write(self, data: bytes) -> None:
        assert not self.is_closed, "the transport was closed"
        self.sent += data
        if self.is_stuck:
            self.untaken += len(data)

    def get_write_buffer_size(self) -> int:
        return self.untaken

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = self.is_aborted = True


class Echo:
    """Serves a request. Once the request is complete, it responds with its method, target and body."""

    def __init__(self, connection: Connection, request: Request, body: bytes) -> None:
        self.connection, self.request, self.body = connection, request, body
        self.is_gone, self.delivered = False, 0
        if connection.is_whole:
            self.on_end()

    def on_data(self, data: bytes) -> None:
        assert data
        self.body += data

    def on_end(self) -> None:
        self.connection.respond(200, [], f"{self.request.method} {self.request.path}: ".encode() + self.body)

    def on_delivered(self) -> None:
        self.delivered += 1

    def on_gone(self) -> None:
        self.is_gone = True

    def on_cut(self) -> None:
        self.connection.respond(503, [])


class Played:
    """A connection. `served` has the handlers of its requests."""

    def __init__(self, serve: Callable[[Connection, Request, bytes], Any] = Echo) -> None:
        self.served: list[Any] = []

        def begin(connection: Connection, request: Request, body: bytes) -> Any:
            self.served.append(serve(connection, request, body))
            return self.served[-1]

        self.state = PortState(begin, 10.0)
        # This clock does not advance, so that no turn ends early on a slow machine.
        self.state.turns = Turns(asyncio.get_running_loop().call_soon, lambda: 0.0)
        self.transport = PlayedTransport()
        self.connection = Connection(self.state, ("127.0.0.1", 1))
        self.connection.connection_made(self.transport)  # type: ignore[arg-type]

    async def receive(self, *parts: bytes) -> bytes:
        """Give parts to the connection as the loop would. Return all bytes that it has sent since its start."""
        for part in parts:
            await self.settle()
            if self.transport.is_closed:
                break
            assert not self.transport.is_paused
            self.connection.data_received(part)
        await self.settle()
        return self.transport.sent

    async def settle(self) -> None:
        """Run the loop until the connection waits for its client."""
        for _ in range(1000):
            await asyncio.sleep(0)
            if not self.transport.is_paused:
                break


def played(work: Callable[[], Any]) -> Any:
    """Run a test in a loop."""
    return asyncio.run(work())


def answers(sent: bytes) -> list[tuple[int, dict[str, str], bytes]]:
    """Return status, fields and body of each response. A response has a length, or consists of chunks."""
    found = []
    while sent:
        head, _, sent = sent.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        fields = {name: value for name, _, value in (line.partition(": ") for line in lines)}
        if fields.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(sent.partition(b"\r\n")[0], 16):
                sent = sent.partition(b"\r\n")[2]
                body, sent = body + sent[:size], sent[size:].removeprefix(b"\r\n")
            sent = sent.removeprefix(b"0\r\n\r\n")
        else:
            size = int(fields.get("content-length", 0))
            body, sent = sent[:size], sent[size:]
        found.append((int(first.split(" ")[1]), fields, body))
    return found
