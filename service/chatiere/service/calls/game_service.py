# cython: annotation_typing=False
"""The methods of GameService. Each is a function that converts a request to a response, both in wire format.

The functions use the wire format directly, because creating message objects takes longer than a move. They are
independent of gRPC. They raise EngineError and Refusal with field paths from the request, and DecodeError for a request
that cannot be parsed.
"""

import secrets
from collections.abc import Callable
from functools import cache
from typing import Any

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Game, Reason
from chatiere.engine.core.game_info import game_info, observation_info, phrases_info, pieces_info
from chatiere.engine.core.languages import LANGUAGES
from chatiere.engine.core.messages import Messages
from chatiere.engine.core.position import Position
from chatiere.engine.wire import Writer, written, written_in
from chatiere.engine.wire.reader import Reader
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.base.languages import spoken
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls import conversion, rules
from chatiere.service.calls.conversion import apply_action, as_included, read_state
from chatiere.service.calls.piece_fields import piece_fields
from chatiere.service.calls.requests import Opener, numbers_of, parse
from chatiere.service.guards.counts import Count
from chatiere.v1 import game_pb2
from chatiere.v1 import game_service_pb2 as pb

_open_get_rules, _GET_RULES = Opener(pb.GetRulesRequest).open, numbers_of(pb.GetRulesRequest)
_open_new_game, _NEW_GAME = Opener(pb.NewGameRequest).open, numbers_of(pb.NewGameRequest)
_open_list_legal_actions = Opener(pb.ListLegalActionsRequest).open
_open_apply = Opener(pb.ApplyRequest).open
_open_get_position, _GET_POSITION = Opener(pb.GetPositionRequest).open, numbers_of(pb.GetPositionRequest)
_open_get_score = Opener(pb.GetScoreRequest).open
_open_get_view, _GET_VIEW = Opener(pb.GetViewRequest).open, numbers_of(pb.GetViewRequest)
_open_resample, _RESAMPLE = Opener(pb.ResampleRequest).open, numbers_of(pb.ResampleRequest)
# The number of the field `state`. It is the same in all requests.
(_STATE,) = {
    kind.STATE_FIELD_NUMBER
    for kind in (
        pb.ListLegalActionsRequest,
        pb.ApplyRequest,
        pb.GetPositionRequest,
        pb.GetScoreRequest,
        pb.GetViewRequest,
        pb.ResampleRequest,
    )
}
# Each call to Apply reads these fields. Numbers are faster than attributes of `numbers_of`.
_APPLY_ACTION = pb.ApplyRequest.ACTION_FIELD_NUMBER
_APPLY_OUTCOME = pb.ApplyRequest.OUTCOME_FIELD_NUMBER
_APPLY_SEAT = pb.ApplyRequest.SEAT_FIELD_NUMBER
_APPLY_INCLUDE = pb.ApplyRequest.INCLUDE_FIELD_NUMBER
_VIEWERS = game_pb2.Include.VIEWERS_FIELD_NUMBER
_GAMES = pb.ListGamesResponse.GAMES_FIELD_NUMBER
_RULES_VERSION = game_pb2.GameInfo.RULES_VERSION_FIELD_NUMBER
_LEGAL_ACTIONS = numbers_of(pb.ListLegalActionsResponse)
_NEW_GAME_RESPONSE = pb.NewGameResponse.POSITION_FIELD_NUMBER
_APPLY_RESPONSE = pb.ApplyResponse.POSITION_FIELD_NUMBER
_GET_POSITION_RESPONSE = pb.GetPositionResponse.POSITION_FIELD_NUMBER
_GET_SCORE_RESPONSE = pb.GetScoreResponse.SCORE_FIELD_NUMBER
_GET_VIEW_RESPONSE = pb.GetViewResponse.VIEW_FIELD_NUMBER
_RESAMPLE_RESPONSE = pb.ResampleResponse.STATE_FIELD_NUMBER

InfoPart = Callable[[Game, str], dict[str, Any]]
"""A function that returns fields of a game's GameInfo in a language."""


