"""Functions that build requests to BatchService from arrays, and read the responses into arrays.

`BatchClient` sends one request at a time. `BatchStream.submit` accepts the requests that these functions return. Arrays
in results are read-only. An array is a view into the response if its column is aligned there. Otherwise, the array is a
copy.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, SupportsIndex, TypeVar

import grpc
import numpy as np
from numpy.typing import ArrayLike, NDArray

from chatiere.clients.calls.batch_messages import Response, put
from chatiere.clients.calls.errors import ChatiereError, FieldViolation
from chatiere.engine.core.integers import column_of, unsigned
from chatiere.engine.wire import Buffer
from chatiere.envs.batch import Positions
from chatiere.envs.batch_env import no_moves
from chatiere.v1 import batch_service_pb2
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, ItemFault, Restart
from chatiere.v1.errors_pb2 import ErrorReason
from chatiere.v1.game_pb2 import Options, State

States = NDArray[np.uint8] | bytes
"""Packed states: uint8 (n, packed_size), or the bytes of such an array."""


class Faults(NamedTuple):
    """The failed items of a batch. A Faults object is true if any item failed."""

    reasons: NDArray[np.uint8]
    """uint8 (n,): the chatiere.v1.ErrorReason of each failed item; 0 for all other items."""
    items: Sequence[ItemFault]
    """The first failed items, at most 20, with their error messages."""

    def __bool__(self) -> bool:
        """True if any item failed."""
        return len(self.items) > 0

    def raise_first(self) -> None:
        """Raise the first fault, if any, as a ChatiereError whose metadata `item` is the item's index in the batch."""
        if not self.items:
            return
        fault = self.items[0]
        metadata = {"item": str(fault.item), **({"rule": fault.rule} if fault.rule else {})}
        violations = (FieldViolation(fault.field, fault.message),) if fault.field else ()
        raise ChatiereError(
            grpc.StatusCode.INVALID_ARGUMENT,
            f"item {fault.item}: {fault.message}",
            reason_name(fault.reason),
            metadata,
            violations,
        )


class Stepped(NamedTuple):
    """The positions after the moves of a batch."""

    positions: Positions
    """The positions of the games."""
    faults: Faults
    """The items that failed."""


class Playouts(NamedTuple):
    """The results of random playouts: k playouts from each of n states."""

    mean_returns: NDArray[np.float64]
    """float64 (n, players): the mean of Positions.returns."""
    wins: NDArray[np.uint32]
    """uint32 (n, players): the number of playouts in which the seat was among the winners."""
    decisions: NDArray[np.uint64]
    """uint64 (n,): the number of decisions in all k playouts."""
    faults: Faults
    """The items that failed."""


class Evaluation(NamedTuple):
    """The values of the legal actions in n states for the deciding seats, estimated by random playouts."""

    actors: NDArray[np.int8]
    """int8 (n,): the deciding seats. For failed items, see Positions.actors."""
    legal_offsets: NDArray[np.uint32]
    """uint32 (n + 1,): the legal ids of item i are legal_ids[legal_offsets[i]:legal_offsets[i + 1]]."""
    legal_ids: NDArray[np.uint16]
    """uint16 (legal_offsets[n],): the dense ids of each item's legal actions, ascending. Empty for an item in which no
    seat has to decide."""
    mean_returns: NDArray[np.float64]
    """float64 (legal_offsets[n],): the deciding seat's mean Positions.returns after the action; 0 for a failed item."""
    counts: NDArray[np.uint32]
    """uint32 (legal_offsets[n],): the number of playouts after the action; 0 for a failed item."""
    faults: Faults
    """The items that failed."""


class Scores(NamedTuple):
    """The scores of n states."""

    totals: NDArray[np.int32]
    """int32 (n, players): each seat's score, as if the game ended now."""
    final: NDArray[np.bool_]
    """bool (n,): True if the game is over."""
    ranks: NDArray[np.uint8]
    """uint8 (n, players): each seat's rank, 1 for the winners; 0 unless the game is over."""
    returns: NDArray[np.float32]
    """float32 (n, players): see Positions.returns."""
    faults: Faults
    """The items that failed."""


