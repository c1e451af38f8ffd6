"""Clients continue, and can be closed, even if connections end repeatedly in any phase of a call."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import count
from typing import Any

import pytest
from service.support import Door, Running, running
from tools.cutting_proxy import cutting_proxy
from tools.over import each
from tools.patience import PATIENCE

from chatiere.clients import AsyncClient, AsyncRoom, Client, Room, TransportError, VectorEnv, new_room_id
from chatiere.clients import aio_room as aio_room_module
from chatiere.clients import room as room_module
from chatiere.clients.transport import channel
from chatiere.clients.transport.fast_call import IS_BUILT
from chatiere.envs import TableEnv
from chatiere.service.base.settings import Settings
from chatiere.service.ports import server as server_module

ROOM = new_room_id()
# The time in seconds after which clients consider a connection broken. The default is several tens of seconds.
SILENCE = 0.3
SHORTER = dict.fromkeys(
    (
        "grpc.keepalive_time_ms",
        "grpc.http2.ping_timeout_ms",
        "grpc.min_reconnect_backoff_ms",
        "grpc.max_reconnect_backoff_ms",
    ),
    round(1000 * SILENCE),
)
# A timeout in seconds that is longer than any test takes.
ENDLESS = 1000.0
# The time in seconds between two posts in the room.
_PAUSE = 0.02


@pytest.fixture(params=each("server", ["grpcio", "fast"]))
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    options = dict(channel.CHANNEL_OPTIONS)
    assert options.keys() >= SHORTER.keys()
    monkeypatch.setattr(channel, "CHANNEL_OPTIONS", tuple((options | SHORTER).items()))
    monkeypatch.setattr(server_module, "_LEAST_PING", round(500 * SILENCE))
    for module in room_module, aio_room_module:
        # Longer than the pauses between posts.
        monkeypatch.setattr(module, "SILENCE", 10 * SILENCE)
    door: Door = request.param
    with running(Settings(address="127.0.0.1:0", relay="memory"), door) as server:
        yield server


class Use(threading.Thread):
    """A client in use by a thread, from its creation by `use` until it is closed or `is_closing` is set."""

    def __init__(self, use: "Callable[[Use, str], None]", address: str) -> None:
        super().__init__(daemon=True)
        self.close: Callable[[], Any] = lambda: None
        self.is_closing = threading.Event()
        self.has_result = threading.Event()
        self.error: Exception | None = None
        self.kind = use.__name__
        self._use, self._address = use, address
        self.start()

    def run(self) -> None:
        """See Thread."""
        try:
            self._use(self, self._address)
        except (Exception, asyncio.CancelledError) as error:
            # A call may fail after the client was closed. This is not an error.
            if not self.is_closing.is_set():
                self.error = error if isinstance(error, Exception) else RuntimeError(repr(error))

    def close_in_loop(self, client: AsyncClient | AsyncRoom) -> None:
        """Make `close` close an asyncio client. The client's event loop runs in this thread."""
        loop = asyncio.get_running_loop()
        self.close = lambda: asyncio.run_coroutine_threadsafe(client.close(), loop)


def call(use: Use, address: str) -> None:
    client = Client(address, timeout=ENDLESS)
    use.close = client.close
    while not use.is_closing.is_set():
        with suppress(TransportError):
            client.list_games()
            use.has_result.set()


def follow(use: Use, address: str) -> None:
    room = Room(address, ROOM, timeout=ENDLESS)
    use.close = room.close
    for _ in room.follow():
        use.has_result.set()
    assert use.is_closing.is_set()


def call_in_loop(use: Use, address: str) -> None:
    async def main() -> None:
        client = AsyncClient(address, timeout=ENDLESS)
        use.close_in_loop(client)
        while not use.is_closing.is_set():
            with suppress(TransportError):
                await client.list_games()
                use.has_result.set()

    asyncio.run(main())


def follow_in_loop(use: Use, address: str) -> None:
    async def main() -> None:
        room = AsyncRoom(address, ROOM, timeout=ENDLESS)
        use.close_in_loop(room)
        async for _ in room.follow():
            use.has_result.set()
        assert use.is_closing.is_set()

    asyncio.run(main())


def play(use: Use, address: str, *, keeps: bool, timeout: float = ENDLESS, is_fast: bool = False) -> None:
    """Play games whose batches are always the same as local ones."""
    options: dict[str, Any] = {"states": not keeps, "timeout": timeout, "fast_address": address if is_fast else None}
    local = TableEnv("discat", 3, num_envs=4, seed=5)
    with VectorEnv(address, "discat", 3, num_envs=4, batches=1, seed=5, **options) as remote:
        if not is_fast:
            use.close = remote.close
        while not use.is_closing.is_set():
            here = local.reset()
            try:
                there = remote.reset()
                while not use.is_closing.is_set():
                    assert there.game_numbers.tolist() == here.game_numbers.tolist()
                    assert there.legal_ids.tolist() == here.legal_ids.tolist()
                    use.has_result.set()
                    actions = here.legal_ids[here.legal_offsets[:-1]]
                    here, there = local.step(actions), remote.step(actions)
            except TransportError:
                if timeout == ENDLESS:
                    raise


def play_on(use: Use, address: str) -> None:
    play(use, address, keeps=False)


def play_kept(use: Use, address: str) -> None:
    play(use, address, keeps=True)


def play_fast(use: Use, address: str) -> None:
    # Another thread cannot close a FastStream, so the timeout ends calls on a silent connection.
    play(use, address, keeps=True, timeout=4 * SILENCE, is_fast=True)


def test_clients_survive_every_end_of_a_connection(server: Running) -> None:
    kinds = [call, call_in_loop, follow, follow_in_loop, play_on, play_kept, *([play_fast] if IS_BUILT else ())]
    with ExitStack() as stack, Room(server.address, ROOM) as room:
        entered = [stack.enter_context(cutting_proxy(server.address, seed)) for seed in range(len(kinds))]
        proxies = [proxy for proxy, _ in entered]
        uses = [Use(kind, address) for kind, (_, address) in zip(kinds, entered, strict=True)]

        def await_all(events: Iterable[threading.Event]) -> None:
            names = count()
            for event in events:
                end = time.monotonic() + PATIENCE
                while not event.wait(_PAUSE):
                    # Post a name, so that followers have something to receive.
                    room.post_name(f"name {next(names)}")
                    assert not any(use.error for use in uses), [use.error for use in uses]
                    assert time.monotonic() < end, [(use.kind, use.has_result.is_set()) for use in uses]

        await_all(use.has_result for use in uses)
        for proxy in proxies:
            proxy.cut()
        await_all(proxy.all_cut for proxy in proxies)
        for use in uses:
            use.has_result.clear()
        await_all(use.has_result for use in uses)
        # Calls without a response also end when their client is closed.
        for proxy in proxies:
            proxy.silence()
        for use in uses:
            use.is_closing.set()
            use.close()
        for use in uses:
            use.join(PATIENCE)
            assert not use.is_alive(), use.kind
            assert use.error is None
