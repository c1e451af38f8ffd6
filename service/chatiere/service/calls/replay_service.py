"""Replay, a method of GameService that may take long: it plays a whole game.

It knows nothing of gRPC. It raises EngineError and Refusal with field paths that begin in the request, DecodeError for
a request that cannot be parsed, and Cancelled once its cancellation says so.
"""

from collections.abc import Callable, Iterator

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Game, Position, Reason
from chatiere.engine.core.batch import Cancellation, Cancelled
from chatiere.engine.core.messages import Messages
from chatiere.engine.core.record import (
    Kind,
    Record,
    check_date,
    check_lengths,
    check_names,
)
from chatiere.engine.wire import Buffer, Reader, written_in
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls import conversion
from chatiere.service.calls.game_service import messages_for
from chatiere.service.calls.requests import numbers_of, opener
from chatiere.v1 import game_service_pb2 as pb
from chatiere.v1 import record_pb2

_open, _REQUEST = opener(pb.ReplayRequest), numbers_of(pb.ReplayRequest)
_RECORD = numbers_of(record_pb2.GameRecord)
_STREAM = numbers_of(record_pb2.RecordStream)
_OUTCOMES = record_pb2.RecordOutcomes.OUTCOMES_FIELD_NUMBER
_CHANCE = 1 << _RECORD.stream | 1 << _RECORD.outcomes
_POSITIONS = pb.ReplayResponse.POSITIONS_FIELD_NUMBER
# Reserves a number of bytes for a call, replacing its earlier reservation. Raises Refusal.
Hold = Callable[[int], None]
# A response is in memory twice while it is assembled; memory is reserved in steps of so many bytes.
_COPIES, _STEP = 2, 256 * 1024
# gRPC's clients accept 4 MiB unless told otherwise.
_MAX_BYTES = 4 * 1024 * 1024


class ReplayService:
    """Replay, within the limits of a server's settings."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Take limits from `settings`; count moves in `metrics`."""
        self._max_bytes = min(settings.max_answer_bytes, _MAX_BYTES)
        self._moves = {game: metrics.moves_applied.labels(game.name) for game in engine.games()}

    def replay(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        """Play a record again: ReplayRequest → ReplayResponse, in pieces to be joined.

        `hold`: reserves memory for the response.
        """
        request = _open(bytes(data))
        record = _read_record(request)
        first, last = _read_range(request, len(record.actions), record.game)
        include = request.inner(_REQUEST.include)
        # Nobody watches what comes before the stretch.
        events = EventLog() if first == 0 else None
        position = record.begin(events)
        response = _Response(messages_for(include, position), include, self._max_bytes, hold)
        ply = made = 0
        try:
            for kind, index, move in _below_record(record.moves(position), record.game):
                if cancellation.cancelled:
                    raise Cancelled
                if kind is Kind.ACTION:
                    if events is not None:
                        response.add(position, events, ply)
                    if ply == last:
                        return response.pieces
                    ply += 1
                    events = EventLog() if ply >= first else None
                try:
                    position.apply(move, events)
                except EngineError as error:
                    error.lies_below(f"record.{kind.value}", index)
                    # The action that cannot be made is counted already.
                    error.metadata["ply"] = str(ply - (kind is Kind.ACTION))
                    conversion.name_game(error, record.game)
                    raise
                made += 1
        finally:
            self._moves[record.game].inc(made)
        assert events is not None
        response.add(position, events, ply)
        return response.pieces


class _Response:
    """A ReplayResponse that grows."""

    def __init__(self, messages: Messages, include: Reader, max_bytes: int, hold: Hold) -> None:
        """Write positions as `include` asks, of at most `max_bytes` together."""
        self.pieces: list[Buffer] = []
        self._messages, self._include, self._max_bytes, self._hold = messages, include, max_bytes, hold
        self._size = self._held = 0

    def add(self, position: Position, events: EventLog, ply: int) -> None:
        """Write a position. Raises EngineError (BATCH_TOO_LARGE), and Refusal if there is no memory."""
        piece = written_in(_POSITIONS, self._messages.put_position, position, events, self._include)
        self._size += len(piece)
        if self._size > self._max_bytes:
            raise EngineError(
                Reason.BATCH_TOO_LARGE,
                f"the positions up to ply {ply} take {self._size} bytes, and this service writes at most "
                f"{self._max_bytes}: ask for a shorter stretch",
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


def _below_record(moves: Iterator[tuple[Kind, int, int]], game: Game) -> Iterator[tuple[Kind, int, int]]:
    # The moves; refusals have the path from the request on.
    try:
        yield from moves
    except EngineError as error:
        _lies_in_record(error, game)
        raise


def _lies_in_record(error: EngineError, game: Game) -> None:
    error.lies_below("record")
    conversion.name_game(error, game)


def _read_range(request: Reader, plies: int, game: Game) -> tuple[int, int]:
    first = request.number(_REQUEST.from_ply)
    last = request.number(_REQUEST.to_ply) if request.has_number(_REQUEST.to_ply) else plies
    if first > plies:
        raise _no_such_range(f"the record has plies 0 to {plies}, not {first}", "from_ply", plies, game)
    if last > plies:
        raise _no_such_range(f"the record has plies 0 to {plies}, not {last}", "to_ply", plies, game)
    if last < first:
        raise _no_such_range(f"the stretch ends at ply {last}, before it begins at {first}", "to_ply", plies, game)
    return first, last


def _no_such_range(message: str, field: str, plies: int, game: Game) -> Refusal:
    metadata = {"game": game.name, "plies": str(plies)}
    return Refusal(ServiceReason.INVALID_RANGE, message, field=field, metadata=metadata)


def _read_record(request: Reader) -> Record:
    message = request.find(_REQUEST.record)
    if message is None:
        raise conversion.missing("record")
    try:
        game = engine.game(message.text(_RECORD.game))
    except EngineError as error:
        error.lies_below("record")
        raise
    try:
        rules_version = message.number(_RECORD.rules_version)
        game.check_rules_version(rules_version)
        players = game.read_players(message.number(_RECORD.players))
        outcomes = message.inner(_RECORD.outcomes)
        check_lengths(game, players, message.count_numbers(_RECORD.actions), outcomes.count_numbers(_OUTCOMES))
        options = conversion.read_options(message.inner(_RECORD.options), game)
        conversion.check_options(options, game, players)
        # One name more than there may be is enough to see that there are too many.
        check_names(message.texts(_RECORD.seat_names, players + 1), players)
        check_date(message.text(_RECORD.date))
        chance = message.which(_CHANCE)
        if not chance:
            raise Refusal(
                ServiceReason.MISSING_FIELD,
                "the record has neither a stream nor outcomes",
                field="record.stream",
                metadata={"game": game.name},
            )
    except EngineError as error:
        _lies_in_record(error, game)
        raise
    stream = None
    if chance == _RECORD.stream:
        drawn = message.inner(chance)
        stream = (drawn.number(_STREAM.seed), drawn.number(_STREAM.game_number))
    return Record(
        game, rules_version, players, options, stream, outcomes.numbers(_OUTCOMES), message.numbers(_RECORD.actions)
    )
