"""Methods of a server that behave as a case requires, with any requests."""

from collections.abc import Callable
from threading import Event
from typing import Any, NamedTuple

import pytest
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2
from tools.patience import PATIENCE

from chatiere.engine.core.cancellation import Cancellation, Cancelled
from chatiere.service.base.errors import OK, Status, StatusError
from chatiere.service.calls import game_service
from chatiere.service.calls.bot_service import BotService
from chatiere.service.calls.play_stream import PlayStream
from chatiere.service.exchange.health import Health
from chatiere.service.exchange.methods import Feed
from chatiere.v1 import batch_service_pb2, bot_service_pb2, game_pb2, game_service_pb2


class Method(NamedTuple):
    """A method on which cases are run, with its request and its response."""

    path: str
    request: Message
    response: Message


SINGLE = Method(
    "/chatiere.v1.GameService/GetScore",
    game_service_pb2.GetScoreRequest(state=game_pb2.State(ply=7)),
    game_service_pb2.GetScoreResponse(score=game_pb2.Score(totals=[1, -1])),
)
BATCH = Method(
    "/chatiere.v1.BotService/ListBots",
    bot_service_pb2.ListBotsRequest(game="discat"),
    bot_service_pb2.ListBotsResponse(bots=[bot_service_pb2.BotInfo(name="tomcat")]),
)
FEED = Method(
    "/grpc.health.v1.Health/Watch",
    health_pb2.HealthCheckRequest(service="cats"),
    health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING),
)
STREAM = Method(
    "/chatiere.v1.BatchService/Play",
    batch_service_pb2.PlayRequest(tag=3),
    batch_service_pb2.PlayResponse(tag=3),
)
DETAIL = error_details_pb2.RequestInfo(request_id="of a detail")


class Script:
    """The handlers of servers that start later. `play` determines how they respond to the next call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.play()
        monkeypatch.setattr(game_service, "get_score", lambda request: self._single(bytes(request)))
        monkeypatch.setattr(BotService, "answer", lambda service, name, *arguments: self._batch(*arguments))
        monkeypatch.setattr(Health, "watch", lambda health, request, feed: self._feed(bytes(request), feed))
        monkeypatch.setattr(PlayStream, "answer", lambda stream, *arguments: self._stream(*arguments))

    def play(self, code: str = "", message: str = "", responses: int = 1, *, is_late: bool = False) -> None:
        """Set the number of responses to the next call and its status code ("": OK). A late call does not end."""
        self.requests: list[bytes] = []
        self.status = OK
        if code:
            number = code_pb2.Code.Value(code.upper().replace("CANCELED", "CANCELLED"))
            detail = any_pb2.Any()
            detail.Pack(DETAIL)
            details = status_pb2.Status(code=number, message=message, details=[detail])
            self.status = Status(number, message=message, details=details.SerializeToString())
        self._responses, self._is_late = responses, is_late

    def _fail(self) -> None:
        if self.status.code:
            raise StatusError(self.status)

    def _single(self, request: bytes) -> bytes:
        self.requests.append(request)
        self._fail()
        return SINGLE.response.SerializeToString()

    def _batch(self, request: Any, cancellation: Cancellation, hold: Any) -> list[bytes]:
        self.requests.append(bytes(request))
        self._wait(cancellation)
        self._fail()
        return [BATCH.response.SerializeToString()]

    def _stream(self, request: Any, cancellation: Cancellation, hold: Any) -> list[bytes]:
        self.requests.append(bytes(request))
        self._wait(cancellation)
        if self.status.code and len(self.requests) > self._responses:
            self._fail()
        return [STREAM.response.SerializeToString()]

    def _wait(self, cancellation: Cancellation) -> None:
        passing = Event()
        for _ in range(round(PATIENCE * 1000) if self._is_late else 0):
            if cancellation.cancelled:
                raise Cancelled("late")
            passing.wait(0.001)

    def _feed(self, request: bytes, feed: Feed) -> Callable[[], None]:
        self.requests.append(request)
        for _ in range(self._responses):
            feed.send(FEED.response.SerializeToString())
        if not self._is_late:
            feed.end(self.status)
        return lambda: None
