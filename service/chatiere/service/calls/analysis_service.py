"""The method Analyse of BotService. It replays a record, and judges the record's decisions by searches.

It is independent of gRPC. It raises EngineError and Refusal with field paths from the request, DecodeError for a
request that cannot be parsed, and Cancelled when it is cancelled.
"""

import secrets
from collections.abc import Callable

from chatiere.bots.analysis import SIMULATIONS, AnalysedDecision, Analysis, Tried
from chatiere.engine import EngineError, Game, Position, Reason
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.record import Kind, Record
from chatiere.engine.wire import Buffer, written
from chatiere.service.base.settings import Settings
from chatiere.service.calls import conversion
from chatiere.service.calls.record_requests import MAX_BYTES, make_move, moves_of, read_range, read_record
from chatiere.service.calls.requests import Opener, numbers_of
from chatiere.service.calls.searches import Searches
from chatiere.v1 import bot_service_pb2 as pb
from chatiere.v1 import game_pb2, game_service_pb2

_open, _REQUEST = Opener(pb.AnalyseRequest).open, numbers_of(pb.AnalyseRequest)
_LEGAL_ACTIONS = game_service_pb2.ListLegalActionsResponse.LEGAL_ACTIONS_FIELD_NUMBER
# The number of best actions in the response.
_BEST = 5
# The maximum memory of a decision (position, legal actions, part of the response) until it is serialized, in bytes.
_OF_DECISION = 16 * 1024
# A function that reserves a number of bytes for a call. Raises Refusal.
Hold = Callable[[int], None]


class AnalysisService:
    """The method Analyse, within the limits of a server's settings."""

    def __init__(self, settings: Settings, searches: Searches) -> None:
        """Create the service with the limits in `settings`. `searches` measures the processor time of searches."""
        self._searches = searches
        self._max_playouts = settings.max_playouts
        self._max_bytes = min(settings.max_answer_bytes, MAX_BYTES)

    def analyse(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        """Handle an AnalyseRequest: return the AnalyseResponse. `hold` reserves memory."""
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
                f"{last - first} decisions with {simulations} simulations each exceed the limit of {self._max_playouts}"
                ": request a shorter range, or fewer simulations",
                record.game,
                self._max_playouts,
                simulations * (last - first),
                first + self._max_playouts // simulations,
            )
        hold(_OF_DECISION * (last - first))
        positions = _add_decisions(analysis, record, first, last, cancellation)
        response = pb.AnalyseResponse()
        size = 0
        with self._searches.measured(record.game):
            decisions = analysis.run()
        for position, found in zip(positions, decisions, strict=True):
            _put(response.decisions.add(), position, found)
            size += response.decisions[-1].ByteSize()
            if size > self._max_bytes:
                raise _too_large(
                    f"the decisions up to ply {found.ply} take {size} bytes, and responses are limited to "
                    f"{self._max_bytes}: request a shorter range",
                    record.game,
                    self._max_bytes,
                    size,
                    found.ply,
                )
        return response.SerializeToString()


def _add_decisions(
    analysis: Analysis, record: Record, first: int, last: int, cancellation: Cancellation
) -> list[Position]:
    # Play the record up to the end of the range. Return the positions of the decisions in the range.
    position = record.begin()
    positions: list[Position] = []
    ply = 0
    for kind, index, move in moves_of(record, position):
        cancellation.check()
        if kind is Kind.ACTION and ply == last:
            break
        before = position.clone() if kind is Kind.ACTION and ply >= first else None
        make_move(position, kind, index, move, ply, None)
        if before is not None:
            # Add the decision only now, when its action is known to be legal.
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
    # `last`: the largest `to_ply` that is within the limit.
    return EngineError(
        Reason.BATCH_TOO_LARGE,
        message,
        field="to_ply",
        metadata={"game": game.name, "limit": str(limit), "asked": str(asked), "last_ply": str(last)},
    )
