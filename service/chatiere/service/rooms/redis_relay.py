"""The relay of several processes on one or many machines. Redis stores the rooms. A process copies rooms it follows."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any

from grpc_health.v1.health_pb2 import HealthCheckResponse

from chatiere.service.base.errors import Refusal, StatusError, limit_exceeded, rooms_away
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.methods import Feed
from chatiere.service.rooms.followers import HEARTBEAT, RETRY, Followers
from chatiere.service.rooms.presence import too_many_emotes
from chatiere.service.rooms.redis_scripts import EMOTES, HERE
from chatiere.service.rooms.redis_session import FAILURES, Behind, Full, NewRoom, Session, Taken, pool_of, shown
from chatiere.service.rooms.replica import Replica, number_of
from chatiere.service.rooms.room import EMOTE, EPOCH_SIZE, OF_ROOM, Change, Placed, Post, kind_of
from chatiere.v1 import room_service_pb2 as pb

# The number of seconds between two attempts to connect to Redis.
_PAUSE = 0.5
# The number of seconds without a report from a process after which its followers are no longer considered present.
_SILENCE = 3.0 * HEARTBEAT
_WORKER_SIZE = 8
SERVER = ""
"""The name of the whole server in the health service."""
_NAME = "chatiere.v1.RoomService"
_UP, _AWAY = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING

_log = logging.getLogger(__name__)

# A function that sets the status of a service, given its name, in the health service.
Report = Callable[[str, HealthCheckResponse.ServingStatus], None]


class RedisRelay:
    """A relay that stores rooms in Redis. See Relay.

    The relay runs in its own event loop. It computes a change on the local copy of a room, and writes the change to
    Redis. If the room in Redis has changed in the meantime, the relay updates the copy first and computes the change
    again. Redis publishes each change, so that other processes can update their copies. When the session with Redis
    fails, the relay ends the calls of all followers. Their clients follow again, and repost entries that Redis has
    lost.
    """

    def __init__(self, settings: Settings, metrics: Metrics, report: Report) -> None:
        """Start a thread that connects to Redis.

        Args:
            settings: The settings of the server. `relay` is the address of Redis.
            metrics: The metrics of the worker.
            report: A function that sets the status of a service, for example Health.set.

        Raises:
            SettingError: If the address is invalid.
        """
        pool_of(settings)
        assert settings.relay is not None
        self._settings, self._metrics, self._report = settings, metrics, report
        self._address = shown(settings.relay)
        self._worker = secrets.token_hex(_WORKER_SIZE).encode()
        self._followers = Followers(settings, metrics, time.monotonic)
        # The copies of rooms that have followers in this process, or that a call is about to follow.
        self._rooms: dict[bytes, Replica] = {}
        self._entering: dict[Feed, asyncio.Task[None]] = {}
        self._looks = count()
        # The session and Redis's run id, or None while Redis cannot be reached. The run id changes when Redis restarts.
        self._session: tuple[Session, bytes] | None = None
        self._is_told = False
        self._set_away()
        # The server becomes ready when it has reached Redis. Later outages of Redis affect only the status of rooms.
        self._report(SERVER, _AWAY)
        self._runner = asyncio.Runner()
        self._loop = self._runner.get_loop()
        self._keeping: asyncio.Task[None] | None = None
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rooms", daemon=True)
        self._thread.start()
        self._begun.wait()

    # Methods that may be called from any thread

    @property
    def size(self) -> int:
        """See Relay."""
        return sum(room.size for room in list(self._rooms.values()))

    def post(self, client: str, key: bytes, post: Post) -> Change:
        """See Relay. Waits for Redis."""
        return asyncio.run_coroutine_threadsafe(self._post(client, key, post), self._loop).result()

    def emote(self, key: bytes, emote: pb.RoomEmote) -> bool:
        """See Relay. Waits for Redis."""
        return asyncio.run_coroutine_threadsafe(self._emote(key, emote), self._loop).result()

    def follow(self, key: bytes, person: bytes | None, cursor: bytes, feed: Feed) -> Callable[[], None]:
        """See Relay."""
        self._call(self._begin, key, person, cursor, feed)
        return partial(self._call, self._leave, feed)

    def announce(self) -> None:
        """See Relay."""
        self._call(self._announce)

    def look(self) -> None:
        """See Relay."""
        self._call(self._look)

    def close(self) -> None:
        """See Relay."""
        assert self._keeping is not None
        # The client of Redis may swallow a cancellation that arrives while it connects.
        while self._thread.is_alive():
            self._call(self._keeping.cancel)
            self._thread.join(_PAUSE)

    def _call(self, work: Callable[..., object], *arguments: Any) -> None:
        # Ignore the error of a closed loop, because followers may leave after the loop has ended.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(work, *arguments)

    # The session

    def _run(self) -> None:
        with self._runner, suppress(asyncio.CancelledError):
            self._runner.run(self._keep())

    async def _keep(self) -> None:
        self._keeping = asyncio.current_task()
        self._begun.set()
        while True:
            session = Session(self._settings, self._hear)
            try:
                self._begin_session(session, await session.open())
                await session.listen()
            except FAILURES as error:
                self._end_session(error)
            except Exception as error:
                # Other programs may have written unknown data to Redis.
                _log.exception("Redis at %s has unknown data", self._address)
                self._end_session(error)
            finally:
                await session.close()
            await asyncio.sleep(_PAUSE)

    def _begin_session(self, session: Session, run: bytes) -> None:
        self._session = session, run
        self._is_told = False
        self._metrics.relay_away.dec()
        for name in (_NAME, SERVER):
            self._report(name, _UP)
        _log.info("rooms are kept by Redis at %s", self._address)

    def _end_session(self, error: BaseException) -> None:
        rooms = list(self._rooms.values())
        self._rooms.clear()
        self._metrics.rooms.dec(len(rooms))
        if self._session is not None:
            self._session = None
            self._set_away()
        if not self._is_told:
            text = (
                "cannot reach Redis at %s, so its rooms are not available: start Redis, or correct --relay; "
                "retrying every %g s (%s)"
            )
            _log.error(text, self._address, _PAUSE, error)
            self._is_told = True
        for room in rooms:
            self._cut(room)

    def _set_away(self) -> None:
        self._report(_NAME, _AWAY)
        self._metrics.relay_away.inc()

    def _current(self) -> tuple[Session, bytes]:
        if self._session is None:
            raise rooms_away()
        return self._session

    def _cut(self, room: Replica) -> None:
        for feed in list(room.followers):
            feed.cut(rooms_away())

    # Posts

    async def _post(self, client: str, key: bytes, post: Post) -> Change:
        session, run = self._current()
        followed = self._rooms.get(key)
        room = Replica(key, run) if followed is None else followed
        # Hash the client, because its address is private and may contain characters that are not allowed in keys.
        begun = NewRoom(hashlib.sha256(client.encode()).hexdigest(), secrets.token_bytes(EPOCH_SIZE), OF_ROOM)
        try:
            change = await self._put(session, room, post, begun)
            # The reason is the same as in MemoryRelay.post.
            with suppress(Refusal):
                while isinstance(post, Placed) and (waiting := room.next_waiting(post.table_id)) is not None:
                    await self._put(session, room, waiting, begun)
        except FAILURES as error:
            raise rooms_away() from error
        self._metrics.room_posts.labels(kind_of(post), "taken" if change.is_taken else "refused").inc()
        return change

    async def _emote(self, key: bytes, emote: pb.RoomEmote) -> bool:
        session, run = self._current()
        room = self._rooms.get(key) or Replica(key, run)
        try:
            if emote.person not in room.people:
                await self._bring_up_to_date(session, room)
            is_taken = emote.person in room.people
            wait = await session.tell_emote(room.name, emote) if is_taken else 0.0
        except FAILURES as error:
            raise rooms_away() from error
        if wait:
            raise too_many_emotes(wait)
        self._metrics.room_posts.labels(EMOTE, "taken" if is_taken else "refused").inc()
        return is_taken

    async def _put(self, session: Session, room: Replica, post: Post, begun: NewRoom) -> Change:
        while True:
            change, new, refusal = None, None, None
            try:
                change = room.change_by(post)
                new = room.next(change)
            except Refusal as error:
                # The refusal counts only if the room in Redis has not changed in the meantime.
                refusal = error
            found = await session.put(room.name, room.epoch, room.last, new, begun)
            if isinstance(found, Full):
                raise limit_exceeded(found.limit, found.most, RETRY)
            if isinstance(found, Behind):
                self._catch_up(room, found)
                continue
            self._count_dropped(found)
            if refusal is not None:
                raise refusal
            assert change is not None
            if new is not None:
                if not room.epoch:
                    room.begin(begun.epoch)
                self._hear_entry(room, new.id, new.gone, new.entry)
            return change

    async def _bring_up_to_date(self, session: Session, room: Replica) -> None:
        found = await session.put(room.name, room.epoch, room.last, None, NewRoom("", b"", 0))
        if isinstance(found, Behind):
            self._catch_up(room, found)
        elif isinstance(found, Taken):
            self._count_dropped(found)

    def _catch_up(self, room: Replica, found: Behind) -> None:
        if found.epoch != room.epoch:
            # End the followers' calls if they may have received entries of the previous room.
            if room.epoch:
                self._cut(room)
            room.begin(found.epoch)
        # Published messages may have brought the copy up to date in the meantime.
        if found.entries and number_of(found.entries[-1][0]) >= room.number:
            _tell(room, room.catch_up(found.entries))

    def _count_dropped(self, found: Taken) -> None:
        self._metrics.rooms_dropped.labels("idle").inc(found.idle)
        self._metrics.rooms_dropped.labels("full").inc(found.full)

    # Messages

    def _hear(self, channel: bytes, message: bytes) -> None:
        if not channel:
            self._hear_dropped(message)
            return
        room = self._rooms.get(bytes.fromhex(channel.decode()))
        if room is None:
            return
        kind, (first, _, rest) = message[:1], message[1:].partition(b" ")
        if kind == EMOTES:
            room.tell_emote(pb.RoomEmote.FromString(rest))
        elif kind != HERE:
            gone, _, entry = rest.partition(b" ")
            self._hear_entry(room, first, gone, entry)
        elif first != self._worker and room.hear_part(first, rest, self._loop.time()):
            self._followers.announcements.add(room)

    def _hear_entry(self, room: Replica, id: bytes, gone: bytes, entry: bytes) -> None:
        number = number_of(id)
        if room.epoch and number == room.number + 1:
            _tell(room, room.take([(id, entry)], gone.split(b",")))
        elif number > room.number and self._rooms.get(room.key) is room:
            self._start(room, self._bring_up_to_date)

    def _hear_dropped(self, name: bytes) -> None:
        room = self._rooms.get(bytes.fromhex(name.decode()))
        if room is not None:
            for feed in list(room.followers):
                feed.cut(limit_exceeded("rooms at a time", self._settings.max_rooms, RETRY))

    def _start(self, room: Replica, work: Callable[[Session, Replica], Coroutine[Any, Any, None]]) -> None:
        if self._session is not None:
            session, _ = self._session
            session.start(work(session, room))

    # Followers

    def _begin(self, key: bytes, person: bytes | None, cursor: bytes, feed: Feed) -> None:
        self._entering[feed] = self._loop.create_task(self._enter(key, person, cursor, feed))

    async def _enter(self, key: bytes, person: bytes | None, cursor: bytes, feed: Feed) -> None:
        room = None
        try:
            room = self._opened(key)
            self._followers.check(feed.origin, room, person)
            self._followers.rate.charge(feed.origin)
            room.waiting += 1
            try:
                assert room.opening is not None
                await asyncio.shield(room.opening)
            finally:
                room.waiting -= 1
            if self._rooms.get(key) is not room:
                raise rooms_away()
            other = self._followers.check(feed.origin, room, person)
            if other is not None:
                self._followers.end(other)
            self._followers.add(feed, room, person, cursor)
        except (Refusal, StatusError) as error:
            feed.cut(error)
        except FAILURES:
            feed.cut(rooms_away())
        finally:
            del self._entering[feed]
            if room is not None:
                self._forget_unused(room)

    def _leave(self, feed: Feed) -> None:
        if feed in self._entering:
            self._entering[feed].cancel()
        elif feed in self._followers:
            room = self._followers.remove(feed)
            assert isinstance(room, Replica)
            if self._rooms.get(room.key) is room:
                if not room.followers:
                    self._tell_here(room)
                self._forget_unused(room)

    def _opened(self, key: bytes) -> Replica:
        session, run = self._current()
        room = self._rooms.get(key)
        if room is None:
            room = self._rooms[key] = Replica(key, run)
            room.opening = self._loop.create_task(self._open(session, room))
            # Retrieve the exception, because all calls that wait for the task may have ended.
            room.opening.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._metrics.rooms.inc()
        return room

    async def _open(self, session: Session, room: Replica) -> None:
        await session.subscribe(room.name)
        for worker, part in (await session.here(room.name)).items():
            if worker != self._worker:
                room.hear_part(worker, part, self._loop.time())
        await self._bring_up_to_date(session, room)

    def _forget_unused(self, room: Replica) -> None:
        if not (room.followers or room.waiting) and self._rooms.get(room.key) is room:
            del self._rooms[room.key]
            self._metrics.rooms.dec()
            self._start(room, lambda session, room: session.unsubscribe(room.name))

    def _tell_here(self, room: Replica) -> None:
        if room.part() != room.told:
            room.told = room.part()
            self._start(room, self._tell_told)

    async def _tell_told(self, session: Session, room: Replica) -> None:
        await session.tell_here(room.name, self._worker, room.told, _SILENCE)

    # Periodic work

    def _announce(self) -> None:
        for room in self._followers.announcements.announce():
            assert isinstance(room, Replica)
            if self._rooms.get(room.key) is room:
                self._tell_here(room)

    def _look(self) -> None:
        self._followers.look()
        if self._session is None:
            return
        self._session[0].look()
        turn = next(self._looks) % HEARTBEAT
        for room in self._rooms.values():
            if room.key[0] % HEARTBEAT == turn and room.followers:
                self._start(room, self._refresh)

    async def _refresh(self, session: Session, room: Replica) -> None:
        # Mark the room as used, and tell other processes that this process still has followers in it.
        await session.tell_here(room.name, self._worker, room.told, _SILENCE)
        if silent := room.forget_parts(self._loop.time() - _SILENCE):
            self._followers.announcements.add(room)
        for worker in silent:
            await session.forget_here(room.name, worker)
        await self._bring_up_to_date(session, room)


def _tell(room: Replica, response: pb.FollowResponse) -> None:
    # Waiting entries are not sent.
    if response.entries:
        room.tell(response)
