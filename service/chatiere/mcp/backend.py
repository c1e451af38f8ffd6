"""The service behind the tools: in this process, or at an address. Both raise ChatiereError."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol

import grpc
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from prometheus_client import CollectorRegistry

from chatiere.clients.calls.errors import ChatiereError, TransportError, error_of, error_of_status
from chatiere.engine import Position
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import OK, status_of
from chatiere.service.base.errors import Status as CallStatus
from chatiere.service.base.languages import speaking
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls.batch_service import hold_nothing
from chatiere.service.calls.bot_service import BotService
from chatiere.service.calls.game_service import GameService
from chatiere.service.calls.table_service import TableService, position_of
from chatiere.service.exchange.health import Health
from chatiere.service.rooms.relay import LOOK, create_relay
from chatiere.service.rooms.room_service import RoomService
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.seal import open_table
from chatiere.v1 import bot_service_pb2, game_service_pb2, room_service_pb2, table_service_pb2

_FILES = (game_service_pb2, bot_service_pb2, table_service_pb2, room_service_pb2)
# For the name of each request: the service, the method and the class of responses.
_METHODS = {
    method.input_type.name: (service.full_name, method.name, getattr(file, method.output_type.name))
    for file in _FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
    if method.input_type.file is file.DESCRIPTOR and method.output_type.file is file.DESCRIPTOR
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
# The client of all rooms, for limits. If there are too many rooms, the one unused for longest is deleted.
_CLIENT = "mcp"
# A client may use half of each limit. Each call follows a room for a moment.
_LIMITS: Any = {
    "max_rooms": 20_000,
    "max_room_bytes": 2**29,
    "max_followers": 1_000_000,
    "room_lifetime": 30 * 86_400.0,
}
# The time limit in seconds of a call, and of reading a room.
_TIMEOUT, _ROOM_TIMEOUT = 60.0, 10.0


class Backend(Protocol):
    """A service. All methods may be called from any thread."""

    keeps_rooms: bool
    """True if the service has rooms, which keep the tables of games."""

    def call(self, request: Message, language: str = "en") -> Any:
        """Call the method of a request. Returns its response, with labels in a language. Raises ChatiereError."""

    def tables_in(self, room: bytes) -> list[room_service_pb2.RoomEntry]:
        """Return the entries of a room, given by its id. Raises ChatiereError."""

    def world(self, table: bytes, seat: int) -> Position | None:
        """Return a position that a seat cannot distinguish from a table's, or None if the backend cannot open tables.

        It depends only on the information of the seat. `table` is a table that the service has accepted.
        """


class LocalBackend:
    """The service in this process, without a network. The process keeps no game, except rooms in memory."""

    def __init__(self, settings: Settings) -> None:
        """Create the service. `settings.relay` may be None. Raises SettingError."""
        metrics, self._keys = Metrics(CollectorRegistry()), Keyring(settings.table_keys)
        keys = self._keys
        tables, bots = TableService(settings, metrics, keys), BotService(settings, metrics)
        self._methods: dict[str, Callable[[bytes], Buffer]] = {**GameService(settings, metrics).methods}
        for service, names in (
            (tables, ("new_table", "look", "move", "suggest_move", "get_record")),
            (bots, ("list_bots",)),
        ):
            for name in names:
                self._methods[name.title().replace("_", "")] = _unary(service.answer, name)
        self.keeps_rooms = settings.relay is not None
        if settings.relay is not None:
            self._relay = create_relay(replace(settings, **_LIMITS), metrics, Health(()))
            self._rooms = RoomService(self._relay, keys)
            self._methods["Post"] = lambda data: self._rooms.post(_CLIENT, data)
            threading.Thread(target=self._look, name="relay", daemon=True).start()

    def call(self, request: Message, language: str = "en") -> Any:
        """See Backend."""
        _, method, response = _METHODS[request.DESCRIPTOR.name]
        try:
            return response.FromString(speaking(language, self._methods[method])(request.SerializeToString()))
        except Exception as error:
            raise _told(error, language) from error

    def tables_in(self, room: bytes) -> list[room_service_pb2.RoomEntry]:
        """See Backend."""
        feed = _Collected()
        try:
            leave = self._rooms.follow(room_service_pb2.FollowRequest(room=room).SerializeToString(), feed)
        except Exception as error:
            raise _told(error, "") from error
        try:
            return feed.entries()
        finally:
            leave()

    def world(self, table: bytes, seat: int) -> Position | None:
        """See Backend."""
        return position_of(open_table(self._keys, table)).resample(seat, 0)

    def _look(self) -> None:
        # Let the relay delete unused rooms.
        pause = threading.Event()
        while not pause.wait(LOOK):
            self._relay.look()


class RemoteBackend:
    """The service at an address, called by gRPC."""

    def __init__(self, channel: grpc.Channel, token: str | None, *, keeps_rooms: bool) -> None:
        """Use a channel. `token` is the service's bearer token, if it needs one."""
        self._channel, self.keeps_rooms = channel, keeps_rooms
        self._metadata: tuple[tuple[str, str | bytes], ...] = (("authorization", f"Bearer {token}"),) if token else ()

    def call(self, request: Message, language: str = "en") -> Any:
        """See Backend."""
        service, method, response = _METHODS[request.DESCRIPTOR.name]
        stub = self._channel.unary_unary(
            f"/{service}/{method}", type(request).SerializeToString, response_deserializer=response.FromString
        )
        metadata = (*self._metadata, ("accept-language", language))
        try:
            return stub(request, timeout=_TIMEOUT, metadata=metadata)
        except grpc.RpcError as error:
            raise error_of(error) from error

    def tables_in(self, room: bytes) -> list[room_service_pb2.RoomEntry]:
        """See Backend."""
        service, method, response = _METHODS["FollowRequest"]
        stub = self._channel.unary_stream(
            f"/{service}/{method}",
            room_service_pb2.FollowRequest.SerializeToString,
            response_deserializer=response.FromString,
        )
        call = stub(room_service_pb2.FollowRequest(room=room), timeout=_ROOM_TIMEOUT, metadata=self._metadata)
        try:
            return _first_whole(call)
        except grpc.RpcError as error:
            raise error_of(error) from error
        finally:
            call.cancel()

    def world(self, table: bytes, seat: int) -> Position | None:
        """See Backend."""
        return None