def list_games(data: bytes, settings: Settings) -> bytes:
    """Handle a ListGamesRequest: return the descriptions of the named games, or of all games."""
    request = parse(pb.ListGamesRequest, data)
    names = list(request.games)
    wanted = {_game_named(name, names) for name in dict.fromkeys(names)}
    parts = [part for part, is_wanted in _parts_of(request) if is_wanted]
    return b"".join(
        written_in(_GAMES, _put_info, game, settings.rules_version(game), parts)
        for game in engine.games()
        if game in wanted or not names
    )


def _parts_of(request: pb.ListGamesRequest) -> tuple[tuple[InfoPart, bool], ...]:
    # Return the parts of a GameInfo, each with True if the request includes it.
    return (
        (_game_info, True),
        (_pieces_info, request.pieces),
        (observation_info, request.observation),
        (_phrases_info, request.phrases),
    )


def _game_info(game: Game, language: str) -> dict[str, Any]:
    # Omit the rules version, because it depends on the settings. It is written separately.
    return game_info(game, language) | {"rules_version": 0}


def _pieces_info(game: Game, language: str) -> dict[str, Any]:
    # Add the fields of messages here, because the engine is independent of protobuf.
    return pieces_info(game, language) | {"piece_fields": piece_fields(game.name)}


def _phrases_info(game: Game, language: str) -> dict[str, Any]:
    return phrases_info(engine.codec(game.name).phrases, language)


def _put_info(out: Writer, game: Game, rules_version: int, parts: list[InfoPart]) -> None:
    out.number(_RULES_VERSION, rules_version)
    for part in parts:
        out.fields(_written_info(game, part, spoken()))


@cache
def _written_info(game: Game, part: InfoPart, language: str) -> bytes:
    # The result is cached, because the computation takes milliseconds.
    return game_pb2.GameInfo(**part(game, language)).SerializeToString()


def _game_named(name: str, names: list[str]) -> Game:
    try:
        return engine.game(name)
    except EngineError as error:
        error.field = f"games[{names.index(name)}]"
        raise


def get_rules(data: bytes) -> bytes:
    """Handle a GetRulesRequest: return the rules of a game as text, with the options in force."""
    request = parse(pb.GetRulesRequest, data)
    opened = _open_get_rules(data)
    options = opened.inner(_GET_RULES.options)
    game = conversion.named_game(request.game, options)
    chosen = conversion.read_options(options, game)
    try:
        players = game.read_players(request.players) if request.players else 0
        _check_options_of_any(chosen, game, players)
    except EngineError as error:
        conversion.name_game(error, game)
        raise
    audience = request.audience if request.HasField("audience") else pb.RULES_AUDIENCE_PLAYERS
    if audience not in (pb.RULES_AUDIENCE_PLAYERS, pb.RULES_AUDIENCE_AUTHORS):
        raise Refusal(
            ServiceReason.MALFORMED_REQUEST,
            f"unknown audience {audience}",
            field="audience",
            metadata={"game": game.name},
        )
    is_for_authors = audience == pb.RULES_AUDIENCE_AUTHORS
    language = LANGUAGES[0] if is_for_authors else spoken()
    text = rules.specification(game) if is_for_authors else rules.sheet(game, language)
    text += rules.options_section(game, players, request.options, language, by_name=is_for_authors)
    response = pb.GetRulesResponse(markdown=text, language=language, rules_version=game.rules_version)
    return response.SerializeToString()


def _check_options_of_any(chosen: dict[str, object], game: Game, players: int) -> None:
    # With 0 players, the options must be valid for at least one number of players. If they are not, report the error
    # for the largest number.
    refusals = []
    for number in (players,) if players else range(game.max_players, game.min_players - 1, -1):
        try:
            return conversion.check_options(chosen, game, number)
        except EngineError as error:
            refusals.append(error)
    raise refusals[0]


