"""The calls of BatchService as values: how each request is built of arrays, and how arrays are read from its answer.

`BatchClient` makes them one at a time; `BatchStream.submit` takes them as they are made here. Arrays of results are
read in place from the bytes that came: they are not writable.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import grpc
import numpy as np
from numpy.typing import ArrayLike, NDArray

from chatiere.clients.errors import ChatiereError, FieldViolation
from chatiere.v1 import batch_service_pb2
from chatiere.v1.batch_service_pb2 import Columns, ItemFault, PlayRequest, Restart, Table
from chatiere.v1.errors_pb2 import ErrorReason
from chatiere.v1.game_pb2 import Options, State

States = NDArray[np.uint8] | bytes
"""Packed states: uint8 (n, packed_size), or the bytes of such an array."""


class Faults(NamedTuple):
    """The items of a batch that failed; every other one went well. False where none failed."""

    reasons: NDArray[np.uint8]
    """uint8 (n,): 0 for an item that went well, else its chatiere.v1.ErrorReason."""
    items: Sequence[ItemFault]
    """The first failed items in words, 20 at most."""

    def __bool__(self) -> bool:
        """Whether any item failed."""
        return len(self.items) > 0

    def raise_first(self) -> None:
        """Raise the first as a ChatiereError, its place in the batch as metadata `item`; nothing if none failed."""
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


class Positions(NamedTuple):
    """Where n games stand; columns that were not asked for have no elements. See chatiere.v1.Positions."""

    states: NDArray[np.uint8]
    """uint8 (n, packed_size): the packed states, opaque."""
    actors: NDArray[np.int8]
    """int8 (n,): the seat that has to decide; -1: a chance event, -2: the game is over, -3: the state is broken."""
    legal_offsets: NDArray[np.uint32]
    """uint32 (n + 1,): item i has the legal ids from legal_offsets[i] to before legal_offsets[i + 1]."""
    legal_ids: NDArray[np.uint16]
    """uint16 (legal_offsets[n],): dense ids of the legal actions, or outcomes of the chance event, ascending."""
    weights: NDArray[np.uint32]
    """uint32 (legal_offsets[n],): weights of outcomes, 1 for actions; empty unless an item stands at a chance event."""
    totals: NDArray[np.int32]
    """int32 (n, players): each seat's score; of the game that ended, where one was restarted."""
    returns: NDArray[np.float32]
    """float32 (n, players): at the end of a game each of w winners players / w - 1, every other seat -1; 0 before."""
    final: NDArray[np.bool_]
    """bool (n,): whether the game is over, or was until it was restarted."""
    observations: NDArray[np.uint8]
    """uint8 (n, observation_length): what the seat that has to decide knows; 0 where nobody has to."""
    final_observations: NDArray[np.uint8]
    """uint8 (k, players, observation_length): what each seat knew at the end of the k games that were restarted."""


class Stepped(NamedTuple):
    """What came of the moves of a batch."""

    positions: Positions
    """Where the games stand."""
    faults: Faults
    """The items that failed."""


class Playouts(NamedTuple):
    """What came of k random playouts of each of n states."""

    mean_returns: NDArray[np.float64]
    """float64 (n, players): mean returns, as in Positions.returns."""
    wins: NDArray[np.uint32]
    """uint32 (n, players): in how many playouts the seat was among the winners."""
    moves: NDArray[np.uint64]
    """uint64 (n,): decisions made in the k playouts together."""
    faults: Faults
    """The items that failed."""


class Scores(NamedTuple):
    """The scores at n states."""

    totals: NDArray[np.int32]
    """int32 (n, players): each seat's score if the game stopped now."""
    final: NDArray[np.bool_]
    """bool (n,): whether the game is over."""
    ranks: NDArray[np.uint8]
    """uint8 (n, players): where the game is over each seat's rank, 1 for the winners; else 0."""
    returns: NDArray[np.float32]
    """float32 (n, players): as in Positions."""
    faults: Faults
    """The items that failed."""


class Resampled(NamedTuple):
    """n states that were drawn."""

    states: NDArray[np.uint8]
    """uint8 (n, packed_size); that of a failed item is as it was sent."""
    faults: Faults
    """The items that failed."""


