"""Functions that report gRPC calls and wrong responses to Locust."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from locust import User


class WrongAnswer(Exception):
    """The service's response contradicts the rules."""


class MeasuredCalls(grpc.UnaryUnaryClientInterceptor):
    """An interceptor that reports the duration, response size and error of unary calls, by method name.

    An expected refusal is not an error. See `expecting`.
    """

    def __init__(self, user: User) -> None:
        """Create an interceptor for the calls of `user`."""
        self._user = user
        self._expected: grpc.StatusCode = grpc.StatusCode.OK

    @contextmanager
    def expecting(self, code: grpc.StatusCode) -> Iterator[None]:
        """Expect calls to end with a status. Any other status is an error."""
        self._expected = code
        try:
            yield
        finally:
            self._expected = grpc.StatusCode.OK

    def intercept_unary_unary(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        """See grpc.UnaryUnaryClientInterceptor."""
        start = time.perf_counter()
        call = continuation(details, request)
        code = call.code()
        name = details.method.rpartition("/")[2]
        expected = code is self._expected
        size = call.result().ByteSize() if code is grpc.StatusCode.OK else 0
        self._user.environment.events.request.fire(
            request_type="grpc" if self._expected is grpc.StatusCode.OK else "refused",
            name=name,
            response_time=(time.perf_counter() - start) * 1000,
            response_length=size,
            exception=None if expected else UnexpectedStatus(name, code, call.details()),
        )
        return call


class UnexpectedStatus(Exception):
    """A call ended with an unexpected status."""

    def __init__(self, name: str, code: grpc.StatusCode, message: str | None) -> None:
        """Create the error from a call and its status."""
        super().__init__(f"{name}: {code.name}: {message}")


def report(user: User, kind: str, name: str, *, start: float, error: Exception | None = None) -> None:
    """Report to Locust an event other than a unary call. `start` is a time of time.perf_counter()."""
    user.environment.events.request.fire(
        request_type=kind,
        name=name,
        response_time=(time.perf_counter() - start) * 1000,
        response_length=0,
        exception=error,
    )
