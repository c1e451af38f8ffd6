"""The calls of GameService, one function each: request message → response message.

They know nothing of gRPC. They raise EngineError and Refusal with field paths from the request on.
"""

import secrets

from chatiere import engine
from chatiere.engine import EngineError, Event, Game, Position, Reason
from chatiere.engine.core.wire import fill
from chatiere.service import convert
from chatiere.service.convert import below
from chatiere.service.errors import Refusal, ServiceReason
from chatiere.v1 import game_pb2, game_service_pb2


def list_games(request: game_service_pb2.ListGamesRequest) -> game_service_pb2.ListGamesResponse:
    """All games, by name."""
    return game_service_pb2.ListGamesResponse(games=[convert.write_game_info(game) for game in engine.games()])


def new_game(request: game_service_pb2.NewGameRequest) -> game_service_pb2.NewGameResponse:
    """Begin a game."""
    game = _game_of(request)
    options = convert.read_options(request.options, game)
    seed = _seed_of(request, game)
    events: list[Event] = []
    try:
        position = game.new_game(request.players, options, seed=seed, game_number=request.game_number, events=events)
    except EngineError as error:
        if error.reason is Reason.INVALID_OPTION:
            error.field = f"options.{game.name}.{error.field}"
        error.metadata["game"] = game.name
        raise
    _check_viewers(request.include, position)
    response = game_service_pb2.NewGameResponse()
    convert.fill_position(response.position, position, events, request.include)
    return response


def list_legal_actions(
    request: game_service_pb2.ListLegalActionsRequest,
) -> game_service_pb2.ListLegalActionsResponse:
    """What may be done at a state."""
    position = _position_of(request)
    response = game_service_pb2.ListLegalActionsResponse()
    messages = convert.of(position)
    fill(response.turn, messages.put_turn, position)
    fill(response, messages.put_legal_actions, response.LEGAL_ACTIONS_FIELD_NUMBER, position)
    fill(response, messages.put_chance_outcomes, response.CHANCE_OUTCOMES_FIELD_NUMBER, position)
    return response


def apply(request: game_service_pb2.ApplyRequest) -> game_service_pb2.ApplyResponse:
    """Make a move, or resolve a chance event."""
    position = _position_of(request)
    _check_viewers(request.include, position)
    events: list[Event] = []
    move = request.WhichOneof("move")
    if move == "action":
        with below("action", position.game):
            position.require_decision()
        action, path = convert.read_action(request.action, position)
        with below(path, position.game):
            position.apply(action, events)
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
    response = game_service_pb2.ApplyResponse()
    convert.fill_position(response.position, position, events, request.include)
    return response


def get_score(request: game_service_pb2.GetScoreRequest) -> game_service_pb2.GetScoreResponse:
    """The score at a state."""
    response = game_service_pb2.GetScoreResponse()
    convert.fill_score(response.score, _position_of(request))
    return response


def get_view(request: game_service_pb2.GetViewRequest) -> game_service_pb2.GetViewResponse:
    """What a seat, or a spectator, may know of a state."""
    position = _position_of(request)
    seat = request.seat if request.HasField("seat") else None
    if seat is not None:
        _check_seat(seat, position, "seat")
    response = game_service_pb2.GetViewResponse()
    fill(response.view, convert.of(position).put_view, position, seat)
    return response


def resample(request: game_service_pb2.ResampleRequest) -> game_service_pb2.ResampleResponse:
    """A state that a seat cannot tell from the given one."""
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
    with below(f"state.{name}", position.game):
        drawn = position.resample(request.seat, seed, request.game_number)
    return game_service_pb2.ResampleResponse(state=convert.write_state(drawn))


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
    with below("outcome", position.game):
        position.apply(outcome, events)