class Resampled(NamedTuple):
    """n resampled states."""

    states: NDArray[np.uint8]
    """uint8 (n, packed_size): packed states. The state of a failed item is unchanged."""
    faults: Faults
    """The items that failed."""


class Observed(NamedTuple):
    """The observations in n states."""

    observations: NDArray[np.uint8]
    """uint8 (n, observation_length): the observations, in the layout of GameInfo.observation. 0 for a failed item."""
    faults: Faults
    """The items that failed."""


class Packed(NamedTuple):
    """The packed form of n typed states."""

    states: NDArray[np.uint8]
    """uint8 (n, packed_size): 0 for a failed item."""
    faults: Faults
    """The items that failed."""


class Unpacked(NamedTuple):
    """The typed form of n packed states."""

    typed_states: Sequence[State]
    """n states. The state of a failed item has no game."""
    faults: Faults
    """The items that failed."""


Result = TypeVar("Result")
Element = TypeVar("Element", bound=np.generic)


class BatchRequest(NamedTuple, Generic[Result]):
    """A request to be sent: its method, its content, and the function that reads the response."""

    method: str
    field: str
    """The name of the request's field in PlayRequest and of the response's field in PlayResponse."""
    pieces: list[Buffer]
    """The request in wire format, as pieces to be joined."""
    read: Callable[[Response], Result]
    keep: int = 0
    """The number under which a stream keeps the resulting states; see PlayRequest.keep."""
    take: int = 0
    """The number of the kept batch that provides the states; see PlayRequest.take."""
    rows: bytes = b""
    """The rows of the kept batch; see PlayRequest.rows."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments with which pickle makes the request again."""
        return BatchRequest, tuple(self._replace(pieces=[b"".join(self.pieces)]))

    @property
    def kept_step(self) -> tuple[Buffer, bytes] | None:
        """The column of moves and the other fields of a step that takes a batch and keeps it again; None for others."""
        if self.field != "step" or self.take != self.keep or not self.take or self.rows or len(self.pieces) != 3:
            return None
        _, moves, rest = self.pieces
        return moves, bytes(rest)


def new_games(
    setup: BatchSetup,
    seeds: ArrayLike | None = None,
    game_numbers: ArrayLike | None = None,
    *,
    count: SupportsIndex | None = None,
    options: Options | None = None,
    columns: Columns | None = None,
) -> BatchRequest[Positions]:
    """See BatchClient.new_games."""
    games = None if count is None else unsigned("count", count, 32)
    message = batch_service_pb2.NewGamesRequest(setup=setup, options=options, count=games, columns=columns)
    numbered = {"seeds": seeds, "game_numbers": game_numbers}
    pieces = put(message, {name: column_of(name, each, 8) for name, each in numbered.items() if each is not None})
    return BatchRequest("NewGames", "new_games", pieces, partial(_read_begun, setup.players))


def step(
    setup: BatchSetup,
    states: States,
    moves: ArrayLike,
    *,
    columns: Columns | None = None,
    restart: Restart | None = None,
) -> BatchRequest[Stepped]:
    """See BatchClient.step."""
    message = batch_service_pb2.StepRequest(setup=setup, columns=columns, restart=restart)
    pieces = put(message, {"states": _states(states), "moves": column_of("moves", moves, 2)})
    return BatchRequest("Step", "step", pieces, partial(_read_stepped, setup.players))


def positions(
    setup: BatchSetup, states: NDArray[np.uint8], *, columns: Columns | None = None
) -> BatchRequest[Positions]:
    """Return a request for the positions of states, as a step with moves that are no actions.

    Args:
        setup: The game and the number of players.
        states: (n, packed_size), the states, in all of which a seat has to decide.
        columns: The columns to return in addition to states, actors and final.
    """
    request = step(setup, states, no_moves(len(states)), columns=columns)
    return BatchRequest(request.method, request.field, request.pieces, partial(_read_begun, setup.players))


