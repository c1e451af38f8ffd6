# cython: annotation_typing=False
"""Conversion between the engine and the messages shared by all games (State, Action, View …).

Each oneof in these messages has one field per game, with the game's name. The game's codec reads and writes the field's
content.
"""

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Game, Reason
from chatiere.engine.core.languages import LANGUAGES
from chatiere.engine.core.messages import Messages
from chatiere.engine.core.position import Position
from chatiere.engine.wire.reader import Reader
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.base.languages import spoken
from chatiere.service.base.names import is_visible
from chatiere.v1 import game_pb2

# The object that reads and writes each game's messages, by the number of the game's field.
_BY_FIELD = {
    (field := game_pb2.State.DESCRIPTOR.fields_by_name[game.name].number): Messages(
        game, engine.codec(game.name), field
    )
    for game in engine.games()
}
# The numbers of these fields, as the bits of a number.
_FIELDS = sum(1 << field for field in _BY_FIELD)
# The Messages for each language and game.
_BY_GAME = {
    language: {
        messages.game: Messages(messages.game, engine.codec(messages.game.name), field, language)
        for field, messages in _BY_FIELD.items()
    }
    for language in LANGUAGES
}
_ACTION_ID = game_pb2.Action.ID_FIELD_NUMBER
_SEAT_NAMES = game_pb2.Include.SEAT_NAMES_FIELD_NUMBER
_OMIT_LABELS = game_pb2.Include.OMIT_LABELS_FIELD_NUMBER
_OMIT_PHRASES = game_pb2.Include.OMIT_PHRASES_FIELD_NUMBER
# The maximum length of a seat's name, in characters.
_MAX_NAME_LENGTH = 40


def of(position: Position) -> Messages:
    """Return the Messages of a position's game, in the language of the call."""
    return _BY_GAME[spoken()][position.game]


def as_included(parts: Reader, position: Position) -> Messages:
    """Return the Messages of a position's game, with the labels and phrases that an Include message selects.

    Raises:
        EngineError: If the seat names are invalid (INVALID_SEAT).
    """
    messages = of(position)
    names = _read_seat_names(parts, position.num_players(), position.game)
    omits_labels, omits_phrases = parts.number(_OMIT_LABELS), parts.number(_OMIT_PHRASES)
    if not (names or omits_labels or omits_phrases):
        return messages
    return messages.saying(names, labels=not omits_labels, phrases=not omits_phrases)


def _read_seat_names(parts: Reader, players: int, game: Game) -> list[bytes]:
    """Return the seat names of an Include message, or [] if it has no names. Raises EngineError (INVALID_SEAT)."""
    # Read one name more than allowed, to detect too many names.
    names = parts.texts(_SEAT_NAMES, players + 1)
    if names and len(names) != players:
        raise _bad_names(f"seat_names must have {players} names, or none", "", players, game)
    for seat, name in enumerate(names):
        # Names must be printable. Other characters could break lines, or imitate the text of another person.
        if not (len(name) <= _MAX_NAME_LENGTH and is_visible(name)):
            message = f"a name must have 1 to {_MAX_NAME_LENGTH} printable characters, and one that can be seen"
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
    """Return the game whose field is set in a message, or None if no field is set."""
    messages = _BY_FIELD.get(message.which(_FIELDS))
    return None if messages is None else messages.game


def named_game(name: str, options: Reader) -> Game:
    """Return the game of a request. If the field `game` is empty, the options determine the game.

    Raises:
        EngineError: If the game is unknown or not given (UNKNOWN_GAME).
    """
    if name:
        return engine.game(name)
    game = game_of(options)
    if game is None:
        names = _game_names()
        raise EngineError(
            Reason.UNKNOWN_GAME,
            f"the request has neither a game nor options of a game; known games: {names}",
            field="game",
            metadata={"games": names},
        )
    return game


def name_game(error: EngineError, game: Game) -> None:
    """Add the game to an error's metadata."""
    error.metadata["game"] = game.name


def missing(field: str) -> Refusal:
    """Return the refusal of a request that lacks the field that identifies the game."""
    names = _game_names()
    message = f"the request has no {field}; known games: {names}"
    return Refusal(ServiceReason.MISSING_FIELD, message, field=field, metadata={"games": names})


def _game_names() -> str:
    return ", ".join(game.name for game in engine.games())


def read_state(state: Reader) -> Position:
    """Return the position of a State message.

    Raises:
        EngineError: UNKNOWN_GAME, UNSUPPORTED_RULES_VERSION, INVALID_STATE. The field path begins in the State.
    """
    messages = _BY_FIELD.get(state.which(_FIELDS))
    if messages is None:
        names = _game_names()
        raise EngineError(
            Reason.UNKNOWN_GAME,
            f"the state has no known game; known games: {names}",
            metadata={"games": names},
        )
    try:
        return messages.read_state(state)
    except EngineError as error:
        name_game(error, messages.game)
        raise


def read_options(options: Reader, game: Game) -> dict[str, object]:
    """Map the names of the options in an Options message to their values. Return {} if the message is empty.

    Raises:
        EngineError: If an option is invalid (INVALID_OPTION).
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
    """Check options returned by `read_options` for a number of players. Raises EngineError (INVALID_OPTION)."""
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
    """Apply an Action message.

    Args:
        action: The message.
        position: The position. It is changed in place.
        events: The log to which the events of the action are added.

    Returns:
        The dense id of the action.

    Raises:
        Refusal: MISSING_FIELD, ACTION_MISMATCH.
        EngineError: CHANCE_PENDING, GAME_OVER, INVALID_ACTION, ILLEGAL_ACTION.
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
    # Return the path of the part of a typed action that the rule forbids, or else the path of the action.
    kind = next(kind for kind in game.description.action_kinds if action <= kind.last_id)
    actions = game_pb2.Action.DESCRIPTOR.fields_by_name[game.name].message_type
    assert actions is not None
    fields = actions.fields_by_name[kind.name].message_type
    assert fields is not None
    parts = [part for part in error.parts if part in fields.fields_by_name]
    return ".".join((game.name, kind.name, *parts[:1]))


def _read_action(action: Reader, position: Position) -> tuple[int, bool]:
    # Return the dense id, and True if the action is typed.
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
