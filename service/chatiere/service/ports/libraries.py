"""The methods of gRPC's libraries, which grpcio's port has beside the server's own: reflection and channelz."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import grpc
from google.protobuf.message_factory import GetMessageClass
from grpc_channelz.v1 import channelz, channelz_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from chatiere.engine.core.batch import Cancellation
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import Status, StatusError
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.health import HEALTH_SERVICE
from chatiere.service.exchange.methods import Hold, SingleMethod, StreamMethod
from chatiere.service.guards.chain import Method
from chatiere.service.ports.methods import Methods, services_of

_CHANNELZ = channelz_pb2.DESCRIPTOR.services_by_name["Channelz"]
_REFLECT = f"/{reflection.SERVICE_NAME}/ServerReflectionInfo"


def channelz_methods(metrics: Metrics, methods: Methods) -> list[SingleMethod]:
    """Return the methods of channelz."""
    found = []
    for each in _CHANNELZ.methods:
        path = f"/{_CHANNELZ.full_name}/{each.name}"
        handle = partial(_channelz, getattr(channelz.ChannelzServicer, each.name), GetMessageClass(each.input_type))
        found.append(SingleMethod(path, Method(metrics, "unary", path), handle, methods.side_threads))
    return found


def reflection_method(settings: Settings, metrics: Metrics, methods: Methods) -> StreamMethod:
    """Return the method of reflection."""
    channelz_name = [_CHANNELZ.full_name] if settings.channelz else []
    names = [*services_of(settings), HEALTH_SERVICE, *channelz_name, reflection.SERVICE_NAME]
    handle = partial(_reflect, reflection.ReflectionServicer(names))
    method = Method(metrics, "bidi_stream", _REFLECT, limit=methods.streams)
    return StreamMethod(_REFLECT, method, lambda _: handle, methods.stream_threads, threading.Semaphore(0))


def _reflect(servicer: Any, request: Buffer, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
    asked = reflection_pb2.ServerReflectionRequest.FromString(bytes(request))
    return [each.SerializeToString() for each in servicer.ServerReflectionInfo(iter([asked]), None)]


def _channelz(answer: Callable[[Any, Any], Any], request_type: Any, request: bytes) -> bytes:
    outcome = _Outcome()
    response = answer(request_type.FromString(request), outcome)
    if outcome.code:
        raise StatusError(Status(outcome.code, message=outcome.details))
    data: bytes = response.SerializeToString()
    return data


class _Outcome:
    """A call's context for a library's method: the status that it sets."""

    code = 0
    details = ""

    def set_code(self, code: grpc.StatusCode) -> None:
        self.code = code.value[0]

    def set_details(self, details: str) -> None:
        self.details = details