class Observed(NamedTuple):
    """What seats know at n states."""

    observations: NDArray[np.uint8]
    """uint8 (n, observation_length), 0 for a failed item; GameInfo.observation has the layout."""
    faults: Faults
    """The items that failed."""


class Packed(NamedTuple):
    """n typed states, packed."""

    states: NDArray[np.uint8]
    """uint8 (n, packed_size), 0 for a failed item."""
    faults: Faults
    """The items that failed."""


class Unpacked(NamedTuple):
    """n packed states, typed."""

    typed_states: Sequence[State]
    """n states; one without a game for a failed item."""
    faults: Faults
    """The items that failed."""


Result = TypeVar("Result")
Element = TypeVar("Element", bound=np.generic)


class BatchCall(NamedTuple, Generic[Result]):
    """A call to be made: the method, its request as it goes on the stream, and how its answer is read."""

    method: str
    play: PlayRequest
    read: Callable[[Any], Result]

    @property
    def field(self) -> str:
        """The name of the call in PlayRequest and PlayResponse."""
        return self.play.WhichOneof("request") or ""


def new_games(
    table: Table,
    seeds: ArrayLike | None = None,
    game_numbers: ArrayLike | None = None,
    *,
    count: int = 0,
    options: Options | None = None,
    columns: Columns | None = None,
) -> BatchCall[Positions]:
    """See BatchClient.new_games."""
    fields = {
        "table": table,
        "options": options,
        "seeds": _column(seeds, np.uint64),
        "game_numbers": _column(game_numbers, np.uint64),
        "count": count,
        "columns": columns,
    }
    return BatchCall(
        "NewGames", PlayRequest(new_games=fields), lambda response: _positions(response.positions, table.players)
    )


def step(
    table: Table,
    states: States,
    moves: ArrayLike,
    *,
    columns: Columns | None = None,
    restart: Restart | None = None,
) -> BatchCall[Stepped]:
    """See BatchClient.step."""
    fields = {
        "table": table,
        "states": _column(states, np.uint8),
        "moves": _column(moves, np.uint16),
        "columns": columns,
        "restart": restart,
    }

    def read(response: batch_service_pb2.StepResponse) -> Stepped:
        positions = _positions(response.positions, table.players)
        return Stepped(positions, _faults(response.faults, len(positions.actors)))

    return BatchCall("Step", PlayRequest(step=fields), read)


def playout(table: Table, states: States, count: int, seed: int, *, first_game_number: int = 0) -> BatchCall[Playouts]:
    """See BatchClient.playout."""
    fields = {
        "table": table,
        "states": _column(states, np.uint8),
        "count": count,
        "seed": seed,
        "first_game_number": first_game_number,
    }
    return BatchCall("Playout", PlayRequest(playout=fields), _playouts)


def score(table: Table, states: States) -> BatchCall[Scores]:
    """See BatchClient.score."""
    fields = {"table": table, "states": _column(states, np.uint8)}
    return BatchCall("Score", PlayRequest(score=fields), _scores)


def resample(
    table: Table, states: States, seats: ArrayLike, seed: int, *, first_game_number: int = 0
) -> BatchCall[Resampled]:
    """See BatchClient.resample."""
    seats = _column(seats, np.uint8)
    fields = {
        "table": table,
        "states": _column(states, np.uint8),
        "seats": seats,
        "seed": seed,
        "first_game_number": first_game_number,
    }

    def read(response: batch_service_pb2.BatchServiceResampleResponse) -> Resampled:
        return Resampled(_rows(response.states, np.uint8, len(seats)), _faults(response.faults, len(seats)))

    return BatchCall("Resample", PlayRequest(resample=fields), read)


def observe(table: Table, states: States, seats: ArrayLike) -> BatchCall[Observed]:
    """See BatchClient.observe."""
    seats = _column(seats, np.uint8)
    fields = {"table": table, "states": _column(states, np.uint8), "seats": seats}

    def read(response: batch_service_pb2.ObserveResponse) -> Observed:
        return Observed(_rows(response.observations, np.uint8, len(seats)), _faults(response.faults, len(seats)))

    return BatchCall("Observe", PlayRequest(observe=fields), read)


