"""The handler of the requests on a BatchService stream, and the states that the stream keeps between requests."""

from __future__ import annotations

from itertools import pairwise

from google.protobuf.message import Message

from chatiere.engine import EngineError, Reason
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.wire import Buffer, cut
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.calls.batch_messages import Kept, KeptStep, Request, StepColumns, put, read, read_whole
from chatiere.service.calls.batch_service import BatchService, Hold, hold_nothing, put_step
from chatiere.service.calls.requests import MAX_ELEMENTS, parse, too_many_elements
from chatiere.service.guards.memory import KeptBatches
from chatiere.v1 import batch_service_pb2 as pb

# The maximum number of batches that a stream keeps.
_MAX_KEPT = 64
# The names of requests that create new states.
_MOVING = ("new_games", "step")
# The approximate memory of a kept batch in addition to its states, in bytes.
_OF_BATCH = 1024
# For the number of each method's field in PlayRequest: the name of the field, and the type of the request.
_METHODS: dict[int, tuple[str, type[Message]]] = {
    field.number: (field.name, getattr(pb, field.message_type.name))
    for field in pb.PlayRequest.DESCRIPTOR.oneofs_by_name["request"].fields
    if field.message_type
}


class _BatchError(EngineError):
    """An error in the fields of PlayRequest itself."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(Reason.INVALID_BATCH, message, field=field)


def _lost(number: int) -> _BatchError:
    return _BatchError("take", f"the stream keeps no batch {number}")


class PlayStream:
    """The handler of a stream's requests, one at a time, with the batches that the stream keeps."""

    def __init__(self, service: BatchService, kept: KeptBatches[Kept]) -> None:
        """Create a handler. It stores the batches in `kept`, and `kept` may drop them at any time."""
        self._service = service
        self._kept = kept

    def answer(self, data: Buffer | KeptStep, cancellation: Cancellation, hold: Hold = hold_nothing) -> list[Buffer]:
        """Handle a PlayRequest. A refusal is also returned as a PlayResponse.

        Args:
            data: The request in wire format, or a KeptStep.
            cancellation: Cancels the work.
            hold: Reserves memory for the response.

        Returns:
            The PlayResponse in wire format, as pieces to be joined; StepColumns for a KeptStep.
        """
        if isinstance(data, KeptStep):
            return self._step(data, cancellation, hold)
        message, name, request = self._read(data)
        try:
            if name is None or request is None:
                raise Refusal(ServiceReason.MISSING_FIELD, "the message has no request", field="request", metadata={})
            if message.keep or message.take:
                request = self._take(message, name, request)
            pieces = put(pb.PlayResponse, [(name, self._service.handle(name, request, cancellation, hold))])
            if request.kept is not None:
                self._keep(message, request.kept)
        except _BatchError as error:
            return _refused(message.tag, error, None)
        except (EngineError, Refusal) as error:
            return _refused(message.tag, error, name)
        return [pb.PlayResponse(tag=message.tag).SerializeToString(), *pieces]

    def _step(self, step: KeptStep, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        kept = self._kept.get(step.number)
        try:
            if kept is None:
                raise _lost(step.number)
            # The new states replace the old ones in `kept`, and have the same size.
            positions, faults = self._service.step_of(step.rest, kept.states, step.moves, kept, cancellation, hold)
        except _BatchError as error:
            return _refused(step.tag, error, None)
        except (EngineError, Refusal) as error:
            return _refused(step.tag, error, "step")
        if not faults.reasons:
            columns = StepColumns((b"", *positions[1:]))
            columns.tag = step.tag
            return columns
        pieces = put(pb.PlayResponse, [("step", put_step(positions, faults, kept))])
        return [pb.PlayResponse(tag=step.tag).SerializeToString(), *pieces]

    def _read(self, data: Buffer) -> tuple[pb.PlayRequest, str | None, Request | None]:
        # Return the PlayRequest without the inner request, and the name and the request of the method.
        try:
            rest, found = cut(data, _METHODS, MAX_ELEMENTS)
        except OverflowError as error:
            raise too_many_elements(MAX_ELEMENTS) from error
        except ValueError:
            # Let protobuf report the error below.
            found = {}
        if len(found) == 1:
            ((number, inner),) = found.items()
            name, kind = _METHODS[number]
            return parse(pb.PlayRequest, rest), name, read(kind, inner, self._service.max_fields)
        message = parse(pb.PlayRequest, data)
        name = message.WhichOneof("request")
        return message, name, None if name is None else read_whole(getattr(message, name))

    # Batches

    def _take(self, message: pb.PlayRequest, name: str, request: Request) -> Request:
        # Return the request, with the states that it uses from the stream, and the batch that the stream will keep.
        columns, taken = request.columns, self._kept.get(message.take)
        if message.take and taken is None:
            raise _lost(message.take)
        numbers = self._kept.batches.keys() - {message.take, message.keep}
        if message.keep and len(numbers) >= _MAX_KEPT:
            raise _BatchError("keep", f"a stream keeps at most {_MAX_KEPT} batches")
        if taken is None:
            if message.rows:
                raise _BatchError("rows", "rows require `take`")
            states = b"" if name in _MOVING else bytes(columns["states"])
            if name not in _MOVING and not states:
                raise _BatchError("keep", "the request has no packed states to keep")
            return request._replace(kept=Kept(None, states, keeps=True))
        if columns.get("states") != b"":
            raise _BatchError("take", "take is only for requests that need states, and that leave their states empty")
        states = columns["states"] = _rows_of(taken, message.rows) if message.rows else taken.states
        return request._replace(kept=Kept(taken.table, states, keeps=message.keep > 0))

    def _keep(self, message: pb.PlayRequest, kept: Kept) -> None:
        # Raises Refusal if the batch does not fit into the memory. All kept batches are then unchanged.
        self._kept.replace(message.take, message.keep, kept, len(kept.states) + _OF_BATCH)


def _rows_of(batch: Kept, column: bytes) -> bytes:
    # Return the states of the given rows.
    if len(column) % 4:
        raise _BatchError("rows", "rows must be uint32 (m,)")
    assert batch.table is not None
    rows, size = memoryview(column).cast("I"), batch.table.game.packed_size
    if rows[-1] >= len(batch.states) // size or any(one >= other for one, other in pairwise(rows)):
        raise _BatchError("rows", f"rows must be in ascending order, and below {len(batch.states) // size}")
    return b"".join([batch.states[row * size : (row + 1) * size] for row in rows])


def _refused(tag: int, error: EngineError | Refusal, name: str | None) -> list[Buffer]:
    # `name`: the method's field in PlayRequest. The path of the error begins with it. None for an error in the fields
    # of PlayRequest itself.
    metadata = error.metadata | ({"rule": error.rule} if error.rule else {})
    refusal = pb.RequestRefusal(
        reason=f"ERROR_REASON_{error.reason.value}",
        message=error.message,
        field=f"{name}.{error.field}" if name and error.field else error.field,
        metadata=metadata,
    )
    return [pb.PlayResponse(tag=tag, refusal=refusal).SerializeToString()]
