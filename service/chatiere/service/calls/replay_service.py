"""The method Replay of GameService. It may take a long time, because it plays a whole game.

It is independent of gRPC. It raises EngineError and Refusal with field paths from the request, DecodeError for a
request that cannot be parsed, and Cancelled when it is cancelled.
"""

from collections.abc import Callable

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Position, Reason
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.messages import Messages
from chatiere.engine.core.record import Kind
from chatiere.engine.wire import Buffer, Reader, written_in
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls.game_service import messages_for
from chatiere.service.calls.record_requests import MAX_BYTES, make_move, moves_of, read_range, read_record
from chatiere.service.calls.requests import Opener, numbers_of
from chatiere.v1 import game_service_pb2 as pb

_open, _REQUEST = Opener(pb.ReplayRequest).open, numbers_of(pb.ReplayRequest)
_POSITIONS = pb.ReplayResponse.POSITIONS_FIELD_NUMBER
# A function that reserves a number of bytes for a call, in place of the previous reservation. Raises Refusal.
Hold = Callable[[int], None]
# The number of copies of a response in memory while it is assembled, and the number of bytes by which a reservation
# exceeds the current need.
_COPIES, _STEP = 2, 256 * 1024


class ReplayService:
    """The method Replay, within the limits of a server's settings."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Create the service with the limits in `settings`. `metrics` count moves."""
        self._max_bytes = min(settings.max_answer_bytes, MAX_BYTES)
        self._moves = {game: metrics.moves_applied.labels(game.name) for game in engine.games()}

    def replay(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        """Handle a ReplayRequest: return the ReplayResponse in pieces to be joined. `hold` reserves memory."""
        request = _open(bytes(data))
        record = read_record(request, _REQUEST)
        first, last = read_range(request, _REQUEST, len(record.actions), record.game)
        include = request.inner(_REQUEST.include)
        # Do not collect events before the range.
        events = EventLog() if first == 0 else None
        position = record.begin(events)
        response = _Response(messages_for(include, position), include, self._max_bytes, hold)
        ply = made = 0
        try:
            for kind, index, move in moves_of(record, position):
                cancellation.check()
                if kind is Kind.ACTION:
                    if events is not None:
                        response.add(position, events, ply)
                    if ply == last:
                        return response.pieces
                    ply += 1
                    events = EventLog() if ply >= first else None
                # `ply` already counts this action.
                make_move(position, kind, index, move, ply - (kind is Kind.ACTION), events)
                made += 1
        finally:
            self._moves[record.game].inc(made)
        assert events is not None
        response.add(position, events, ply)
        return response.pieces


class _Response:
    """A ReplayResponse that is being assembled."""

    def __init__(self, messages: Messages, include: Reader, max_bytes: int, hold: Hold) -> None:
        """Create an empty response for the parts of positions that `include` selects, of at most `max_bytes` bytes."""
        self.pieces: list[Buffer] = []
        self._messages, self._include, self._max_bytes, self._hold = messages, include, max_bytes, hold
        self._size = self._held = 0

    def add(self, position: Position, events: EventLog, ply: int) -> None:
        """Add a position. Raises EngineError (BATCH_TOO_LARGE), and Refusal if memory is short."""
        piece = written_in(_POSITIONS, self._messages.put_position, position, events, self._include)
        self._size += len(piece)
        if self._size > self._max_bytes:
            raise EngineError(
                Reason.BATCH_TOO_LARGE,
                f"the positions up to ply {ply} take {self._size} bytes, and responses are limited to "
                f"{self._max_bytes}: request a shorter range",
                field="to_ply",
                metadata={
                    "game": position.game.name,
                    "limit": str(self._max_bytes),
                    "asked": str(self._size),
                    "last_ply": str(ply - 1),
                },
            )
        if _COPIES * self._size > self._held:
            self._held = _COPIES * self._size + _STEP
            self._hold(self._held)
        self.pieces.append(piece)