def pack(table: Table, typed_states: Sequence[State]) -> BatchCall[Packed]:
    """See BatchClient.pack."""
    fields = {"table": table, "typed_states": typed_states}
    count = len(typed_states)

    def read(response: batch_service_pb2.ConvertResponse) -> Packed:
        return Packed(_rows(response.states, np.uint8, count), _faults(response.faults, count))

    return BatchCall("Convert", PlayRequest(convert=fields), read)


def unpack(table: Table, states: States) -> BatchCall[Unpacked]:
    """See BatchClient.unpack."""
    fields = {"table": table, "states": _column(states, np.uint8)}

    def read(response: batch_service_pb2.ConvertResponse) -> Unpacked:
        return Unpacked(response.typed_states, _faults(response.faults, len(response.typed_states)))

    return BatchCall("Convert", PlayRequest(convert=fields), read)


def reason_name(reason: int) -> str:
    """The name of an ErrorReason without its prefix, such as "ILLEGAL_ACTION"."""
    return ErrorReason.Name(reason).removeprefix("ERROR_REASON_")


def _column(values: ArrayLike | None, dtype: type[np.integer[Any]]) -> bytes:
    # Values that the column's type cannot hold are refused, as protobuf refuses numbers that a field cannot hold.
    if values is None:
        return b""
    if isinstance(values, bytes):
        return values
    array = np.asarray(values)
    if array.dtype != dtype:
        if array.size == 0:
            return b""
        limits = np.iinfo(dtype)
        # Integers that no type of NumPy holds make an array of objects.
        if array.dtype.kind not in "iu" or array.min() < 0 or array.max() > limits.max:
            raise ValueError(f"the column takes integers from 0 to {limits.max}")
        array = array.astype(dtype)
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return _whole_of(array) or array.tobytes()


def _whole_of(array: NDArray[Any]) -> bytes | None:
    # The bytes that an array was read in place from, as the states of an answer are: to be sent again without a copy.
    owner: object = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, bytes) and len(owner) == array.nbytes and array.flags.c_contiguous:
        return owner
    return None


def _array(column: bytes, dtype: type[Element]) -> NDArray[Element]:
    return np.frombuffer(column, np.dtype(dtype).newbyteorder("<"))


def _rows(column: bytes, dtype: type[Element], count: int) -> NDArray[Element]:
    array = _array(column, dtype)
    return array.reshape(count, -1) if array.size else array.reshape(0, 0)


def _faults(faults: batch_service_pb2.Faults, count: int) -> Faults:
    reasons = _array(faults.reasons, np.uint8) if faults.reasons else np.zeros(count, np.uint8)
    return Faults(reasons, faults.items)


def _positions(positions: batch_service_pb2.Positions, players: int) -> Positions:
    actors = _array(positions.actors, np.int8)
    observations = _rows(positions.observations, np.uint8, len(actors))
    final_observations = _array(positions.final_observations, np.uint8)
    return Positions(
        states=_rows(positions.states, np.uint8, len(actors)),
        actors=actors,
        legal_offsets=_array(positions.legal_offsets, np.uint32),
        legal_ids=_array(positions.legal_ids, np.uint16),
        weights=_array(positions.weights, np.uint32),
        totals=_rows(positions.totals, np.int32, len(actors)),
        returns=_rows(positions.returns, np.float32, len(actors)),
        final=_array(positions.final, np.bool_),
        observations=observations,
        final_observations=final_observations.reshape(-1, players, max(observations.shape[1], 1)),
    )


def _playouts(response: batch_service_pb2.PlayoutResponse) -> Playouts:
    moves = _array(response.moves, np.uint64)
    return Playouts(
        mean_returns=_rows(response.mean_returns, np.float64, len(moves)),
        wins=_rows(response.wins, np.uint32, len(moves)),
        moves=moves,
        faults=_faults(response.faults, len(moves)),
    )


def _scores(response: batch_service_pb2.ScoreResponse) -> Scores:
    final = _array(response.final, np.bool_)
    return Scores(
        totals=_rows(response.totals, np.int32, len(final)),
        final=final,
        ranks=_rows(response.ranks, np.uint8, len(final)),
        returns=_rows(response.returns, np.float32, len(final)),
        faults=_faults(response.faults, len(final)),
    )
