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
from chatiere.clients.transport.fast_stream import RepeatedStream
from chatiere.clients.transport.in_flight import readable
from chatiere.clients.transport.shared_call import PREFIX
from chatiere.engine.memory import keep_freed_memory
from chatiere.envs.batch import Positions
from chatiere.v1 import batch_service_pb2
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, PlayResponse, Restart
from chatiere.v1.game_pb2 import Options, State

# The class of the response for each field of PlayResponse.
_RESPONSES = {
    field.name: getattr(batch_service_pb2, field.message_type.name)
    for field in PlayResponse.DESCRIPTOR.oneofs_by_name["response"].fields
    if field.message_type
}


class BatchClient(ChannelClient):
    """A thread-safe client for many games at a time.

    The service is stateless: it stores no games. Keep the packed states, and pass them to each call. `setup` specifies
    the game and the number of players: `BatchSetup(game="discat", players=3)`. BatchSetup, Columns, Restart and Options
    are messages of chatiere.v1 (`from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, Restart`), where every
    field is documented.

    A column is one array of a batch. It may be passed as an array of any integer type, a sequence of integers, or the
    column's bytes. ValueError is raised if a number is out of range. Results are read-only arrays. Their classes
    document the types. Where possible, an array is a view into the response and keeps the whole response in memory.
    Copy arrays that you keep for a long time.

    An item is one game of a batch. A failed item does not affect other items and raises no error. `faults` reports the
    failure. Call `faults.raise_first()` to raise an error.

    Every method has an argument `timeout` in seconds that overrides the client's timeout. If the service refuses the
    whole request, the method raises ChatiereError with one of the listed reasons or UNKNOWN_GAME, INVALID_PLAYERS,
    INVALID_BATCH or BATCH_TOO_LARGE. It raises the subclass TransportError if the service cannot be reached or does not
    respond in time. For retries see Client.

    Creating a client makes malloc keep large freed blocks in the whole process. Otherwise, mapping the pages of new
    blocks would cost more time than all other work.

    Use the client in a `with` statement, or close it.
    """

    def __init__(self, target: str | Sequence[str] | grpc.Channel, **options: Unpack[ClientOptions]) -> None:
        """See ChannelClient.

        `target` may also be "shm:/PATH"; see FastStream. Requests then lie in shared memory, one at a time. They have
        no request ids, and their errors are not localized. `stream` uses the Unix socket at /PATH.
        """
        keep_freed_memory()
        self._shared = None
        channel_target = target
        if isinstance(target, str) and target.startswith(PREFIX):
            self._shared = RepeatedStream(target, options.get("token"))
            channel_target = f"unix:{target.removeprefix(PREFIX)}"
        super().__init__(channel_target, **options)
        self._arguments["target"] = target

    def close(self) -> None:
        """Close the client's own channel and its shared memory. Calls in flight fail."""
        super().close()
        if self._shared is not None:
            self._shared.close()

    def _send(self, request: BatchRequest[Result], timeout: float | None) -> Result:
        if self._shared is not None:
            return self._shared.call(request, self._timeout if timeout is None else timeout)
        method: Any = self.channel.unary_unary(f"/{BATCH_SERVICE}/{request.method}")
        data = self._call(method, b"".join(request.pieces), timeout)
        with readable():
            return request.read(Response(_RESPONSES[request.field], data))

    def stream(self) -> BatchStream:
        """Open a stream with several requests in flight. Use it in a `with` statement, or close it."""
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
        """Start games.

        Args:
            setup: The game and the number of players.
            seeds: (n,), the seeds of sampled chance, 0 … 2**64 - 1. None means explicit chance.
            game_numbers: (n,), the game numbers, 0 … 2**64 - 1. None means that all are 0.
            count: The number of games with explicit chance, 1 or more. Only without seeds.
            options: The game's options. Options that are not set have their defaults.
            columns: The columns to return in addition to states, actors and final.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Returns:
            The positions at the first decisions. With explicit chance, the positions at the first chance events or
            decisions.

        Raises:
            ChatiereError: INVALID_OPTION, INVALID_SEED, INVALID_BATCH (also if neither `seeds` nor `count` is given).
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

        Args:
            setup: The game and the number of players.
            states: (n, packed_size), the states.
            moves: (n,), one move for each state: at a decision the dense id of an action, at a chance event the
                outcome.
            columns: The columns to return in addition to states, actors and final.
            restart: How to start a new game when a game ends. None means that games that are over stay over.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Raises:
            ChatiereError: INVALID_OPTION (in `restart`).
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
        """Make `playouts` random playouts from each of the states (n, packed_size).

        Playout j of item i draws from the random stream (seed, first_game_number + playouts × i + j).
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
        """Evaluate every legal action of the deciding seat in each state (n, packed_size), by random playouts.

        An item fails if no seat has to decide in its state. The random numbers of item i are derived from the stream
        (seed, first_game_number + i) as described for EvaluateRequest.

        Args:
            setup: The game and the number of players.
            states: (n, packed_size), the states.
            worlds: The number of states to draw for each state, consistent with the knowledge of the deciding seat.
            playouts: The number of playouts after each legal action in each drawn state.
            seed: The seed, 0 … 2**64 - 1.
            first_game_number: The first game number, 0 … 2**64 - 1.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.
        """
        request = batch_requests.evaluate(setup, states, worlds, playouts, seed, first_game_number=first_game_number)
        return self._send(request, timeout)

    def score(self, setup: BatchSetup, states: States, *, timeout: float | None = None) -> Scores:
        """Return the scores of states (n, packed_size). The states may be at any point of a game."""
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
        """For each state, draw a state uniformly from all states consistent with a seat's knowledge.

        Args:
            setup: The game and the number of players.
            states: (n, packed_size), the states.
            seats: (n,), for each state the seat whose knowledge determines the draw.
            seed: The seed, 0 … 2**64 - 1. Item i is drawn from the stream (seed, first_game_number + i). A state with
                sampled chance continues this stream.
            first_game_number: The first game number, 0 … 2**64 - 1.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.
        """
        request = batch_requests.resample(setup, states, seats, seed, first_game_number=first_game_number)
        return self._send(request, timeout)

    def observe(self, setup: BatchSetup, states: States, seats: ArrayLike, *, timeout: float | None = None) -> Observed:
        """Return the observations of seats (n,) in states (n, packed_size)."""
        return self._send(batch_requests.observe(setup, states, seats), timeout)

    def pack(self, setup: BatchSetup, typed_states: Sequence[State], *, timeout: float | None = None) -> Packed:
        """Convert typed states to packed states (Convert)."""
        return self._send(batch_requests.pack(setup, typed_states), timeout)

    def unpack(self, setup: BatchSetup, states: States, *, timeout: float | None = None) -> Unpacked:
        """Convert packed states (n, packed_size) to typed states (Convert)."""
        return self._send(batch_requests.unpack(setup, states), timeout)
