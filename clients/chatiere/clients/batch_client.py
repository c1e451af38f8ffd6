"""The client of BatchService: many games at a time, as NumPy arrays."""

from collections.abc import Sequence
from typing import Any, SupportsIndex, Unpack

import grpc
from numpy.typing import ArrayLike

from chatiere.clients.calls import batch_requests
from chatiere.clients.calls.batch_messages import Response
from chatiere.clients.calls.batch_requests import (
    BatchRequest,
    Evaluation,
    Observed,
    Packed,
    Playouts,
    Resampled,
    Result,
    Scores,
    States,
    Stepped,
    Unpacked,
)
from chatiere.clients.transport.batch_stream import BatchStream
from chatiere.clients.transport.channel import BATCH_SERVICE, ClientOptions
from chatiere.clients.transport.channel_client import ChannelClient
from chatiere.clients.transport.in_flight import readable
from chatiere.engine.memory import keep_freed_memory
from chatiere.envs.batch import Positions
from chatiere.v1 import batch_service_pb2
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, PlayResponse, Restart
from chatiere.v1.game_pb2 import Options, State

# The class of each response, by its field in PlayResponse.
_RESPONSES = {
    field.name: getattr(batch_service_pb2, field.message_type.name)
    for field in PlayResponse.DESCRIPTOR.oneofs_by_name["response"].fields
    if field.message_type
}


