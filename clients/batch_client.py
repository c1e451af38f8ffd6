"""The client of BatchService: many games at a time, as NumPy arrays."""

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import grpc
from numpy.typing import ArrayLike

from chatiere.clients.calls import batch_requests
from chatiere.clients.calls.batch_messages import Response
from chatiere.clients.calls.batch_requests import (
    BatchRequest,
    Observed,
    Packed,
    Playouts,
    Positions,
    Resampled,
    Result,
    Scores,
    States,
    Stepped,
    Unpacked,
)
from chatiere.clients.calls.game_requests import DEFAULT_TIMEOUT
from chatiere.clients.transport.batch_stream import BatchStream
from chatiere.clients.transport.channel import BATCH_SERVICE
from chatiere.clients.transport.channel_client import ChannelClient
from chatiere.clients.transport.in_flight import readable
from chatiere.engine.memory import keep_freed_memory
from chatiere.v1 import batch_service_pb2
from chatiere.v1.batch_service_pb2 import Columns, PlayResponse, Restart, Table
from chatiere.v1.game_pb2 import Options, State

# By a call's name in PlayResponse: the kind of its answer.
_RESPONSES = {
    field.name: getattr(batch_service_pb2, field.message_type.name)
    for field in PlayResponse.DESCRIPTOR.oneofs_by_name["response"].fields
    if field.message_type
}


class BatchClient(ChannelClient):
    """Asks a Chatière service about many games at a time, one call at a time; may be used from many threads.

    The service stores nothing: the packed states, which you keep and hand along, are the games. `table` says what is
    played: `Table(game="discat", players=3)`. Table, Columns, Restart and Options are messages of chatiere.v1
    (`from chatiere.v1.batch_service_pb2 import Columns, Restart, Table`), where every field is explained.

    Columns are taken as arrays of any integer type that NumPy knows or as sequences, as long as the column can hold the
    numbers (ValueError), or as bytes of what the column holds. They come back as arrays of the types that the results
    say and are not writable. They are read in place where they can be: an array that you keep keeps its whole answer in
    memory, so copy what you keep for long.

    An item that fails fails alone: it is told in `faults`, and no error is raised. `faults.raise_first()` does.

    Every method takes a `timeout` in seconds, in place of the client's own, and raises ChatiereError with the reasons
    that it names where the request as a whole is refused, beside those of any call with a table: UNKNOWN_GAME,
    INVALID_PLAYERS, INVALID_BATCH, BATCH_TOO_LARGE. Its subclass TransportError is raised where the service cannot be
    reached, or not in time. While the service is UNAVAILABLE, gRPC itself tries a call up to five times within the
    timeout: that is safe, as all calls are pure.

    It lets malloc keep large blocks that are freed, for the whole process: their pages would be the slowest of all.

    Use it in a `with` statement, or close it.
    """

    def __init__(
        self,
        target: str | Sequence[str] | grpc.Channel,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        credentials: grpc.ChannelCredentials | None = None,
        token: str | None = None,
        new_request_id: Callable[[], str] | None = None,
    ) -> None:
        """See ChannelClient."""
        keep_freed_memory()
        super().__init__(target, timeout=timeout, credentials=credentials, token=token, new_request_id=new_request_id)

    def _send(self, request: BatchRequest[Result], timeout: float | None) -> Result:
        method: Any = self.channel.unary_unary(f"/{BATCH_SERVICE}/{request.method}")
        data = self._call(method, b"".join(request.pieces), timeout)
        with readable():
            return request.read(Response(_RESPONSES[request.field], data))

    def stream(self) -> BatchStream:
        """A stream of calls, for several under way at a time; to be used in a `with` statement, or closed."""
        return BatchStream(self.channel, self._metadata.of_call())

    def new_games(
        self,
        table: Table,
        seeds: ArrayLike | None = None,
        game_numbers: ArrayLike | None = None,
        *,
        count: SupportsIndex | None = None,
        options: Options | None = None,
        columns: Columns | None = None,
        timeout: float | None = None,
    ) -> Positions:
        """Begin games.

        `seeds`, `game_numbers`: (n,), 0 … 2**64 - 1, of sampled chance; without game numbers all are 0. Without seeds
        chance is explicit, and `count` says how many games, 1 or more. `options`: those of the game; absent, all have
        their defaults. `columns`: what is wanted beside states, actors and final.

        Returns the positions at the first decision; with explicit chance, at the first chance event or decision.

        Reasons: INVALID_OPTION, INVALID_SEED; INVALID_BATCH also without seeds and count.
        """
        request = batch_requests.new_games(table, seeds, game_numbers, count=count, options=options, columns=columns)
        return self._send(request, timeout)

    def step(
        self,
        table: Table,
        states: States,
        moves: ArrayLike,
        *,
        columns: Columns | None = None,
        restart: Restart | None = None,
        timeout: float | None = None,
    ) -> Stepped:
        """Make a move in each game.

        `states`: (n, packed_size). `moves`: (n,), for each the dense id of an action or, at a chance event, the outcome
        that comes. `columns`: what is wanted beside states, actors and final. `restart`: begin a new game where one
        ends; absent, games that are over stay over.

        Reasons: INVALID_OPTION (of `restart`).
        """
        return self._send(batch_requests.step(table, states, moves, columns=columns, restart=restart), timeout)

    def playout(
        self,
        table: Table,
        states: States,
        count: SupportsIndex,
        seed: SupportsIndex,
        *,
        first_game_number: SupportsIndex = 0,
        timeout: float | None = None,
    ) -> Playouts:
        """Play each of the states (n, packed_size) to its end `count` times, with random moves.

        Playout j of item i takes its luck from the stream (seed, first_game_number + count × i + j).
        """
        request = batch_requests.playout(table, states, count, seed, first_game_number=first_game_number)
        return self._send(request, timeout)

    def score(self, table: Table, states: States, *, timeout: float | None = None) -> Scores:
        """The scores at states (n, packed_size), anywhere in a game."""
        return self._send(batch_requests.score(table, states), timeout)

    def resample(
        self,
        table: Table,
        states: States,
        seats: ArrayLike,
        seed: SupportsIndex,
        *,
        first_game_number: SupportsIndex = 0,
        timeout: float | None = None,
    ) -> Resampled:
        """For each of the states (n, packed_size) one drawn uniformly from those that agree with all that a seat knows.

        `seats`: (n,), the seats whose knowledge counts. Item i is drawn from the stream (seed, first_game_number + i)
        and, with sampled chance, goes on with it.
        """
        request = batch_requests.resample(table, states, seats, seed, first_game_number=first_game_number)
        return self._send(request, timeout)

    def observe(self, table: Table, states: States, seats: ArrayLike, *, timeout: float | None = None) -> Observed:
        """What seats (n,) know at states (n, packed_size), as numbers."""
        return self._send(batch_requests.observe(table, states, seats), timeout)

    def pack(self, table: Table, typed_states: Sequence[State], *, timeout: float | None = None) -> Packed:
        """Typed states, packed (Convert)."""
        return self._send(batch_requests.pack(table, typed_states), timeout)

    def unpack(self, table: Table, states: States, *, timeout: float | None = None) -> Unpacked:
        """Packed states (n, packed_size), typed (Convert)."""
        return self._send(batch_requests.unpack(table, states), timeout)