def new_game(data: bytes, settings: Settings) -> bytes:
    """Handle a NewGameRequest: start a game."""
    request = _open_new_game(data)
    options = request.inner(_NEW_GAME.options)
    game = conversion.named_game(request.text(_NEW_GAME.game), options)
    chosen = conversion.read_options(options, game)
    seed = _seed_of(request, game)
    events = EventLog()
    try:
        players = game.read_players(request.number(_NEW_GAME.players))
        conversion.check_options(chosen, game, players)
        position = game.new_game(
            players,
            chosen,
            seed=seed,
            game_number=request.number(_NEW_GAME.game_number),
            rules_version=settings.rules_version(game),
            events=events,
        )
    except EngineError as error:
        conversion.name_game(error, game)
        raise
    include = request.inner(_NEW_GAME.include)
    messages = messages_for(include, position)
    return written_in(_NEW_GAME_RESPONSE, messages.put_position, position, events, include)


def list_legal_actions(data: bytes) -> bytes:
    """Handle a ListLegalActionsRequest: return the legal actions or the chance outcomes in a state."""
    position = position_of(_open_list_legal_actions(data))
    messages = conversion.of(position)
    return (
        written_in(_LEGAL_ACTIONS.turn, messages.put_turn, position)
        + written(messages.put_legal_actions, _LEGAL_ACTIONS.legal_actions, position)
        + written(messages.put_chance_outcomes, _LEGAL_ACTIONS.chance_outcomes, position)
    )


def apply(data: bytes) -> tuple[bytes, Game]:
    """Handle an ApplyRequest: apply an action or a chance outcome. Return the response and the game."""
    request = _open_apply(data)
    position = position_of(request)
    include = request.inner(_APPLY_INCLUDE)
    messages = messages_for(include, position)
    events = EventLog()
    action = request.find(_APPLY_ACTION)
    if action is not None:
        if request.has_number(_APPLY_SEAT):
            _check_turn(request.number(_APPLY_SEAT), position)
        apply_action(action, position, events)
    elif request.has_number(_APPLY_OUTCOME):
        _apply_outcome(position, request.number(_APPLY_OUTCOME), events)
    else:
        wanted = "outcome" if position.is_chance_node() else "action"
        raise Refusal(
            ServiceReason.MISSING_FIELD,
            f"the request has no move; this state needs an {wanted}",
            field=wanted,
            metadata={"game": position.game.name},
        )
    response = written_in(_APPLY_RESPONSE, messages.put_position, position, events, include)
    return response, position.game


def get_position(data: bytes) -> bytes:
    """Handle a GetPositionRequest: return the position of a state, without events."""
    request = _open_get_position(data)
    position = position_of(request)
    include = request.inner(_GET_POSITION.include)
    put = messages_for(include, position).put_position
    return written_in(_GET_POSITION_RESPONSE, put, position, EventLog(), include)


def get_score(data: bytes) -> bytes:
    """Handle a GetScoreRequest: return the score of a state."""
    position = position_of(_open_get_score(data))
    return written_in(_GET_SCORE_RESPONSE, conversion.of(position).put_score, position)


def get_view(data: bytes) -> bytes:
    """Handle a GetViewRequest: return the view of a state for a seat or a spectator."""
    request = _open_get_view(data)
    position = position_of(request)
    seat = None
    if request.has_number(_GET_VIEW.seat):
        seat = request.number(_GET_VIEW.seat)
        _check_seat(seat, position, "seat")
    return written_in(_GET_VIEW_RESPONSE, conversion.of(position).put_view, position, seat)


def resample(data: bytes) -> bytes:
    """Handle a ResampleRequest: sample a state that a seat cannot distinguish from the given state."""
    request = _open_resample(data)
    position = position_of(request)
    name = position.game.name
    if not request.has_number(_RESAMPLE.seat):
        raise Refusal(
            ServiceReason.MISSING_FIELD,
            "the request has no seat",
            field="seat",
            metadata={"game": name},
        )
    seat = request.number(_RESAMPLE.seat)
    _check_seat(seat, position, "seat")
    seed = request.number(_RESAMPLE.seed) if request.has_number(_RESAMPLE.seed) else secrets.randbits(64)
    try:
        drawn = position.resample(seat, seed, request.number(_RESAMPLE.game_number))
    except EngineError as error:
        error.lies_below(f"state.{name}")
        conversion.name_game(error, position.game)
        raise
    return written_in(_RESAMPLE_RESPONSE, conversion.of(drawn).put_state, drawn)