def on_stream(
    request: BatchRequest[Result],
    *,
    keep: SupportsIndex = 0,
    take: SupportsIndex = 0,
    rows: NDArray[np.integer[Any]] | None = None,
) -> BatchRequest[Result]:
    """Return the request for a stream whose states the service keeps; see PlayRequest.

    Args:
        request: The request. If `take` is given, it must have been built with b"" as the states.
        keep: The number under which to keep the resulting batch. 0 means that the batch is not kept.
        take: The number of the kept batch that provides the states. 0 means that the request contains the states.
        rows: (m,), the rows of the kept batch to use, in ascending order. None means all rows.
    """
    return request._replace(
        keep=unsigned("keep", keep, 64),
        take=unsigned("take", take, 64),
        rows=b"" if rows is None else rows.astype("<u4").tobytes(),
    )


def playout(
    setup: BatchSetup,
    states: States,
    playouts: SupportsIndex,
    seed: SupportsIndex,
    *,
    first_game_number: SupportsIndex = 0,
) -> BatchRequest[Playouts]:
    """See BatchClient.playout."""
    message = batch_service_pb2.PlayoutRequest(
        setup=setup,
        playouts=unsigned("playouts", playouts, 32),
        seed=unsigned("seed", seed, 64),
        first_game_number=unsigned("first_game_number", first_game_number, 64),
    )
    return BatchRequest("Playout", "playout", put(message, {"states": _states(states)}), _playouts)


def evaluate(
    setup: BatchSetup,
    states: States,
    worlds: SupportsIndex,
    playouts: SupportsIndex,
    seed: SupportsIndex,
    *,
    first_game_number: SupportsIndex = 0,
) -> BatchRequest[Evaluation]:
    """See BatchClient.evaluate."""
    message = batch_service_pb2.EvaluateRequest(
        setup=setup,
        worlds=unsigned("worlds", worlds, 32),
        playouts=unsigned("playouts", playouts, 32),
        seed=unsigned("seed", seed, 64),
        first_game_number=unsigned("first_game_number", first_game_number, 64),
    )
    return BatchRequest("Evaluate", "evaluate", put(message, {"states": _states(states)}), _evaluation)


def score(setup: BatchSetup, states: States) -> BatchRequest[Scores]:
    """See BatchClient.score."""
    pieces = put(batch_service_pb2.ScoreRequest(setup=setup), {"states": _states(states)})
    return BatchRequest("Score", "score", pieces, _scores)


def resample(
    setup: BatchSetup, states: States, seats: ArrayLike, seed: SupportsIndex, *, first_game_number: SupportsIndex = 0
) -> BatchRequest[Resampled]:
    """See BatchClient.resample."""
    message = batch_service_pb2.ResampleStatesRequest(
        setup=setup,
        seed=unsigned("seed", seed, 64),
        first_game_number=unsigned("first_game_number", first_game_number, 64),
    )
    seat_column = column_of("seats", seats, 1)
    count = len(seat_column)
    pieces = put(message, {"states": _states(states), "seats": seat_column})

    def read(response: Response) -> Resampled:
        return Resampled(_rows(response.column("states"), np.uint8, count), _faults(response, count))

    return BatchRequest("ResampleStates", "resample_states", pieces, read)


def observe(setup: BatchSetup, states: States, seats: ArrayLike) -> BatchRequest[Observed]:
    """See BatchClient.observe."""
    seat_column = column_of("seats", seats, 1)
    count = len(seat_column)
    pieces = put(batch_service_pb2.ObserveRequest(setup=setup), {"states": _states(states), "seats": seat_column})

    def read(response: Response) -> Observed:
        return Observed(_rows(response.column("observations"), np.uint8, count), _faults(response, count))

    return BatchRequest("Observe", "observe", pieces, read)


def pack(setup: BatchSetup, typed_states: Sequence[State]) -> BatchRequest[Packed]:
    """See BatchClient.pack."""
    pieces = put(batch_service_pb2.ConvertRequest(setup=setup, typed_states=typed_states), {})
    count = len(typed_states)

    def read(response: Response) -> Packed:
        return Packed(_rows(response.column("states"), np.uint8, count), _faults(response, count))

    return BatchRequest("Convert", "convert", pieces, read)


