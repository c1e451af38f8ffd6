"""Conversion between the messages that all games share (State, Action, View …) and the engine.

In each oneof a game has the field of its own name; its content is read and written by the game's codec.
"""

from collections.abc import Sequence

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Game, Position, Reason
from chatiere.engine.core.languages import LANGUAGES
from chatiere.engine.core.messages import Messages
from chatiere.engine.wire import Reader
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.base.languages import spoken
from chatiere.v1 import game_pb2

# A game's reader and writer of messages, by its field number; the set of these numbers as bits; the readers by game.
_BY_FIELD = {
    (field := game_pb2.State.DESCRIPTOR.fields_by_name[game.name].number): Messages(
        game, engine.codec(game.name), field
    )
    for game in engine.games()
}
_FIELDS = sum(1 << field for field in _BY_FIELD)
# By language.
_BY_GAME = {
    language: {
        messages.game: Messages(messages.game, engine.codec(messages.game.name), field, language)
        for field, messages in _BY_FIELD.items()
    }
    for language in LANGUAGES
}
_ACTION_ID = game_pb2.Action.ID_FIELD_NUMBER
_SEAT_NAMES = game_pb2.Include.SEAT_NAMES_FIELD_NUMBER
# In characters.
_MAX_NAME_LENGTH = 40


def of(position: Position, seat_names: Sequence[bytes] = ()) -> Messages:
    """Return the reader and writer of the messages of a position's game, in the language of the call.

    `seat_names`: as in `read_seat_names`.
    """
    messages = _BY_GAME[spoken()][position.game]
    return messages.naming(seat_names) if seat_names else messages


def read_seat_names(include: Reader, players: int, game: Game) -> list[bytes]:
    """Return the names of the seats of a request's field `include`, an Include; [] if it has none.

    Raises EngineError: INVALID_SEAT.
    """
    # One more than there may be, so that too many are seen.
    names = include.texts(_SEAT_NAMES, players + 1)
    if names and len(names) != players:
        raise _bad_names(f"there are {players} seats: seat_names has a name for each, or none", "", players, game)
    for seat, name in enumerate(names):
        # Nothing that would show other text as another's, or break a line.
        if not (0 < len(name) <= _MAX_NAME_LENGTH and name.isprintable()):
            message = f"a name has 1 to {_MAX_NAME_LENGTH} characters, all printable"
            raise _bad_names(message, f"[{seat}]", players, game)
    return [name.encode() for name in names]


def _bad_names(message: str, place: str, players: int, game: Game) -> EngineError:
    return EngineError(
        Reason.INVALID_SEAT,
        message,
        field=f"include.seat_names{place}",
        metadata={"game": game.name, "players": str(players)},
    )


def game_of(message: Reader) -> Game | None:
    """Return the game whose field a message has; None if it has none."""
    messages = _BY_FIELD.get(message.which(_FIELDS))
    return None if messages is None else messages.game


def named_game(name: str, options: Reader) -> Game:
    """Return the game of a request that names it in its field `game` or, if that is empty, by its options.

    Raises EngineError: UNKNOWN_GAME.
    """
    if name:
        return engine.game(name)
    game = game_of(options)
    if game is None:
        names = _game_names()
        raise EngineError(
            Reason.UNKNOWN_GAME,
            f"no game in the request, by name or by its options; known games: {names}",
            field="game",
            metadata={"games": names},
        )
    return game


def name_game(error: EngineError, game: Game) -> None:
    """Add the game to a refusal's metadata."""
    error.metadata["game"] = game.name


def missing(field: str) -> Refusal:
    """Return the refusal of a request without the field that has its game."""
    names = _game_names()
    message = f"the request has no {field}; known games: {names}"
    return Refusal(ServiceReason.MISSING_FIELD, message, field=field, metadata={"games": names})


def _game_names() -> str:
    return ", ".join(game.name for game in engine.games())


