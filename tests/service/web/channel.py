"""The web door in the form of grpcio's channel, for tests of what all doors have in common.

Its calls have one request. They use Connect with binary messages.
"""

import base64
import json
import struct
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import grpc
import httpx
from google.protobuf import any_pb2
from google.rpc import code_pb2, status_pb2
from tools.patience import PATIENCE

_CODES = {code.name.lower().replace("cancelled", "canceled"): code for code in grpc.StatusCode}
# The status of HTTP responses that do not follow Connect.
_OF_HTTP = {404: grpc.StatusCode.UNIMPLEMENTED, 431: grpc.StatusCode.RESOURCE_EXHAUSTED}
Metadata = Sequence[tuple[str, str]]


class WebError(grpc.RpcError):
    """An error with the methods of grpcio's errors."""

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        trailers: Sequence[tuple[str, str | bytes]] = (),
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(f"{code}: {message}")
        self._code, self._message, self._trailers, self._headers = code, message, trailers, headers

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._message

    def initial_metadata(self) -> Any:
        return self._headers

    def trailing_metadata(self) -> Any:
        return self._trailers


class WebFuture:
    """A call in flight, with those methods that tests use."""

    def __init__(self, work: "Future[tuple[Any, Any]]") -> None:
        self._work = work

    def result(self) -> Any:
        return self._work.result()[0]

    def exception(self) -> Any:
        return self._work.exception()

    def code(self) -> grpc.StatusCode:
        error: Any = self._work.exception()
        return grpc.StatusCode.OK if error is None else error.code()


class WebCall:
    """A unary method. It can be called like a stub's method."""

    def __init__(self, client: httpx.Client, threads: Executor, method: str, write: Any, read: Any) -> None:
        self._client, self._threads, self._method, self._write, self._read = client, threads, method, write, read

    def __call__(self, request: Any, timeout: float | None = None, metadata: Metadata = ()) -> Any:
        return self.with_call(request, timeout, metadata)[0]

    def with_call(self, request: Any, timeout: float | None = None, metadata: Metadata = ()) -> tuple[Any, Any]:
        headers = [("content-type", "application/proto"), *metadata]
        if timeout is not None:
            headers.append(("connect-timeout-ms", str(round(1000 * timeout))))
        response = self._client.post(self._method, content=self._write(request), headers=headers)
        if response.status_code != 200:
            raise _error_of(response)
        trailers = [("x-request-id", response.headers["x-request-id"])]
        return self._read(response.content), WebError(grpc.StatusCode.OK, "", trailers, [*response.headers.items()])

    def future(self, request: Any, timeout: float | None = None, metadata: Metadata = ()) -> WebFuture:
        return WebFuture(self._threads.submit(self.with_call, request, timeout, metadata))


class WebStream:
    """Iterates over the responses of a call as they arrive."""

    def __init__(
        self, client: httpx.Client, method: str, body: bytes, headers: Sequence[tuple[str, str]], read: Any
    ) -> None:
        envelope = struct.pack(">BI", 0, len(body)) + body
        kind = ("content-type", "application/connect+proto")
        request = client.build_request("POST", method, content=envelope, headers=[kind, *headers])
        self._response = client.send(request, stream=True)
        self._parts, self._data, self._read = self._response.iter_raw(), b"", read
        if self._response.status_code != 200:
            self._response.read()
            raise _error_of(self._response)

    def __iter__(self) -> "WebStream":
        return self

    def __next__(self) -> Any:
        flags, size = struct.unpack(">BI", self._take(5))
        data = self._take(size)
        if not flags:
            return self._read(data)
        self.cancel()
        error = json.loads(data).get("error")
        if error is None:
            raise StopIteration
        raise _connect_error(error, [])

    def _take(self, size: int) -> bytes:
        while len(self._data) < size:
            try:
                self._data += next(self._parts)
            except (StopIteration, httpx.TransportError):
                raise WebError(grpc.StatusCode.UNAVAILABLE, "the connection has ended") from None
        found, self._data = self._data[:size], self._data[size:]
        return found

    def cancel(self) -> None:
        self._response.close()


class WebChannel:
    """A channel to an address, without TLS."""

    def __init__(self, address: str) -> None:
        self._client = httpx.Client(base_url=f"http://{address}", trust_env=False, timeout=PATIENCE)
        self._threads = ThreadPoolExecutor(16)

    def __enter__(self) -> "WebChannel":
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()
        self._client.close()

    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Any], bytes] = bytes,
        response_deserializer: Callable[[bytes], Any] = bytes,
        _registered_method: bool = False,
    ) -> WebCall:
        return WebCall(self._client, self._threads, method, request_serializer, response_deserializer)

    def unary_stream(
        self,
        method: str,
        request_serializer: Callable[[Any], bytes] = bytes,
        response_deserializer: Callable[[bytes], Any] = bytes,
        _registered_method: bool = False,
    ) -> Callable[..., WebStream]:
        def call(request: Any, metadata: Metadata = ()) -> WebStream:
            return WebStream(self._client, method, request_serializer(request), metadata, response_deserializer)

        return call

    def stream_unary(self, *_: Any, **__: Any) -> None:
        """Do nothing. Stubs ask for their request streams when they are made, but this door does not have them."""

    stream_stream = stream_unary


def _error_of(response: httpx.Response) -> WebError:
    trailers: list[tuple[str, str | bytes]] = [("x-request-id", response.headers.get("x-request-id", ""))]
    if not response.headers["content-type"].startswith("application/json"):
        return WebError(_OF_HTTP.get(response.status_code, grpc.StatusCode.UNKNOWN), response.text, trailers)
    return _connect_error(response.json(), trailers)


def _connect_error(error: Any, trailers: list[tuple[str, str | bytes]]) -> WebError:
    code = _CODES[error["code"]]
    if "details" in error:
        status = status_pb2.Status(code=code_pb2.Code.Value(code.name), message=error["message"])
        for detail in error["details"]:
            value = base64.b64decode(detail["value"] + "===")
            status.details.append(any_pb2.Any(type_url=f"type.googleapis.com/{detail['type']}", value=value))
        trailers.append(("grpc-status-details-bin", status.SerializeToString()))
    return WebError(code, error["message"], trailers)
