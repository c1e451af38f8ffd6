"""The calls of GameService, one function each: request message → response in wire format.

In wire format, because making objects of a response takes longer than a move. They know nothing of gRPC. They raise
EngineError and Refusal with field paths from the request on.
"""

import secrets

from chatiere import engine
from chatiere.engine import EngineError, Event, Game, Position, Reason
from chatiere.engine.core.wire import written, written_in
from chatiere.service import convert
from chatiere.service.errors import Refusal, ServiceReason
from chatiere.v1 import game_pb2, game_service_pb2


def list_games(request: game_service_pb2.ListGamesRequest) -> bytes:
    """All games, by name: a ListGamesResponse."""
    games = [convert.write_game_info(game) for game in engine.games()]
    return game_service_pb2.ListGamesResponse(games=games).SerializeToString()


def new_game(request: game_service_pb2.NewGameRequest) -> bytes:
    """Begin a game: a NewGameResponse."""
    game = _game_of(request)
    options = convert.read_options(request.options, game)
    seed = _seed_of(request, game)
    events: list[Event] = []
    try:
        position = game.new_game(request.players, options, seed=seed, game_number=request.game_number, events=events)
    except EngineError as error:
        if error.reason is Reason.INVALID_OPTION:
            error.lies_below(f"options.{game.name}")
        error.metadata["game"] = game.name
        raise
    _check_viewers(request.include, position)
    field = game_service_pb2.NewGameResponse.POSITION_FIELD_NUMBER
    return written_in(field, convert.of(position).put_position, position, events, request.include)


def list_legal_actions(request: game_service_pb2.ListLegalActionsRequest) -> bytes:
    """What may be done at a state: a ListLegalActionsResponse."""
    position = _position_of(request)
    messages = convert.of(position)
    response = game_service_pb2.ListLegalActionsResponse
    return (
        written_in(response.TURN_FIELD_NUMBER, messages.put_turn, position)
        + written(messages.put_legal_actions, response.LEGAL_ACTIONS_FIELD_NUMBER, position)
        + written(messages.put_chance_outcomes, response.CHANCE_OUTCOMES_FIELD_NUMBER, position)
    )


def apply(request: game_service_pb2.ApplyRequest) -> bytes:
    """Make a move, or resolve a chance event: an ApplyResponse."""
    position = _position_of(request)
    _check_viewers(request.include, position)
    events: list[Event] = []
    move = request.WhichOneof("move")
    if move == "action":
        convert.apply_action(request.action, position, events)
    elif move == "outcome":
        _apply_outcome(position, request.outcome, events)
    else:
        wanted = "outcome" if position.is_chance_node() else "action"
        raise Refusal(
            ServiceReason.MISSING_FIELD,
            f"the request has no move; this state waits for an {wanted}",
            field=wanted,
            metadata={"game": position.game.name},
        )
    field = game_service_pb2.ApplyResponse.POSITION_FIELD_NUMBER
    return written_in(field, convert.of(position).put_position, position, events, request.include)


def get_score(request: game_service_pb2.GetScoreRequest) -> bytes:
    """The score at a state: a GetScoreResponse."""
    position = _position_of(request)
    field = game_service_pb2.GetScoreResponse.SCORE_FIELD_NUMBER
    return written_in(field, convert.of(position).put_score, position)


def get_view(request: game_service_pb2.GetViewRequest) -> bytes:
    """What a seat, or a spectator, may know of a state: a GetViewResponse."""
    position = _position_of(request)
    seat = request.seat if request.HasField("seat") else None
    if seat is not None:
        _check_seat(seat, position, "seat")
    return written_in(game_service_pb2.GetViewResponse.VIEW_FIELD_NUMBER, convert.of(position).put_view, position, seat)


def resample(request: game_service_pb2.ResampleRequest) -> bytes:
    """A state that a seat cannot tell from the given one: a ResampleResponse."""
    position = _position_of(request)
    name = position.game.name
    if not request.HasField("seat"):
        raise Refusal(
            ServiceReason.MISSING_FIELD,
            "the request has no seat: whose knowledge counts?",
            field="seat",
            metadata={"game": name},
        )
    _check_seat(request.seat, position, "seat")
    seed = request.seed if request.HasField("seed") else secrets.randbits(64)
    try:
        drawn = position.resample(request.seat, seed, request.game_number)
    except EngineError as error:
        convert.lies_below(error, f"state.{name}", position.game)
        raise
    return written_in(game_service_pb2.ResampleResponse.STATE_FIELD_NUMBER, convert.of(drawn).put_state, drawn)


def _game_of(request: game_service_pb2.NewGameRequest) -> Game:
    name = request.game or request.options.WhichOneof("game")
    if name is None:
        names = convert.game_names()
        raise EngineError(
            Reason.UNKNOWN_GAME,
            f"the request names no game, and its options are of none; there are: {names}",
            field="game",
            metadata={"games": names},
        )
    return engine.game(name)


def _seed_of(request: game_service_pb2.NewGameRequest, game: Game) -> int | None:
    """The seed of sampled chance; None for explicit chance."""
    if request.explicit_chance:
        if request.HasField("seed"):
            raise EngineError(
                Reason.INVALID_SEED,
                "explicit chance is the client's to resolve: it takes no seed",
                field="seed",
                metadata={"game": game.name},
            )
        return None
    if request.HasField("seed"):
        return request.seed
    if request.game_number:
        raise EngineError(
            Reason.INVALID_SEED, "a game number needs a seed", field="game_number", metadata={"game": game.name}
        )
    return secrets.randbits(64)


def _position_of(
    request: game_service_pb2.ListLegalActionsRequest
    | game_service_pb2.ApplyRequest
    | game_service_pb2.GetScoreRequest
    | game_service_pb2.GetViewRequest
    | game_service_pb2.ResampleRequest,
) -> Position:
    return convert.read_state(request.state if request.HasField("state") else None)


def _check_seat(seat: int, position: Position, field: str) -> None:
    if seat >= position.num_players():
        raise _no_such_seat(f"seats here are 0 to {position.num_players() - 1}, not {seat}", position, field)


def _check_viewers(include: game_pb2.Include, position: Position) -> None:
    for i, seat in enumerate(include.viewers):
        field = f"include.viewers[{i}]"
        _check_seat(seat, position, field)
        if seat in include.viewers[:i]:
            raise _no_such_seat(f"seat {seat} is named twice", position, field)


def _no_such_seat(message: str, position: Position, field: str) -> EngineError:
    return EngineError(
        Reason.INVALID_SEAT,
        message,
        field=field,
        metadata={"game": position.game.name, "players": str(position.num_players())},
    )


def _apply_outcome(position: Position, outcome: int, events: list[Event]) -> None:
    seat = position.current_player()
    if seat >= 0:
        raise EngineError(
            Reason.NO_CHANCE_PENDING,
            f"no chance event is pending: seat {seat} has to act, with one of its legal actions",
            field="outcome",
            metadata={"game": position.game.name, "actor": str(seat), "move": str(outcome)},
        )
    try:
        position.apply(outcome, events)
    except EngineError as error:
        convert.lies_below(error, "outcome", position.game)
        raise