def unpack(setup: BatchSetup, states: States) -> BatchRequest[Unpacked]:
    """See BatchClient.unpack."""
    pieces = put(batch_service_pb2.ConvertRequest(setup=setup), {"states": _states(states)})

    def read(response: Response) -> Unpacked:
        typed_states = response.whole().typed_states
        return Unpacked(typed_states, _faults(response, len(typed_states)))

    return BatchRequest("Convert", "convert", pieces, read)


def reason_name(reason: int) -> str:
    """Return the name of an ErrorReason without its prefix, such as "ILLEGAL_ACTION"."""
    return ErrorReason.Name(reason).removeprefix("ERROR_REASON_")


def _states(states: States) -> Buffer:
    # The service checks the length of the states.
    return column_of("states", states if isinstance(states, bytes) else np.asarray(states).reshape(-1), 1)


def _array(column: Buffer, dtype: type[Element]) -> NDArray[Element]:
    array = np.frombuffer(column, np.dtype(dtype).newbyteorder("<"))
    if array.flags.aligned:
        return array
    # Code that receives arrays may rely on their alignment.
    aligned = array.copy()
    aligned.flags.writeable = False
    return aligned


def _rows(column: Buffer, dtype: type[Element], count: int) -> NDArray[Element]:
    array = _array(column, dtype)
    return array.reshape(count, -1) if array.size else array.reshape(0, 0)


def _faults(response: Response, count: int) -> Faults:
    faults = response.message("faults")
    reasons = _array(faults.reasons, np.uint8) if faults.reasons else np.zeros(count, np.uint8)
    return Faults(reasons, faults.items)


def _read_begun(players: int, response: Response) -> Positions:
    return _positions(response.inner("positions"), players)


def _read_stepped(players: int, response: Response) -> Stepped:
    positions = _positions(response.inner("positions"), players)
    return Stepped(positions, _faults(response, len(positions.actors)))


def _positions(positions: Response, players: int) -> Positions:
    column = positions.column
    actors = _array(column("actors"), np.int8)
    observations = _rows(column("observations"), np.uint8, len(actors))
    final_observations = _array(column("final_observations"), np.uint8)
    return Positions(
        states=_rows(column("states"), np.uint8, len(actors)),
        actors=actors,
        legal_offsets=_array(column("legal_offsets"), np.uint32),
        legal_ids=_array(column("legal_ids"), np.uint16),
        weights=_array(column("weights"), np.uint32),
        totals=_rows(column("totals"), np.int32, len(actors)),
        returns=_rows(column("returns"), np.float32, len(actors)),
        final=_array(column("final"), np.bool_),
        observations=observations,
        final_observations=final_observations.reshape(-1, players, max(observations.shape[1], 1)),
    )


def _playouts(response: Response) -> Playouts:
    decisions = _array(response.column("decisions"), np.uint64)
    return Playouts(
        mean_returns=_rows(response.column("mean_returns"), np.float64, len(decisions)),
        wins=_rows(response.column("wins"), np.uint32, len(decisions)),
        decisions=decisions,
        faults=_faults(response, len(decisions)),
    )


def _evaluation(response: Response) -> Evaluation:
    actors = _array(response.column("actors"), np.int8)
    return Evaluation(
        actors=actors,
        legal_offsets=_array(response.column("legal_offsets"), np.uint32),
        legal_ids=_array(response.column("legal_ids"), np.uint16),
        mean_returns=_array(response.column("mean_returns"), np.float64),
        counts=_array(response.column("counts"), np.uint32),
        faults=_faults(response, len(actors)),
    )


def _scores(response: Response) -> Scores:
    final = _array(response.column("final"), np.bool_)
    return Scores(
        totals=_rows(response.column("totals"), np.int32, len(final)),
        final=final,
        ranks=_rows(response.column("ranks"), np.uint8, len(final)),
        returns=_rows(response.column("returns"), np.float32, len(final)),
        faults=_faults(response, len(final)),
    )