def read_state(state: Reader) -> Position:
    """Return the position of a State.

    Raises EngineError, with a path below the State: UNKNOWN_GAME, UNSUPPORTED_RULES_VERSION, INVALID_STATE.
    """
    messages = _BY_FIELD.get(state.which(_FIELDS))
    if messages is None:
        names = _game_names()
        raise EngineError(
            Reason.UNKNOWN_GAME,
            f"no game, or an unknown one, in the state; known games: {names}",
            metadata={"games": names},
        )
    try:
        return messages.read_state(state)
    except EngineError as error:
        name_game(error, messages.game)
        raise


def read_options(options: Reader, game: Game) -> dict[str, object]:
    """Return the options of a request's field `options`, an Options, by name; {} if it is absent.

    Raises EngineError: INVALID_OPTION.
    """
    field = options.which(_FIELDS)
    if not field:
        return {}
    name = _BY_FIELD[field].game.name
    try:
        if name != game.name:
            raise EngineError(Reason.INVALID_OPTION, f"{name} options for a {game.name} game")
        found: dict[str, object] = engine.codec(name).read_options(options.inner(field))
    except EngineError as error:
        _lies_in_options(error, name, game)
        raise
    return found


def check_options(options: dict[str, object], game: Game, players: int) -> None:
    """Raise EngineError (INVALID_OPTION) unless `players` can play with what `read_options` returned."""
    try:
        game.encode_options(players, options)
    except EngineError as error:
        _lies_in_options(error, game.name, game)
        raise


def _lies_in_options(error: EngineError, name: str, game: Game) -> None:
    # `name`: the field of the oneof.
    error.lies_below(f"options.{name}")
    name_game(error, game)


def apply_action(action: Reader, position: Position, events: EventLog) -> int:
    """Make the move of a request's field `action`, an Action; append its events to `events`; return its dense id.

    Raises Refusal (MISSING_FIELD, ACTION_MISMATCH) and EngineError (CHANCE_PENDING, GAME_OVER, INVALID_ACTION,
    ILLEGAL_ACTION).
    """
    try:
        position.require_decision()
        number, is_typed = _read_action(action, position)
        try:
            position.apply(number, events)
        except EngineError as error:
            error.lies_below(_blamed(position.game, number, error) if is_typed else "id")
            raise
    except EngineError as error:
        error.lies_below("action")
        name_game(error, position.game)
        raise
    return number


def _blamed(game: Game, action: int, error: EngineError) -> str:
    # The path of the part of a typed action that a rule forbids, or of the whole.
    kind = next(kind for kind in game.description.action_kinds if action <= kind.last_id)
    actions = game_pb2.Action.DESCRIPTOR.fields_by_name[game.name].message_type
    assert actions is not None
    fields = actions.fields_by_name[kind.name].message_type
    assert fields is not None
    parts = [part for part in error.parts if part in fields.fields_by_name]
    return ".".join((game.name, kind.name, *parts[:1]))


def _read_action(action: Reader, position: Position) -> tuple[int, bool]:
    # The dense id, and whether it is that of a typed action.
    game = position.game
    messages = _BY_FIELD.get(action.which(_FIELDS))
    if messages is None:
        if not action.has_number(_ACTION_ID):
            raise Refusal(
                ServiceReason.MISSING_FIELD,
                f"the action has neither an id nor a {game.name} action",
                field="action",
                metadata={"game": game.name},
            )
        return action.number(_ACTION_ID), False
    name = messages.game.name
    if name != game.name:
        raise EngineError(
            Reason.INVALID_ACTION,
            f"a {name} action for a {game.name} state",
            field=name,
        )
    typed_id = messages.read_action(action, position)
    if action.has_number(_ACTION_ID) and action.number(_ACTION_ID) != typed_id:
        raise Refusal(
            ServiceReason.ACTION_MISMATCH,
            f"the typed action has id {typed_id}, not {action.number(_ACTION_ID)}",
            field="action.id",
            metadata={"game": game.name, "typed_id": str(typed_id)},
        )
    return typed_id, True
