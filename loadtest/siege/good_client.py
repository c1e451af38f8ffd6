"""A well-behaved client: a few calls of each kind at a steady pace, and their durations."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable

import grpc
import numpy as np
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chatiere import engine
from chatiere.v1 import batch_service_pb2 as batch
from chatiere.v1 import batch_service_pb2_grpc, game_service_pb2_grpc
from chatiere.v1 import game_service_pb2 as game
from chatiere.v1.game_pb2 import Include

KINDS = {"game": 0.02, "batch": 0.05, "health": 0.05}
"""Kinds of calls (of GameService, of BatchService, health checks), each with its period in seconds."""
# The timeout of a call, in seconds.
_TIMEOUT = 5.0
_GAMES = 64
# Failures must be seen, so there are no retries.
_OPTIONS = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0), ("grpc.enable_http_proxy", 0))


class Measured:
    """The seconds from when calls were due to their end, by kind, and the number of failures, by cause."""

    def __init__(self) -> None:
        """Begin without calls."""
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.failures: Counter[str] = Counter()

    def p99_ms(self, kind: str) -> float:
        """Return the 99th percentile of a kind in milliseconds, infinity without calls."""
        seconds = self.seconds[kind]
        return 1000 * float(np.percentile(seconds, 99, method="higher")) if seconds else float("inf")

    def longest_ms(self) -> float:
        """Return the duration of the longest call in milliseconds, infinity without calls."""
        return 1000 * max((one for seconds in self.seconds.values() for one in seconds), default=float("inf"))


class GoodClient:
    """A client that makes calls of each kind in a thread, during a `with` statement."""

    def __init__(self, address: str, token: str | None) -> None:
        """Create a client of the server at `address`. `token`: None if the server requires none."""
        self._address = address
        self._metadata = () if token is None else (("authorization", f"Bearer {token}"),)
        self._measured = Measured()
        self._stopping = threading.Event()
        first = engine.games()[0]
        table = batch.Table(game=first.name, players=first.min_players)
        self._begin = game.NewGameRequest(
            game=first.name, players=first.min_players, seed=7, include=Include(legal_actions=True)
        )
        self._new_games = batch.NewGamesRequest(table=table, count=_GAMES)
        calls = {"game": self._play, "batch": self._batch, "health": self._check}
        self._threads = [
            threading.Thread(target=self._repeat, args=(kind, period, calls[kind]), daemon=True)
            for kind, period in KINDS.items()
        ]

    def __enter__(self) -> "GoodClient":
        """Begin the calls."""
        self._channel = grpc.insecure_channel(self._address, options=_OPTIONS)
        self._game_stub = game_service_pb2_grpc.GameServiceStub(self._channel)
        self._batch_stub = batch_service_pb2_grpc.BatchServiceStub(self._channel)
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End after the calls in flight."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        self._channel.close()

    def measure(self) -> Measured:
        """Begin a measurement, which lasts until the next one."""
        self._measured = Measured()
        return self._measured

    def _repeat(self, kind: str, period: float, calls: Callable[[], tuple[Callable[[], object], ...]]) -> None:
        # Calls are due whether or not the last one has ended: one that waits delays the next ones.
        due = time.perf_counter()
        while True:
            for call in calls():
                if self._stopping.wait(max(0.0, due - time.perf_counter())):
                    return
                measured = self._measured
                try:
                    call()
                except grpc.RpcError as error:
                    measured.failures[f"{kind}: {error.code().name}: {error.details()}"] += 1
                measured.seconds[kind].append(time.perf_counter() - due)
                due += period

    def _play(self) -> tuple[Callable[[], object], ...]:
        named = {"timeout": _TIMEOUT, "metadata": self._metadata}
        position = None

        def begin() -> None:
            nonlocal position
            position = self._game_stub.NewGame(self._begin, **named).position

        def move() -> None:
            if position is not None:
                request = game.ApplyRequest(state=position.state, action=position.legal_actions[0])
                self._game_stub.Apply(request, **named)

        return begin, move

    def _batch(self) -> tuple[Callable[[], object], ...]:
        named = {"timeout": _TIMEOUT, "metadata": self._metadata}

        def single() -> None:
            self._batch_stub.NewGames(self._new_games, **named)

        def stream() -> None:
            requests = iter([batch.PlayRequest(new_games=self._new_games)])
            assert len(list(self._batch_stub.Play(requests, **named))) == 1

        return single, stream

    def _check(self) -> tuple[Callable[[], object], ...]:
        # On a connection of its own, as Kubernetes does.
        def check() -> None:
            with grpc.insecure_channel(self._address, options=_OPTIONS) as channel:
                health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=_TIMEOUT)

        return (check,)
