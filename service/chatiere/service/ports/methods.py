"""The methods of a server, for all its ports.

BotService and TableService are imported by their first call, and RoomService if the server has rooms. An idle worker
does not need NumPy and the cryptography library, which take a quarter of its memory.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Protocol

from google.protobuf.descriptor import ServiceDescriptor
from google.rpc import code_pb2

from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import Status
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import MEMORY, SettingError, Settings
from chatiere.service.base.threads import started_threads
from chatiere.service.calls.batch_service import BatchService
from chatiere.service.calls.game_service import GameService
from chatiere.service.calls.play_stream import PlayStream
from chatiere.service.calls.replay_service import ReplayService
from chatiere.service.exchange.fair_threads import FairThreads
from chatiere.service.exchange.health import HEALTH_SERVICE, Health
from chatiere.service.exchange.methods import BatchMethod, FeedMethod, SingleMethod, StreamMethod, UnknownMethod
from chatiere.service.guards.chain import Call, Guards, Metadata, Method
from chatiere.service.guards.idle import IdleStreams
from chatiere.service.guards.limits import CallLimit
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import batch_service_pb2, bot_service_pb2, game_service_pb2, room_service_pb2, table_service_pb2

if TYPE_CHECKING:
    from chatiere.engine.core.cancellation import Cancellation
    from chatiere.service.calls.bot_service import BotService, Hold
    from chatiere.service.calls.table_service import TableService
    from chatiere.service.rooms.relay import Relay

_GAME = game_service_pb2.DESCRIPTOR.services_by_name["GameService"]
_BATCH = batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"]
_BOT = bot_service_pb2.DESCRIPTOR.services_by_name["BotService"]
_TABLE = table_service_pb2.DESCRIPTOR.services_by_name["TableService"]
GAME_SERVICE, BATCH_SERVICE, BOT_SERVICE = _GAME.full_name, _BATCH.full_name, _BOT.full_name
TABLE_SERVICE = _TABLE.full_name
ROOM_SERVICE = room_service_pb2.DESCRIPTOR.services_by_name["RoomService"].full_name
PLAY = f"/{BATCH_SERVICE}/Play"
REPLAY = f"/{GAME_SERVICE}/Replay"
# The number of threads for large requests to GameService.
_SIDE_THREADS = 2
# The number of threads for posts. These threads wait for Redis.
_POST_THREADS = 16


def services_of(settings: Settings) -> list[str]:
    """Return the services of a server with these settings, except health."""
    return [GAME_SERVICE, BATCH_SERVICE, BOT_SERVICE, TABLE_SERVICE, *([ROOM_SERVICE] if settings.relay else [])]


class _Service(Protocol):
    def answer(self, name: str, data: Buffer, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        """Handle a request."""


class _Later:
    """A service that is created by its first call."""

    def __init__(self, create: Callable[[], _Service]) -> None:
        self._create = create
        self._service: _Service | None = None
        self._lock = threading.Lock()

    def created(self) -> _Service:
        """Return the service, and create it first if necessary."""
        with self._lock:
            if self._service is None:
                self._service = self._create()
            return self._service

    def answer(self, name: str, data: Buffer, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        """Handle a request."""
        return self.created().answer(name, data, cancellation, hold)


class Methods:
    """The methods of the server's services, including health."""

    def __init__(self, settings: Settings, metrics: Metrics, health: Health, table_keys: Keyring) -> None:
        """Start the methods' threads. Raises SettingError if they cannot be started, or a bot cannot be loaded."""
        # Count the calls to all unknown methods together, because clients could invent any number of names.
        self.unknown = UnknownMethod(Method(metrics, "unknown", "/unknown/unknown", needs_token=False))
        self._metrics = metrics
        self._pools: list[ThreadPoolExecutor | FairThreads] = []
        self.relay: Relay | None = None
        """The relay of RoomService, or None if the server has no rooms."""
        try:
            self.side_threads = self._threads("side", _SIDE_THREADS)
            self.pool = FairThreads("batches", settings.batch_threads)
            self._pools.append(self.pool)
        except RuntimeError as error:
            self.close()
            raise SettingError("batch_threads", f"cannot start the threads: {error}") from error
        self.streams = CallLimit("streams at a time", settings.max_streams, IdleStreams(settings.stream_idle_timeout))
        """The limit on streams."""
        self.singles = self._single_methods(settings)
        """The methods of GameService except Replay, and RoomService's Post."""
        service = BatchService(settings, metrics)
        limit = CallLimit("batches at a time", settings.max_calls)
        bots = _Later(partial(_bot_service, settings, metrics))
        tables = _Later(partial(_table_service, settings, metrics, table_keys))
        if settings.bots:
            # Whether the setting is valid is known only when the bots are loaded.
            bots.created()
            tables.created()
        replay = Method(metrics, "unary", REPLAY, limit=limit, counts_clients=True)
        self.batches = [
            BatchMethod(REPLAY, replay, ReplayService(settings, metrics).replay, self.pool),
            *self._batch_methods(_BATCH, service.answer, limit),
            *self._batch_methods(_BOT, bots.answer, limit),
            *self._batch_methods(_TABLE, tables.answer, limit, needs_token=not settings.open_tables),
        ]
        """Replay, and the unary methods of BatchService, BotService and TableService."""
        play = Method(metrics, "bidi_stream", PLAY, limit=self.streams, counts_clients=True)
        self.play = StreamMethod(PLAY, play, lambda kept: PlayStream(service, kept).answer, self.pool)
        """BatchService's Play."""
        check, watch = (f"/{HEALTH_SERVICE}/{name}" for name in ("Check", "Watch"))
        checks = Method(metrics, "unary", check, needs_token=False)
        watches = Method(metrics, "server_stream", watch, needs_token=False)
        self.check = SingleMethod(check, checks, health.check, self.side_threads)
        """The health service's Check."""
        self.feeds = [FeedMethod(watch, watches, health.watch)]
        """The health service's Watch, and RoomService's Follow."""
        if settings.relay is not None:
            from chatiere.service.rooms.relay import create_relay

            self.relay = create_relay(settings, metrics, health)
            self._add_rooms(settings, self.relay, table_keys)

    def count_unknown(self, guards: Guards, peer: str = "", metadata: Metadata = ()) -> None:
        """Count a call to an unknown method. The port itself refuses the call. `peer`: the client's address, or ""."""
        call = Call(self.unknown.method, peer, metadata)
        guards.begin(call)
        guards.end(call, Status(code_pb2.UNIMPLEMENTED))

    def close(self) -> None:
        """Wait until the threads have finished."""
        for pool in self._pools:
            pool.shutdown()
        if self.relay is not None:
            self.relay.close()

    def _threads(self, name: str, count: int) -> ThreadPoolExecutor:
        pool = started_threads(name, count)
        self._pools.append(pool)
        return pool

    def _single_methods(self, settings: Settings) -> list[SingleMethod]:
        service = GameService(settings, self._metrics)
        limit = CallLimit("calls at a time", settings.max_calls)
        found = []
        for each in _GAME.methods:
            path = f"/{GAME_SERVICE}/{each.name}"
            if path != REPLAY:
                method = Method(self._metrics, "unary", path, limit=limit, counts_clients=True)
                found.append(SingleMethod(path, method, service.methods[each.name], self.side_threads))
        return found

    def _add_rooms(self, settings: Settings, relay: Relay, table_keys: Keyring) -> None:
        from chatiere.service.rooms.room_service import RoomService

        rooms = RoomService(relay, table_keys)
        # Use separate threads for posts that wait for Redis, so that they do not delay other work.
        waits = settings.relay != MEMORY
        threads = self._threads("posts", _POST_THREADS) if waits else self.side_threads
        post, follow = (f"/{ROOM_SERVICE}/{name}" for name in ("Post", "Follow"))
        calls = CallLimit("calls at a time", settings.max_calls)
        followers = CallLimit(
            "followers at a time", settings.max_followers, IdleStreams(0.0, "followers of rooms at a time")
        )
        posts, follows = (
            Method(self._metrics, kind, path, needs_token=not settings.open_tables, limit=limit, counts_clients=True)
            for kind, path, limit in (("unary", post, calls), ("server_stream", follow, followers))
        )
        self.singles.append(SingleMethod(post, posts, rooms.post, threads, takes_client=True, waits=waits))
        self.feeds.append(FeedMethod(follow, follows, rooms.follow))

    def _batch_methods(
        self,
        service: ServiceDescriptor,
        answer: Callable[..., list[Buffer]],
        limit: CallLimit,
        *,
        needs_token: bool = True,
    ) -> list[BatchMethod]:
        found = []
        for each in service.methods:
            path = f"/{service.full_name}/{each.name}"
            if path != PLAY:
                method = Method(self._metrics, "unary", path, needs_token=needs_token, limit=limit, counts_clients=True)
                found.append(BatchMethod(path, method, partial(answer, _snake_case(each.name)), self.pool))
        return found


def _bot_service(settings: Settings, metrics: Metrics) -> BotService:
    from chatiere.service.calls.bot_service import BotService

    return BotService(settings, metrics)


def _table_service(settings: Settings, metrics: Metrics, table_keys: Keyring) -> TableService:
    from chatiere.service.calls.table_service import TableService

    return TableService(settings, metrics, table_keys)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