class _Collected:
    """A feed that collects the contents of a room. See Feed."""

    language, origin = "", _CLIENT

    def __init__(self) -> None:
        self._responses: list[room_service_pb2.FollowResponse] = []
        self._error: ChatiereError | None = None
        self._is_whole = threading.Event()

    def send(self, response: bytes) -> None:
        self._responses.append(room_service_pb2.FollowResponse.FromString(response))
        self._is_whole.set()

    def end(self, status: CallStatus = OK) -> None:
        self._error = _of_status(status)
        self._is_whole.set()

    def cut(self, error: Exception) -> None:
        self._error = _told(error, "")
        self._is_whole.set()

    def entries(self) -> list[room_service_pb2.RoomEntry]:
        """Wait for the contents, and return them. Raises ChatiereError."""
        if not self._is_whole.wait(_ROOM_TIMEOUT):
            raise TransportError(grpc.StatusCode.DEADLINE_EXCEEDED, "the store of games does not respond")
        if self._error is not None:
            raise self._error
        return _first_whole(self._responses)


def _first_whole(responses: Iterable[room_service_pb2.FollowResponse]) -> list[room_service_pb2.RoomEntry]:
    return list(next(iter(responses)).entries)


def _unary(answer: Callable[..., list[Buffer]], name: str) -> Callable[[bytes], bytes]:
    return lambda data: b"".join(answer(name, data, Cancellation(), hold_nothing))


def _told(error: Exception, language: str) -> ChatiereError:
    return _of_status(status_of(error, "", language))


def _of_status(status: CallStatus) -> ChatiereError:
    return error_of_status(_CODES[status.code], status.message, Status.FromString(status.details))
