"""The client of the benchmarks: random self-play over BatchService, in NumPy, as a learner's program would do it."""

import queue
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

import grpc
import numpy as np

from chatiere.v1.batch_service_pb2 import (
    Columns,
    NewGamesRequest,
    PlayRequest,
    Positions,
    Restart,
    StepRequest,
    Table,
)
from chatiere.v1.batch_service_pb2_grpc import BatchServiceStub

SEED = 7


def seeds_and_numbers(first: int, count: int) -> tuple[bytes, bytes]:
    """The columns of the streams (SEED, first …)."""
    return (
        np.full(count, SEED, "<u8").tobytes(),
        np.arange(first, first + count, dtype="<u8").tobytes(),
    )


def choose(offsets: bytes, ids: bytes, random: np.random.Generator) -> bytes:
    """A uniformly random legal id for each item."""
    begins = np.frombuffer(offsets, "<u4")
    counts = np.diff(begins)
    picks = begins[:-1] + (random.random(counts.size) * counts).astype(np.uint32)
    return np.frombuffer(ids, "<u2")[picks].tobytes()


class Stream:
    """One Play stream."""

    def __init__(self, channel: grpc.Channel) -> None:
        """On that channel."""
        self._requests: queue.SimpleQueue[PlayRequest | None] = queue.SimpleQueue()
        stub = BatchServiceStub(channel)  # type: ignore[no-untyped-call]  # generated without types
        self._responses: Iterator = stub.Play(iter(self._requests.get, None))

    def send(self, request: PlayRequest) -> None:
        """Send a request."""
        self._requests.put(request)

    def receive(self) -> Positions:
        """Where the games of the next answer stand."""
        response = next(self._responses)
        kind = response.WhichOneof("response")
        if kind == "refusal":
            raise RuntimeError(str(response.refusal))
        answer = getattr(response, kind)
        if kind == "step" and answer.faults.reasons:
            raise RuntimeError(str(answer.faults))
        positions: Positions = answer.positions
        return positions

    def close(self) -> None:
        """End the stream."""
        self._requests.put(None)


class SelfPlay:
    """Batches of games under way, `in_flight` of them on each of some connections; games that end begin anew."""

    def __init__(
        self, connect: Callable[[], grpc.Channel], game: str, players: int, batch: int, connections: int, in_flight: int
    ) -> None:
        """Begin all games."""
        self._channels = [connect() for _ in range(connections)]
        self._streams = [Stream(channel) for channel in self._channels] * in_flight
        self._batch = batch
        self._random = np.random.default_rng(SEED)
        table, columns = Table(game=game, players=players), Columns(legal=True)
        # A step without its two columns.
        self._step = PlayRequest(
            step=StepRequest(table=table, columns=columns, restart=Restart(stride=batch * len(self._streams)))
        )
        for number, stream in enumerate(self._streams):
            seeds, numbers = seeds_and_numbers(number * batch, batch)
            stream.send(
                PlayRequest(new_games=NewGamesRequest(table=table, seeds=seeds, game_numbers=numbers, columns=columns))
            )
        self._positions = [stream.receive() for stream in self._streams]

    def play(self, goes_on: Callable[[int], bool]) -> int:
        """Play while `goes_on` says so of the moves made; how many were made."""
        moves = 0
        for stream, positions in zip(self._streams, self._positions, strict=True):
            self._move(stream, positions)
        while goes_on(moves):
            for stream in self._streams:
                self._move(stream, stream.receive())
            moves += self._batch * len(self._streams)
        self._positions = [stream.receive() for stream in self._streams]
        return moves + self._batch * len(self._streams)

    def _move(self, stream: Stream, positions: Positions) -> None:
        request = PlayRequest()
        request.CopyFrom(self._step)
        request.step.states = positions.states
        request.step.moves = choose(positions.legal_offsets, positions.legal_ids, self._random)
        stream.send(request)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave the games as they are."""
        for stream in self._streams:
            stream.close()
        for channel in self._channels:
            channel.close()
