"""A session with Redis: one connection sends commands, and one listens. It ends when either connection fails."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as LostError
from redis.exceptions import ReadOnlyError, RedisError
from redis.exceptions import TimeoutError as LateError

from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.rooms.presence import EMOTES_PERIOD, MOST_EMOTES
from chatiere.service.rooms.redis_scripts import EMOTES, HERE, PREFIX, PUT, TELL_EMOTE, TELL_HERE
from chatiere.v1 import room_service_pb2 as pb

TIMEOUT = 5.0
"""The time in seconds within which Redis must respond. Otherwise the connection is considered lost."""
FAILURES = (RedisError, OSError)
"""The errors that end a session."""
_FIRST = b"0-1"
# The number of connections of a session. One sends commands, one at a time. The other listens.
_CONNECTIONS = 2

_log = logging.getLogger(__name__)

Entries = list[tuple[bytes, bytes]]


class Taken(NamedTuple):
    """The caller's copy of the room was up to date. The new entry, if any, was put into the room."""

    idle: int
    """The number of rooms deleted because they were idle."""
    full: int
    """The number of rooms deleted because of a limit."""


class Behind(NamedTuple):
    """The caller's copy of the room was not up to date."""

    epoch: bytes
    """The epoch of the room, or b"" if the room does not exist."""
    entries: Entries
    """The ids and contents of all entries."""


class Full(NamedTuple):
    """A limit that a new entry would exceed: its name and its value."""

    limit: str
    most: int


class Put(NamedTuple):
    """A new entry of a room."""

    id: bytes
    replaced: bytes
    """The id of the entry that the new entry replaces, or b"" if it replaces none."""
    gone: bytes
    """The ids of the entries to remove for the new entry, separated by commas."""
    entry: bytes
    growth: int


class NewRoom(NamedTuple):
    """The room to create if it does not exist."""

    owner: str
    epoch: bytes
    size: int


