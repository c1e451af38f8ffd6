"""Readers of the common parts of requests about records: the record, and the requested range of plies.

Errors have field paths from the request.
"""

from collections.abc import Iterator
from types import SimpleNamespace

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Game, Position
from chatiere.engine.core.record import (
    Kind,
    Record,
    check_date,
    check_lengths,
    check_names,
)
from chatiere.engine.wire import Reader
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.calls import conversion
from chatiere.service.calls.requests import numbers_of
from chatiere.v1 import record_pb2

MAX_BYTES = 4 * 1024 * 1024
"""The maximum size of a response in bytes. By default, gRPC clients do not accept larger messages."""

_RECORD = numbers_of(record_pb2.GameRecord)
_STREAM = numbers_of(record_pb2.RecordStream)
_OUTCOMES = record_pb2.RecordOutcomes.OUTCOMES_FIELD_NUMBER
_CHANCE = 1 << _RECORD.stream | 1 << _RECORD.outcomes


def read_record(request: Reader, numbers: SimpleNamespace) -> Record:
    """Return the record in a request.

    Args:
        request: The request.
        numbers: The numbers of the request's fields, including `record`.

    Raises:
        Refusal: MISSING_FIELD.
        EngineError: UNKNOWN_GAME, UNSUPPORTED_RULES_VERSION, INVALID_PLAYERS, INVALID_OPTION, INVALID_RECORD.
    """
    message = request.find(numbers.record)
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
        # Read one name more than allowed, to detect too many names.
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


def read_range(request: Reader, numbers: SimpleNamespace, plies: int, game: Game) -> tuple[int, int]:
    """Return the requested range of a record.

    Args:
        request: The request.
        numbers: The numbers of the request's fields, including `from_ply` and `to_ply`.
        plies: The number of plies of the record.
        game: The game.

    Returns:
        The first and the last ply.

    Raises:
        Refusal: INVALID_RANGE.
    """
    first = request.number(numbers.from_ply)
    last = request.number(numbers.to_ply) if request.has_number(numbers.to_ply) else plies
    if first > plies:
        raise _no_such_range(f"the record has plies 0 to {plies}, not {first}", "from_ply", plies, game)
    if last > plies:
        raise _no_such_range(f"the record has plies 0 to {plies}, not {last}", "to_ply", plies, game)
    if last < first:
        raise _no_such_range(f"the range ends (at ply {last}) before it begins (at {first})", "to_ply", plies, game)
    return first, last


def _no_such_range(message: str, field: str, plies: int, game: Game) -> Refusal:
    metadata = {"game": game.name, "plies": str(plies)}
    return Refusal(ServiceReason.INVALID_RANGE, message, field=field, metadata=metadata)


def moves_of(record: Record, position: Position) -> Iterator[tuple[Kind, int, int]]:
    """Yield the moves of a record, as Record.moves does. Raises EngineError (INVALID_RECORD)."""
    try:
        yield from record.moves(position)
    except EngineError as error:
        _lies_in_record(error, record.game)
        raise


def make_move(position: Position, kind: Kind, index: int, move: int, ply: int, events: EventLog | None) -> None:
    """Apply a move of a record to its position. `ply`: the number of decisions before the move.

    Raises:
        EngineError: The errors of `Position.apply`, with the metadata `ply`.
    """
    try:
        position.apply(move, events)
    except EngineError as error:
        error.lies_below(f"record.{kind.value}", index)
        error.metadata["ply"] = str(ply)
        conversion.name_game(error, position.game)
        raise


def _lies_in_record(error: EngineError, game: Game) -> None:
    error.lies_below("record")
    conversion.name_game(error, game)
