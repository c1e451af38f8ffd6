"""Rooms in a simulated Redis: the store, its clients, and relays whose loops run in the simulated time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from redis.exceptions import ConnectionError as LostError
from redis.exceptions import TimeoutError as LateError

from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.health import Health
from chatiere.service.rooms import redis_relay, redis_session
from chatiere.service.rooms.redis_relay import RedisRelay
from chatiere.service.rooms.redis_scripts import PREFIX, PUT, TELL_EMOTE, TELL_HERE
from chatiere.service.rooms.room import Change, Post

from .clock import Broken, Run, Waits, replaced

_LATENCY = 0.004


class Loop:
    """A loop of asyncio in the simulated time."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def time(self) -> float:
        return self._run.now

    def get_debug(self) -> bool:
        return False

    def is_closed(self) -> bool:
        return False

    def create_future(self) -> asyncio.Future[Any]:
        loop: Any = self
        return asyncio.Future(loop=loop)

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        loop: Any = self
        return asyncio.Task(coro, loop=loop, **options)

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Any = None) -> asyncio.Handle:
        loop: Any = self
        handle = asyncio.Handle(callback, args, loop, context)
        self._run.after(0.0, lambda: self._turn(handle))
        return handle

    call_soon_threadsafe = call_soon

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Any:
        return self.call_at(self._run.now + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Any:
        loop: Any = self
        handle = asyncio.TimerHandle(when, callback, args, loop, context)
        self._run.after(max(when - self._run.now, 0.0), lambda: self._turn(handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        pass

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if "handle" in context:
            raise Broken(f"an exception in the loop of rooms: {context.get('exception')!r}")

    def _turn(self, handle: asyncio.Handle) -> None:
        if not handle.cancelled():
            loop: Any = self
            asyncio._set_running_loop(loop)
            try:
                handle._run()
            finally:
                asyncio._set_running_loop(None)


class Store:
    """The data of Redis, and its faults."""

    def __init__(self, run: Run, lost: Callable[[bytes], None]) -> None:
        """Begin without rooms. `lost` is called with the key of each room that is deleted."""
        self.run_id = "run 0"
        self.is_up, self.is_hanging = True, False
        self.connections: list[_Connection] = []
        self._run, self._lost, self._starts = run, lost, 0
        run.store = self
        self._clear()

    def _clear(self) -> None:
        self.streams: dict[str, list[tuple[bytes, bytes]]] = {}
        self.ends: dict[str, float] = {}
        """The times at which the streams expire."""
        self.here: dict[str, dict[bytes, bytes]] = {}
        self.owners: dict[str, str] = {}
        self.sizes: dict[str, int] = {}
        self.used: dict[str, float] = {}

    # Faults

    def stop(self) -> None:
        """End. All data is lost."""
        self._run.note("Redis ends")
        self.is_up, self.is_hanging = False, False
        self.cut()
        for room in list(self.streams):
            self._lost(bytes.fromhex(room))
        self._clear()

    def start(self) -> None:
        """Restart, as another run."""
        if not self.is_up:
            self._starts += 1
            self._run.note("Redis starts")
            self.is_up, self.run_id = True, f"run {self._starts}"

    def resume(self) -> None:
        """Stop hanging."""
        self.is_hanging = False

    def cut_worker(self, relay: Relay) -> None:
        """Cut the connections of a worker."""
        for connection in [each for each in self.connections if each.relay_loop is relay.loop]:
            connection.lose()
        # The tasks of its loop end, and have no further effect on the store or on clients.
        relay.close()

    def cut(self, *, one: bool = False) -> None:
        """Cut all connections, or only the first."""
        cut = self.connections[: 1 if one else None]
        for connection in cut:
            connection.lose()

    # Commands

    def put(self, args: list[Any]) -> list[Any]:
        """Perform the operation of the script PUT."""
        _, room, epoch, last, max_rooms, max_bytes, lifetime, entry, id, replaced, gone, growth, *new = args
        client, new_epoch, of_room = new
        now = self._run.now
        for each in [each for each, time in self.used.items() if time <= now - lifetime / 1000][:100]:
            self._drop(each)
        stream = self.streams.get(room, [])
        if stream and self.ends[room] <= now:
            stream = []
        held, held_last = (stream[0][1], stream[-1][0]) if stream else (b"", b"")
        if not stream and room in self.owners:
            self._drop(room)
        if (held, held_last) != (epoch, last):
            return [b"behind", held, [(each, [b"", data]) for each, data in stream]]
        full = 0
        if entry:
            more = 0 if stream else 1
            growth += more * of_room
            owner = self.owners.get(room, client)
            while (found := self._over(owner, more, growth, max_rooms, max_bytes)) is not None:
                limit, most, whose = found
                others = [each for each in self.used if self.owners[each] == whose and each != room]
                if not others:
                    return [b"full", limit.encode(), most]
                self._drop(min(others, key=lambda each: (self.used[each], each)))
                full += 1
            if not stream:
                stream = self.streams[room] = [(b"0-1", new_epoch)]
                self.owners[room], self.sizes[room] = owner, 0
            dropped = {replaced, *gone.split(b",")}
            stream[:] = [each for each in [*stream, (id, entry)] if each[0] not in dropped]
            self.sizes[room] += growth
            self.publish(room, b"p" + id + b" " + gone + b" " + entry)
        if stream:
            self.used[room] = now
            self.ends[room] = now + lifetime / 1000
        return [b"taken", 0, full]

    def tell_here(self, args: list[Any]) -> None:
        """Perform the operation of the script TELL_HERE. Nothing expires: workers remove the parts of dead workers."""
        key, channel, worker, part, _, message = args
        here = self.here.setdefault(_room(key), {})
        here.pop(worker, None)
        if part:
            here[worker] = part
        self.publish(_room(channel), message)

    def tell_emote(self, args: list[Any]) -> int:
        """Perform the operation of the script TELL_EMOTE, without its limit."""
        _, channel, _, _, message = args
        self.publish(_room(channel), message)
        return 0

    def _over(self, owner: str, more: int, growth: int, max_rooms: int, max_bytes: int) -> tuple[str, int, str] | None:
        rooms: dict[str, int] = {}
        sizes: dict[str, int] = {}
        for room, whose in self.owners.items():
            rooms[whose] = rooms.get(whose, 0) + 1
            sizes[whose] = sizes.get(whose, 0) + self.sizes[room]
        if rooms.get(owner, 0) + more > (max_rooms + 1) // 2:
            return "rooms of one client", (max_rooms + 1) // 2, owner
        if sizes.get(owner, 0) + growth > (max_bytes + 1) // 2:
            return "bytes of one client's rooms", (max_bytes + 1) // 2, owner
        if len(self.used) + more > max_rooms:
            return "rooms at a time", max_rooms, max(rooms, key=lambda each: (rooms[each], each))
        if sum(sizes.values()) + growth > max_bytes:
            return "bytes of all rooms", max_bytes, max(sizes, key=lambda each: (sizes[each], each), default="")
        return None

    def _drop(self, room: str) -> None:
        for kept in (self.streams, self.ends, self.here, self.owners, self.sizes, self.used):
            kept.pop(room, None)
        self._lost(bytes.fromhex(room))
        self.publish("", room.encode())

    def publish(self, room: str, message: bytes) -> None:
        """Send a message to the listeners of a room. "" stands for all rooms."""
        channel = (PREFIX + room).encode()
        for connection in self.connections:
            if channel in connection.channels:
                connection.deliver({"type": "message", "channel": channel, "data": message})


class _Connection:
    """A connection to the store, for commands or for messages."""

    def __init__(self, run: Run, store: Store) -> None:
        self._run, self._store = run, store
        self.is_lost = self._is_open = False
        self.relay_loop: Any = None
        self.channels: set[bytes] = set()
        self._messages: deque[dict[str, Any]] = deque()
        self._arrived: asyncio.Event | None = None
        self._lock: asyncio.Lock | None = None
        self._due = 0.0

    async def do(self, command: Callable[[], Any]) -> Any:
        """Run a command, after the commands that were sent earlier."""
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            await self._pass_network()
            found = command()
            await self._pass_network()
            return found

    async def _pass_network(self) -> None:
        if not (self._is_open or self.is_lost):
            if not self._store.is_up:
                raise LostError("refused")
            self._is_open = True
            self.relay_loop = asyncio.get_running_loop()
            self._store.connections.append(self)
        begun = self._run.now
        await asyncio.sleep(self._run.choices.random() * _LATENCY)
        while self._store.is_hanging and not self.is_lost:
            if self._run.now - begun > redis_session.TIMEOUT:
                raise LateError("no response")
            await asyncio.sleep(0.25)
        if self.is_lost:
            raise LostError("cut")

    def deliver(self, message: dict[str, Any]) -> None:
        """Deliver a message to the client, after the messages that were sent earlier."""
        self._due = max(self._due, self._run.now + self._run.choices.random() * _LATENCY)
        self._run.after(self._due - self._run.now, lambda: self._arrive(message))

    def _arrive(self, message: dict[str, Any]) -> None:
        if not self.is_lost:
            self._messages.append(message)
            self._wake()

    def _wake(self) -> None:
        if self._arrived is not None:
            self._arrived.set()

    async def next_message(self) -> dict[str, Any]:
        """Return the next message."""
        self._arrived = self._arrived or asyncio.Event()
        while not self._messages:
            if self.is_lost:
                raise LostError("cut")
            self._arrived.clear()
            await self._arrived.wait()
        return self._messages.popleft()

    def lose(self) -> None:
        """End the connection."""
        self.is_lost = True
        if self in self._store.connections:
            self._store.connections.remove(self)
        self._wake()

    async def disconnect(self, *, nowait: bool) -> None:
        """End the connection, as the client does."""
        assert nowait
        self.lose()


class _PubSub:
    """A connection that listens (see redis.asyncio.client.PubSub)."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    async def subscribe(self, channel: Any) -> None:
        await self._connection.do(lambda: self._subscribe(_encoded(channel)))

    def _subscribe(self, channel: bytes) -> None:
        self._connection.channels.add(channel)
        self._connection.deliver({"type": "subscribe", "channel": channel, "data": 1})

    async def unsubscribe(self, channel: Any) -> None:
        await self._connection.do(lambda: self._unsubscribe(_encoded(channel)))

    def _unsubscribe(self, channel: bytes) -> None:
        self._connection.channels.discard(channel)
        self._connection.deliver({"type": "unsubscribe", "channel": channel, "data": 0})

    async def ping(self) -> None:
        await self._connection.do(lambda: self._connection.deliver({"type": "pong", "channel": None, "data": b""}))

    async def get_message(self, timeout: float | None = None) -> dict[str, Any]:
        return await self._connection.next_message()

    async def aclose(self) -> None:
        self._connection.lose()


class _Redis:
    """A client (see redis.asyncio.Redis)."""

    def __init__(self, run: Run, store: Store) -> None:
        self.store, self._run = store, run
        self.connection = _Connection(run, store)
        self.connection_pool = self

    def pubsub(self) -> _PubSub:
        return _PubSub(_Connection(self._run, self.store))

    def register_script(self, text: str) -> Any:
        run = {PUT: self.store.put, TELL_HERE: self.store.tell_here, TELL_EMOTE: self.store.tell_emote}[text]
        return lambda args: self.connection.do(lambda: run(args))

    async def info(self, section: str) -> dict[str, str]:
        return {"run_id": await self.connection.do(lambda: self.store.run_id)}

    async def hgetall(self, key: str) -> Any:
        return await self.connection.do(lambda: dict(self.store.here.get(_room(key), {})))

    async def hdel(self, key: str, field: str) -> None:
        await self.connection.do(lambda: self.store.here.get(_room(key), {}).pop(field.encode(), None))

    async def aclose(self) -> None:
        self.connection.lose()

    async def disconnect(self) -> None:
        self.connection.lose()


def _encoded(channel: str | bytes) -> bytes:
    return channel.encode() if isinstance(channel, str) else channel


def _room(key: str) -> str:
    return key.removeprefix(PREFIX).removesuffix(":here")


class Relay(RedisRelay):
    """A relay whose loop runs in the simulated time."""

    def __init__(self, run: Run, settings: Settings, metrics: Metrics, health: Health) -> None:
        self.run = run
        with replaced(redis_relay, asyncio=_Asyncio(run), threading=_Threading):
            super().__init__(settings, metrics, health.set)

    @property
    def loop(self) -> Loop:
        """The loop of rooms."""
        found: Any = self._loop
        assert isinstance(found, Loop)
        return found

    def post(self, client: str, key: bytes, post: Post) -> Change:
        outcome, self.run.outcome = self.run.outcome, None
        if outcome is not None:
            change: Change = outcome()
            return change
        raise Waits(lambda done: self._begin_post(self._post(client, key, post), done))

    def _begin_post(self, work: Coroutine[Any, Any, Change], done: Callable[[Callable[[], Any]], None]) -> None:
        self.loop.create_task(work).add_done_callback(lambda task: done(task.result))


class _Asyncio:
    """The module asyncio, with runners of simulated loops."""

    def __init__(self, run: Run) -> None:
        self._loop = Loop(run)

    def Runner(self) -> _Asyncio:
        return self

    def get_loop(self) -> Loop:
        return self._loop

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)


class _Threading:
    """The module threading, with a thread that is a task of the simulated loop."""

    class Event:
        def set(self) -> None:
            pass

        def wait(self) -> None:
            pass

    class Thread:
        def __init__(self, target: Any, **options: Any) -> None:
            self._relay = target.__self__

            self._has_ended = False

        def start(self) -> None:
            self._relay.loop.create_task(self._relay._keep())

        def is_alive(self) -> bool:
            return not self._has_ended

        def join(self, timeout: float) -> None:
            self._has_ended = True


@contextmanager
def redis_of(run: Run) -> Iterator[None]:
    """Let all sessions of the relays of a run use its store."""
    with replaced(redis_session, Redis=lambda **options: _Redis(run, run.store)):
        yield