class BatchClient(ChannelClient):
    """A client for many games at a time, one call after another; may be used from several threads.

    The service stores nothing: the packed states, which you keep and pass with each call, are the games. `setup` names
    the game and the number of players: `BatchSetup(game="discat", players=3)`. BatchSetup, Columns, Restart and Options
    are messages of chatiere.v1 (`from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, Restart`), where every
    field is documented.

    Columns may be arrays of any integer type, sequences of integers, or the bytes of the column. ValueError is raised
    if a number does not fit. Results are read-only arrays of the types given in their classes, views into the response
    where possible: an array keeps the whole response in memory, so copy what you keep for long.

    A failed item does not affect the others: it is reported in `faults`, and no error is raised; `faults.raise_first()`
    raises it.

    Every method takes a `timeout` in seconds, which replaces the client's own. It raises ChatiereError if the request
    as a whole is refused: for the reasons that it lists, and for those of any call with a setup, UNKNOWN_GAME,
    INVALID_PLAYERS, INVALID_BATCH and BATCH_TOO_LARGE. The subclass TransportError is raised if the service cannot be
    reached, or not in time. While the service is UNAVAILABLE, gRPC retries a call up to five times within the timeout,
    which is safe because all calls are pure.

    Creating one lets malloc keep large freed blocks, for the whole process: getting their pages anew would cost more
    than anything else.

    Use it in a `with` statement, or close it.
    """

    def __init__(self, target: str | Sequence[str] | grpc.Channel, **options: Unpack[ClientOptions]) -> None:
        """See ChannelClient."""
        keep_freed_memory()
        super().__init__(target, **options)

    def _send(self, request: BatchRequest[Result], timeout: float | None) -> Result:
        method: Any = self.channel.unary_unary(f"/{BATCH_SERVICE}/{request.method}")
        data = self._call(method, b"".join(request.pieces), timeout)
        with readable():
            return request.read(Response(_RESPONSES[request.field], data))

    def stream(self) -> BatchStream:
        """Open a stream, for several requests in flight; use it in a `with` statement, or close it."""
        return BatchStream(self.channel, self._metadata.of_call())

    def new_games(
        self,
        setup: BatchSetup,
        seeds: ArrayLike | None = None,
        game_numbers: ArrayLike | None = None,
        *,
        count: SupportsIndex | None = None,
        options: Options | None = None,
        columns: Columns | None = None,
        timeout: float | None = None,
    ) -> Positions:
        """Begin games.

        `seeds`, `game_numbers`: (n,), 0 … 2**64 - 1, for sampled chance; absent game numbers are 0. Without seeds
        chance is explicit, and `count` is the number of games, 1 or more. `options`: the game's options; those absent
        have their defaults. `columns`: the columns wanted beside states, actors and final.

        Returns the positions at the first decision; with explicit chance, at the first chance event or decision.

        Reasons: INVALID_OPTION, INVALID_SEED; also INVALID_BATCH without both seeds and count.
        """
        request = batch_requests.new_games(setup, seeds, game_numbers, count=count, options=options, columns=columns)
        return self._send(request, timeout)

    def step(
        self,
        setup: BatchSetup,
        states: States,
        moves: ArrayLike,
        *,
        columns: Columns | None = None,
        restart: Restart | None = None,
        timeout: float | None = None,
    ) -> Stepped:
        """Make a move in each game.

        `states`: (n, packed_size). `moves`: (n,), the dense id of an action or, at a chance event, the outcome.
        `columns`: the columns wanted beside states, actors and final. `restart`: begin a new game where one ends;
        absent, games that are over stay over.

        Reasons: INVALID_OPTION (of `restart`).
        """
        return self._send(batch_requests.step(setup, states, moves, columns=columns, restart=restart), timeout)

    def playout(
        self,
        setup: BatchSetup,
        states: States,
        playouts: SupportsIndex,
        seed: SupportsIndex,
        *,
        first_game_number: SupportsIndex = 0,
        timeout: float | None = None,
    ) -> Playouts:
        """Make `playouts` random playouts of each of the states (n, packed_size).

        Playout j of item i draws from the stream (seed, first_game_number + playouts × i + j).
        """
        request = batch_requests.playout(setup, states, playouts, seed, first_game_number=first_game_number)
        return self._send(request, timeout)

    def evaluate(
        self,
        setup: BatchSetup,
        states: States,
        worlds: SupportsIndex,
        playouts: SupportsIndex,
        seed: SupportsIndex,
        *,
        first_game_number: SupportsIndex = 0,
        timeout: float | None = None,
    ) -> Evaluation:
        """Try every legal action of the seats to decide at states (n, packed_size), by random playouts.

        `worlds`: how many states to draw for each from those consistent with what its seat to decide knows. `playouts`:
        how many to make after each legal action in each of them. The random numbers of item i come from the stream
        (seed, first_game_number + i), as EvaluateRequest says. A state at which no seat is to decide fails.
        """
        request = batch_requests.evaluate(setup, states, worlds, playouts, seed, first_game_number=first_game_number)
        return self._send(request, timeout)

    def score(self, setup: BatchSetup, states: States, *, timeout: float | None = None) -> Scores:
        """Return the scores at states (n, packed_size), at any point of a game."""
        return self._send(batch_requests.score(setup, states), timeout)

    def resample(
        self,
        setup: BatchSetup,
        states: States,
        seats: ArrayLike,
        seed: SupportsIndex,
        *,
        first_game_number: SupportsIndex = 0,
        timeout: float | None = None,
    ) -> Resampled:
        """Draw for each of the states (n, packed_size) one uniformly from those consistent with what a seat knows.

        `seats`: (n,), the seat for each state. Item i is drawn from the stream (seed, first_game_number + i) and, with
        sampled chance, goes on with that stream.
        """
        request = batch_requests.resample(setup, states, seats, seed, first_game_number=first_game_number)
        return self._send(request, timeout)

    def observe(self, setup: BatchSetup, states: States, seats: ArrayLike, *, timeout: float | None = None) -> Observed:
        """Return the observations of seats (n,) at states (n, packed_size)."""
        return self._send(batch_requests.observe(setup, states, seats), timeout)

    def pack(self, setup: BatchSetup, typed_states: Sequence[State], *, timeout: float | None = None) -> Packed:
        """Pack typed states (Convert)."""
        return self._send(batch_requests.pack(setup, typed_states), timeout)

    def unpack(self, setup: BatchSetup, states: States, *, timeout: float | None = None) -> Unpacked:
        """Unpack packed states (n, packed_size) into typed ones (Convert)."""
        return self._send(batch_requests.unpack(setup, states), timeout)