class Session:
    """A session. It belongs to one event loop."""

    def __init__(self, settings: Settings, hear: Callable[[bytes, bytes], None]) -> None:
        """Create the session. `hear`: a function that is called with the channel and the content of each message."""
        self._bounds = settings.max_rooms, settings.max_room_bytes, math.ceil(1000 * settings.room_lifetime)
        self._hear = hear
        self._client = Redis(connection_pool=pool_of(settings), single_connection_client=True)
        self._put = self._client.register_script(PUT)
        self._tell_here = self._client.register_script(TELL_HERE)
        self._tell_emote = self._client.register_script(TELL_EMOTE)
        self._listener: PubSub = self._client.pubsub()
        # For each channel, the subscriptions that Redis has not confirmed.
        self._subscribing: dict[bytes, deque[asyncio.Future[None]]] = {}
        self._pong = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._has_complained = False
        self._failed = asyncio.Event()
        self._error: Exception = LostError("the session has ended")

    async def open(self) -> bytes:
        """Connect, and return Redis's run id. Raises FAILURES."""
        await self._listener.subscribe(PREFIX)
        found = await self._client.info("server")
        self._pong = asyncio.get_running_loop().time()
        return str(found["run_id"]).encode()

    async def listen(self) -> None:
        """Receive messages until the session fails. Raises FAILURES."""
        hearing = self.start(self._hear_all())
        failing = asyncio.create_task(self._failed.wait())
        try:
            await asyncio.wait([hearing, failing], return_when=asyncio.FIRST_COMPLETED)
            if hearing.done():
                hearing.result()
        finally:
            hearing.cancel()
            failing.cancel()
        raise self._error

    async def close(self) -> None:
        """Close both connections. Commands in progress fail."""
        self._failed.set()
        for waiting in self._subscribing.values():
            for future in waiting:
                if not future.done():
                    future.set_exception(self._error)
        try:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        finally:
            # The end of the relay may cancel this method where it waits. This does not wait for the connection.
            if self._client.connection is not None:
                await self._client.connection.disconnect(nowait=True)
            for close in self._listener.aclose, self._client.aclose, self._client.connection_pool.disconnect:
                with suppress(*FAILURES):
                    await close()

    def look(self) -> None:
        """Fail if Redis has not responded for too long. Otherwise send a ping."""
        if asyncio.get_running_loop().time() - self._pong > TIMEOUT:
            self.fail(LateError("no response"))
        else:
            self.start(self._listener.ping())

    def start(self, work: Awaitable[Any]) -> asyncio.Task[None]:
        """Start a task. If the task fails, the session also fails."""
        task = asyncio.create_task(self._try(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def fail(self, error: Exception) -> None:
        """End the session with an error."""
        if not self._failed.is_set():
            self._error = error
            self._failed.set()

    # Commands. They raise FAILURES. If a connection was lost, the session has also failed.

    async def put(self, room: str, epoch: bytes, last: bytes, new: Put | None, begun: NewRoom) -> Taken | Behind | Full:
        """Put an entry into a room whose last entry is `last`. Return all entries if the last entry differs."""
        put = new or Put(b"", b"", b"", b"", 0)
        place: list[Any] = [PREFIX, room, epoch, last, *self._bounds]
        found = await self._do(self._put(args=[*place, put.entry, put.id, put.replaced, put.gone, put.growth, *begun]))
        if found[0] == b"taken":
            return Taken(*found[1:])
        if found[0] == b"full":
            return Full(found[1].decode(), found[2])
        return Behind(found[1], [(id, fields[1]) for id, fields in found[2] if id != _FIRST])

    async def tell_here(self, room: str, worker: bytes, part: bytes, lifetime: float) -> None:
        """Store and publish the presence of a worker's followers in a room, or b"" without followers."""
        place: list[Any] = [f"{PREFIX}{room}:here", PREFIX + room, worker, part, math.ceil(1000 * lifetime)]
        # Use a script, because a pipeline would need another connection.
        await self._do(self._tell_here(args=[*place, HERE + worker + b" " + part]))

    async def tell_emote(self, room: str, emote: pb.RoomEmote) -> float:
        """Publish an emote. Return 0, or the time to wait in seconds if the person has sent too many emotes."""
        # Workers of earlier versions read the message as an entry, and ignore entries with the number 0.
        message = EMOTES + b"0 " + emote.SerializeToString()
        place: list[Any] = [f"{PREFIX}{room}:emotes:{emote.person.hex()}", PREFIX + room]
        wait = await self._do(self._tell_emote(args=[*place, MOST_EMOTES, math.ceil(1000 * EMOTES_PERIOD), message]))
        return float(wait / 1000)

    async def here(self, room: str) -> dict[bytes, bytes]:
        """Return the presence of each worker's followers in a room."""
        found: dict[bytes, bytes] = await self._do(self._client.hgetall(f"{PREFIX}{room}:here"))
        return found

    async def forget_here(self, room: str, worker: bytes) -> None:
        """Remove the presence of a worker that has died."""
        await self._do(self._client.hdel(f"{PREFIX}{room}:here", worker.decode()))

    async def subscribe(self, room: str) -> None:
        """Receive the messages of a room from now on."""
        channel = (PREFIX + room).encode()
        future = asyncio.get_running_loop().create_future()
        self._subscribing.setdefault(channel, deque()).append(future)
        await self._do(self._listener.subscribe(channel))
        await future

    async def unsubscribe(self, room: str) -> None:
        """Stop receiving the messages of a room."""
        await self._do(self._listener.unsubscribe(PREFIX + room))

    async def _do(self, work: Awaitable[Any]) -> Any:
        try:
            found = await work
            if self._failed.is_set():
                # Redis-py may have reconnected, perhaps after Redis has restarted.
                raise self._error
            return found
        except FAILURES as error:
            if isinstance(error, (LostError, LateError, ReadOnlyError, OSError)):
                self.fail(error)
            elif not self._has_complained:
                self._has_complained = True
                _log.error("Redis refuses a command that rooms need: %s", error)
            raise
        except Exception as error:
            # If a connection is closed during a read, redis-py raises an AttributeError.
            if self._failed.is_set():
                raise self._error from error
            raise

    async def _try(self, work: Awaitable[Any]) -> None:
        with suppress(*FAILURES):
            await self._do(work)

    async def _hear_all(self) -> None:
        while True:
            message = await self._listener.get_message(timeout=None)
            self._pong = asyncio.get_running_loop().time()
            if message is None:
                continue
            channel = message["channel"]
            if message["type"] == "message":
                self._hear(channel.removeprefix(PREFIX.encode()), message["data"])
            elif message["type"] == "subscribe" and (waiting := self._subscribing.get(channel)):
                future = waiting.popleft()
                if not waiting:
                    del self._subscribing[channel]
                if not future.done():
                    future.set_result(None)


def pool_of(settings: Settings) -> ConnectionPool:
    """Return a connection pool for Redis. Raises SettingError for an invalid address."""
    assert settings.relay is not None
    options: dict[str, Any] = {
        "protocol": 2,
        "max_connections": _CONNECTIONS,
        "socket_timeout": TIMEOUT,
        "socket_connect_timeout": TIMEOUT,
        # Do not retry, because a failed connection ends the session.
        "retry": Retry(NoBackoff(), 0),
    }
    try:
        # Refuse other parameters of the address, because they would replace the options.
        parameters = parse_qs(urlsplit(settings.relay).query, keep_blank_values=True)
        if not all(name == "db" or name.startswith("ssl_") for name in parameters):
            raise ValueError
        pool: ConnectionPool = ConnectionPool.from_url(settings.relay, **options)
        pool.make_connection()  # type: ignore[no-untyped-call]
    except (ValueError, TypeError, AttributeError, RedisError):
        # Do not include the error, because its message may contain the password.
        raise SettingError(
            "relay",
            "invalid address of Redis; expected redis://[[NAME]:PASSWORD@]HOST[:PORT][/DATABASE]; "
            "parameters may only be db and ssl_…",
        ) from None
    return pool


def shown(address: str) -> str:
    """Return an address of Redis without user name and password."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
