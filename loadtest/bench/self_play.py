"""The client of the benchmarks: random self-play over BatchService in NumPy, without any other work.

`chatiere.clients.VectorEnv`, the library's client with the same columns, also counts games and moves.
"""

import time
from collections.abc import Callable
from functools import cache

import numpy as np

from chatiere.clients.calls.batch_messages import Response, put, put_inner
from chatiere.clients.transport.channel import BATCH_SERVICE
from chatiere.clients.transport.fast_call import FastCall
from chatiere.clients.transport.shared_call import PREFIX, SharedCall, StepColumns
from chatiere.engine.wire import Buffer
from chatiere.v1.batch_service_pb2 import (
    BatchSetup,
    Columns,
    NewGamesRequest,
    PlayRequest,
    PlayResponse,
    Restart,
    StepRequest,
)

SEED = 7
# The maximum time for a server to receive a request, in seconds.
PATIENCE = 60.0
# The time in seconds after which an idle stream is replaced, because it does not respond to the server's pings.
MAX_IDLE = 60.0


def seeds_and_numbers(first: int, count: int) -> tuple[bytes, bytes]:
    """Return the columns of seeds and game numbers. All seeds are SEED. The game numbers begin with `first`."""
    return (
        np.full(count, SEED, "<u8").tobytes(),
        np.arange(first, first + count, dtype="<u8").tobytes(),
    )


@cache
def kept(number: int) -> bytes:
    """Return a PlayRequest without its request. It takes a batch and keeps the batch again."""
    return PlayRequest(take=number, keep=number).SerializeToString()


def choose(offsets: Buffer, ids: Buffer, random: np.random.Generator) -> bytes:
    """Choose a legal id for each item, uniformly at random."""
    begins = np.frombuffer(offsets, "<u4").astype(np.intp)
    picks = random.random(begins.size - 1)
    picks *= begins[1:] - begins[:-1]
    return np.frombuffer(ids, "<u2").take(begins[:-1] + picks.astype(np.intp)).tobytes()


class BenchStream:
    """A Play stream."""

    def __init__(self, address: str) -> None:
        """Open a stream to the service at an address, which may begin with "shm:"."""
        self._call: FastCall | SharedCall
        if address.startswith(PREFIX):
            self._call = SharedCall(address, PATIENCE)
        else:
            self._call = FastCall(address, f"/{BATCH_SERVICE}/Play", PATIENCE)

    def send(self, field: int, request: list[Buffer], rest: bytes = b"") -> None:
        """Send a PlayRequest. `request` has the pieces of field number `field`, and `rest` has the other fields."""
        self._call.send([*put_inner(field, request), rest])

    def send_step(self, number: int, moves: bytes, step: bytes) -> None:
        """Send a step of the kept batch `number`, which is kept again. `step` is a StepRequest without columns."""
        if isinstance(self._call, SharedCall):
            self._call.send_step(0, number, moves, step)
        else:
            request = [*put_inner(StepRequest.MOVES_FIELD_NUMBER, [moves]), step]
            self.send(PlayRequest.STEP_FIELD_NUMBER, request, kept(number))

    def receive(self) -> Response | StepColumns:
        """Receive a response, and return the Positions in it."""
        received = self._call.receive()
        if isinstance(received, StepColumns):
            return received
        response = Response(PlayResponse, received)
        kind = response.which("response")
        if kind not in ("new_games", "step"):
            raise RuntimeError(str(response.whole()))
        content = response.inner(kind)
        if kind == "step" and content.column("faults"):
            raise RuntimeError(str(content.message("faults")))
        return content.inner("positions")

    def close(self) -> None:
        """End the stream."""
        self._call.close()


class SelfPlay:
    """Batches of games on `connections` connections, each with `in_flight` batches. Games that end are restarted."""

    def __init__(
        self,
        address: str,
        game: str,
        players: int,
        batch: int,
        connections: int,
        in_flight: int,
        *,
        keeps: bool = False,
    ) -> None:
        """Start all games. `keeps` is True to keep the games' states in the service."""
        self._address, self._connections, self._in_flight = address, connections, in_flight
        self._batch, self._keeps = batch, keeps
        self._random = np.random.default_rng(SEED)
        table, columns = BatchSetup(game=game, players=players), Columns(legal=True)
        self._streams = self._connect()
        # A request for Step without the columns `states` and `moves`.
        self._step = StepRequest(setup=table, columns=columns, restart=Restart(stride=batch * len(self._streams)))
        self._step_bytes = self._step.SerializeToString()
        for number, stream in enumerate(self._streams):
            seeds, numbers = seeds_and_numbers(number * batch, batch)
            request = put(NewGamesRequest(setup=table, columns=columns), {"seeds": seeds, "game_numbers": numbers})
            stream.send(PlayRequest.NEW_GAMES_FIELD_NUMBER, request)
        self._positions = [stream.receive() for stream in self._streams]
        self._idle_since = time.monotonic()

    def advance(self, goes_on: Callable[[int], bool]) -> int:
        """Make moves until `goes_on` returns False. Return their number.

        `goes_on` is called with the number of moves so far.
        """
        if time.monotonic() - self._idle_since > MAX_IDLE:
            self.close()
            self._streams = self._connect()
        moves = 0
        for number, positions in enumerate(self._positions):
            self._move(number, positions, take=False, keep=self._keeps)
        while goes_on(moves):
            self._go_on(keep=self._keeps)
            moves += self._batch * len(self._streams)
        if self._keeps:
            # The last response returns the states for the next run.
            self._go_on(keep=False)
            moves += self._batch * len(self._streams)
        self._positions = [stream.receive() for stream in self._streams]
        self._idle_since = time.monotonic()
        return moves + self._batch * len(self._streams)

    def _connect(self) -> list[BenchStream]:
        return [BenchStream(self._address) for _ in range(self._connections)] * self._in_flight

    def close(self) -> None:
        """Close the streams."""
        for stream in self._streams:
            stream.close()

    def _go_on(self, *, keep: bool) -> None:
        # Make another move in each game.
        for number, stream in enumerate(self._streams):
            self._move(number, stream.receive(), take=self._keeps, keep=keep)

    def _move(self, number: int, positions: Response | StepColumns, *, take: bool, keep: bool) -> None:
        # Make a move in each game of batch `number`. `take` and `keep` set the fields of PlayRequest with these names.
        moves = choose(positions.column("legal_offsets"), positions.column("legal_ids"), self._random)
        if take and keep:
            self._streams[number].send_step(number + 1, moves, self._step_bytes)
            return
        columns: dict[str, Buffer] = {} if take else {"states": positions.column("states")}
        columns["moves"] = moves
        rest = PlayRequest(take=(number + 1) * take, keep=(number + 1) * keep).SerializeToString()
        self._streams[number].send(PlayRequest.STEP_FIELD_NUMBER, put(self._step, columns), rest)
