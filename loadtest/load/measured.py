"""How Locust learns of gRPC calls and of wrong answers."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from locust import User


class WrongAnswer(Exception):
    """The service answered, but not what the rules say."""


class MeasuredCalls(grpc.UnaryUnaryClientInterceptor):  # type: ignore[misc]  # grpc's stubs leave it untyped
    """Reports every unary call of a channel as a request named by its method: duration, size of the answer, error.

    A refusal is no error where the user expects one: `expecting` names the status.
    """

    def __init__(self, user: User) -> None:
        """`user`: whose calls they are."""
        self._user = user
        self._expected: grpc.StatusCode = grpc.StatusCode.OK

    @contextmanager
    def expecting(self, code: grpc.StatusCode) -> Iterator[None]:
        """Let calls be right only if they end with that status."""
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
        right = code is self._expected
        size = call.result().ByteSize() if code is grpc.StatusCode.OK else 0
        self._user.environment.events.request.fire(
            request_type="grpc" if self._expected is grpc.StatusCode.OK else "refused",
            name=name,
            response_time=(time.perf_counter() - start) * 1000,
            response_length=size,
            exception=None if right else UnexpectedStatus(name, code, call.details()),
        )
        return call


class UnexpectedStatus(Exception):
    """A call ended with another status than it should."""

    def __init__(self, name: str, code: grpc.StatusCode, message: str | None) -> None:
        """Say which and how."""
        super().__init__(f"{name}: {code.name}: {message}")


def report(user: User, kind: str, name: str, *, start: float, error: Exception | None = None) -> None:
    """Tell Locust of what is not a unary call; `start`: of time.perf_counter()."""
    user.environment.events.request.fire(
        request_type=kind,
        name=name,
        response_time=(time.perf_counter() - start) * 1000,
        response_length=0,
        exception=error,
    )
