"""Servers for the tests of the fast door, simple responses of Play, and metrics."""

import threading
from contextlib import AbstractContextManager
from typing import Any

import pytest

from chatiere.service.base.settings import Settings
from chatiere.service.calls.play_stream import PlayStream

from ..support import PATIENCE, Running, running

LABELS = {"grpc_type": "bidi_stream", "grpc_service": "chatiere.v1.BatchService", "grpc_method": "Play"}


def playing(**more: Any) -> AbstractContextManager[Running]:
    """Run a server with these settings. It is called at the fast door."""
    return running(Settings(address="127.0.0.1:0", log_calls=True, **more), "fast")


class Slow:
    """Makes Play echo its requests once they are released, at servers that start later."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.released = threading.Semaphore(0), threading.Semaphore(0)
        self.cancelled: list[bool] = []
        monkeypatch.setattr(PlayStream, "answer", lambda batches, *arguments: self._play(*arguments))

    def _play(self, request: Any, cancellation: Any, *_: Any) -> list[bytes]:
        self.entered.release()
        assert self.released.acquire(timeout=PATIENCE)
        self.cancelled.append(cancellation.cancelled)
        return [bytes(request)]

    def wait_for_request(self) -> None:
        assert self.entered.acquire(timeout=PATIENCE)


def handled(server: Running) -> dict[str, float]:
    """Return the number of ended calls to Play for each status."""
    names = ("OK", "Canceled", "InvalidArgument", "DeadlineExceeded", "ResourceExhausted", "Unavailable")
    counts = {name: server.sample("grpc_server_handled_total", **LABELS, grpc_code=name) for name in names}
    return {name: count for name, count in counts.items() if count}


def in_flight(server: Running, kind: str = "bidi_stream") -> float:
    return server.sample("chatiere_calls_in_flight", grpc_type=kind)
