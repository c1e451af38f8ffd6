"""Analyse, a method of BotService: it plays a record again, and searches at its decisions.

It knows nothing of gRPC. It raises EngineError and Refusal with field paths that begin in the request, DecodeError for
a request that cannot be parsed, and Cancelled once its cancellation says so.
"""

import secrets
from collections.abc import Callable

from chatiere.bots.analysis import SIMULATIONS, AnalysedDecision, Analysis, Tried
from chatiere.engine import EngineError, Game, Position, Reason
from chatiere.engine.core.batch import Cancellation, Cancelled
from chatiere.engine.core.record import Kind, Record
from chatiere.engine.wire import Buffer, written
from chatiere.service.base.settings import Settings
from chatiere.service.calls import conversion
from chatiere.service.calls.record_requests import MAX_BYTES, make_move, moves_of, read_range, read_record
from chatiere.service.calls.requests import numbers_of, opener
from chatiere.v1 import bot_service_pb2 as pb
from chatiere.v1 import game_pb2, game_service_pb2

OF_SIMULATION = 160
"""The bytes that a tree search takes at most for a simulation."""
_open, _REQUEST = opener(pb.AnalyseRequest), numbers_of(pb.AnalyseRequest)
_LEGAL_ACTIONS = game_service_pb2.ListLegalActionsResponse.LEGAL_ACTIONS_FIELD_NUMBER
# The best actions that are told.
_BEST = 5
# Bytes that a decision takes until it is told, at most: its position, its legal actions, its part of the response.
_OF_DECISION = 16 * 1024
# Reserves a number of bytes for a call. Raises Refusal.
Hold = Callable[[int], None]


class AnalysisService:
    """Analyse, within the limits of a server's settings."""

    def __init__(self, settings: Settings) -> None:
        """Take limits from `settings`."""
        self._max_playouts = settings.max_playouts
        self._max_bytes = min(settings.max_answer_bytes, MAX_BYTES)

    def analyse(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        """Analyse a stretch of a record: AnalyseRequest → AnalyseResponse. `hold`: reserves memory."""
        request = _open(bytes(data))
        record = read_record(request, _REQUEST)
        first, last = read_range(request, _REQUEST, len(record.actions), record.game)
        simulations = request.number(_REQUEST.simulations) if request.has_number(_REQUEST.simulations) else SIMULATIONS
        seed = request.number(_REQUEST.seed) if request.has_number(_REQUEST.seed) else secrets.randbits(64)
        try:
            analysis = Analysis(simulations, seed, cancellation)
        except EngineError as error:
            conversion.name_game(error, record.game)
            raise
        if simulations * (last - first) > self._max_playouts:
            raise _too_large(
                f"{last - first} decisions with {simulations} simulations each are more than {self._max_playouts}, the "
                "most that this service makes: ask for a shorter stretch, or fewer simulations",
                record.game,
                self._max_playouts,
                simulations * (last - first),
                first + self._max_playouts // simulations,
            )
        hold(OF_SIMULATION * analysis.simulations_at_once(last - first) + _OF_DECISION * (last - first))
        positions = _add_decisions(analysis, record, first, last, cancellation)
        response = pb.AnalyseResponse()
        size = 0
        for position, found in zip(positions, analysis.run(), strict=True):
            _put(response.decisions.add(), position, found)
            size += response.decisions[-1].ByteSize()
            if size > self._max_bytes:
                raise _too_large(
                    f"the decisions up to ply {found.ply} take {size} bytes, and this service writes at most "
                    f"{self._max_bytes}: ask for a shorter stretch",
                    record.game,
                    self._max_bytes,
                    size,
                    found.ply,
                )
        return response.SerializeToString()


def _add_decisions(
    analysis: Analysis, record: Record, first: int, last: int, cancellation: Cancellation
) -> list[Position]:
    # Play up to the end of the stretch, and return the positions of its decisions.
    position = record.begin()
    positions: list[Position] = []
    ply = 0
    for kind, index, move in moves_of(record, position):
        if cancellation.cancelled:
            raise Cancelled
        if kind is Kind.ACTION and ply == last:
            break
        before = position.clone() if kind is Kind.ACTION and ply >= first else None
        make_move(position, kind, index, move, ply, None)
        if before is not None:
            # It is known to be legal now.
            analysis.add(before, ply, move)
            positions.append(before)
        ply += kind is Kind.ACTION
    return positions


def _put(message: pb.AnalysedDecision, position: Position, found: AnalysedDecision) -> None:
    legal = game_service_pb2.ListLegalActionsResponse.FromString(
        written(conversion.of(position).put_legal_actions, _LEGAL_ACTIONS, position)
    ).legal_actions
    actions = {each.id: each for each in legal}
    message.ply, message.seat, message.value = found.ply, found.seat, found.value
    if found.loss is not None:
        message.loss = found.loss
    _put_action(message.played, actions, found.played)
    for each in found.actions[:_BEST]:
        _put_action(message.best.add(), actions, each)


def _put_action(message: pb.AnalysedAction, actions: dict[int, game_pb2.Action], tried: Tried) -> None:
    message.action.CopyFrom(actions[tried.id])
    message.visits = tried.visits
    if tried.value is not None:
        message.value = tried.value


def _too_large(message: str, game: Game, limit: int, asked: int, last: int) -> EngineError:
    # `last`: the last end of a stretch that has room.
    return EngineError(
        Reason.BATCH_TOO_LARGE,
        message,
        field="to_ply",
        metadata={"game": game.name, "limit": str(limit), "asked": str(asked), "last_ply": str(last)},
    )
