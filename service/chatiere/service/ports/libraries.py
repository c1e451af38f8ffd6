"""The methods of reflection and channelz. gRPC's libraries implement them, and only grpcio's port serves them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import grpc
from google.protobuf import descriptor_pool, text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message_factory import GetMessageClass
from grpc_channelz.v1 import channelz, channelz_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.wire import Buffer
from chatiere.service.base.errors import Status, StatusError
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.health import HEALTH_SERVICE
from chatiere.service.exchange.methods import Hold, SingleMethod, StreamMethod
from chatiere.service.guards.chain import Method
from chatiere.service.ports.methods import Methods, services_of

_CHANNELZ = channelz_pb2.DESCRIPTOR.services_by_name["Channelz"]
_REFLECTIONS = ("grpc.reflection.v1.ServerReflection", reflection.SERVICE_NAME)


def channelz_methods(metrics: Metrics, methods: Methods) -> list[SingleMethod]:
    """Return the methods of channelz."""
    found = []
    for each in _CHANNELZ.methods:
        path = f"/{_CHANNELZ.full_name}/{each.name}"
        handle = partial(_channelz, getattr(channelz.ChannelzServicer, each.name), GetMessageClass(each.input_type))
        found.append(SingleMethod(path, Method(metrics, "unary", path), handle, methods.side_threads))
    return found


def reflection_methods(settings: Settings, metrics: Metrics, methods: Methods) -> list[StreamMethod]:
    """Return the methods of reflection, under its stable and its older name. Both have the same messages."""
    _describe_v1()
    channelz_name = [_CHANNELZ.full_name] if settings.channelz else []
    names = [*services_of(settings), HEALTH_SERVICE, *channelz_name, *_REFLECTIONS]
    handle = partial(_reflect, reflection.ReflectionServicer(names))
    found = []
    for service in _REFLECTIONS:
        path = f"/{service}/ServerReflectionInfo"
        method = Method(metrics, "bidi_stream", path, limit=methods.streams)
        found.append(StreamMethod(path, method, lambda _: handle, methods.pool))
    return found


def _describe_v1() -> None:
    """Add the definition of the stable version to the definitions for reflection. Grpcio's package lacks it."""
    described = FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(described)
    described.options.ClearField("deprecated")
    text = text_format.MessageToString(described).replace("v1alpha", "v1")
    stable = text_format.Parse(text, FileDescriptorProto())
    pool = descriptor_pool.Default()
    try:
        pool.FindFileByName(stable.name)
    except KeyError:
        pool.AddSerializedFile(stable.SerializeToString())


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
    """The context of a call to a library's method. The method sets the call's status in it."""

    code = 0
    details = ""

    def set_code(self, code: grpc.StatusCode) -> None:
        self.code = code.value[0]

    def set_details(self, details: str) -> None:
        self.details = details