class GameService:
    """The methods of GameService except Replay, with the settings of a server. Counts moves."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Create the service. New games use the rules versions in `settings`. `metrics` count moves."""
        self._settings = settings
        self._moves = {game: Count(metrics.moves_applied.labels(game.name)) for game in engine.games()}
        self.methods: dict[str, Callable[[bytes], bytes]] = {
            "ListGames": self.list_games,
            "GetRules": get_rules,
            "NewGame": self.new_game,
            "ListLegalActions": list_legal_actions,
            "Apply": self.apply,
            "GetPosition": get_position,
            "GetScore": get_score,
            "GetView": get_view,
            "Resample": resample,
        }
        """A mapping from method names to methods, without Replay."""

    def list_games(self, request: bytes) -> bytes:
        """Describe the named games, or all games."""
        return list_games(request, self._settings)

    def new_game(self, request: bytes) -> bytes:
        """Begin a game."""
        return new_game(request, self._settings)

    def apply(self, request: bytes) -> bytes:
        """Apply an action or a chance outcome."""
        response, game = apply(request)
        self._moves[game].add(1.0)
        return response


def _seed_of(request: Reader, game: Game) -> int | None:
    """Return the seed of sampled chance events, or None for explicit chance events."""
    if request.number(_NEW_GAME.explicit_chance):
        if request.has_number(_NEW_GAME.seed):
            raise EngineError(
                Reason.INVALID_SEED,
                "explicit chance excludes a seed: the client resolves chance events",
                field="seed",
                metadata={"game": game.name},
            )
        return None
    if request.has_number(_NEW_GAME.seed):
        return request.number(_NEW_GAME.seed)
    if request.number(_NEW_GAME.game_number):
        raise EngineError(
            Reason.INVALID_SEED, "a game number needs a seed", field="game_number", metadata={"game": game.name}
        )
    return secrets.randbits(64)


def position_of(request: Reader) -> Position:
    """Return the position in a request's field `state`. Raises EngineError, and Refusal if the field is missing."""
    state = request.find(_STATE)
    if state is None:
        raise conversion.missing("state")
    try:
        return read_state(state)
    except EngineError as error:
        error.lies_below("state")
        raise


def _check_seat(seat: int, position: Position, field: str) -> None:
    if seat >= position.num_players():
        raise _no_such_seat(f"seats are 0 to {position.num_players() - 1}, not {seat}", position, field)


def _check_turn(seat: int, position: Position) -> None:
    _check_seat(seat, position, "seat")
    try:
        position.require_turn(seat)
    except EngineError as error:
        conversion.name_game(error, position.game)
        raise


def messages_for(parts: Reader, position: Position) -> Messages:
    """Return the Messages of a position's game, with the parts that an Include message selects.

    Raises:
        EngineError: If a viewer or a seat name is invalid (INVALID_SEAT).
    """
    _check_viewers(parts, position)
    return as_included(parts, position)


def _check_viewers(parts: Reader, position: Position) -> None:
    """Check that the viewers in an Include message are distinct seats. Raises EngineError (INVALID_SEAT)."""
    viewers = parts.numbers(_VIEWERS)
    for i, seat in enumerate(viewers):
        field = f"include.viewers[{i}]"
        _check_seat(seat, position, field)
        if seat in viewers[:i]:
            raise _no_such_seat(f"seat {seat} is named twice", position, field)


def _no_such_seat(message: str, position: Position, field: str) -> EngineError:
    return EngineError(
        Reason.INVALID_SEAT,
        message,
        field=field,
        metadata={"game": position.game.name, "players": str(position.num_players())},
    )


def _apply_outcome(position: Position, outcome: int, events: EventLog) -> None:
    seat = position.current_player()
    if seat >= 0:
        raise EngineError(
            Reason.NO_CHANCE_PENDING,
            f"no chance event is pending: seat {seat} has to choose one of its legal actions",
            field="outcome",
            metadata={"game": position.game.name, "actor": str(seat), "move": str(outcome)},
            key="rule.no_chance_is_pending",
        )
    try:
        position.apply(outcome, events)
    except EngineError as error:
        error.lies_below("outcome")
        conversion.name_game(error, position.game)
        raise
