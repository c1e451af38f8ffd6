"""Conversion between the messages that all games share (State, Action, View …) and the engine.

In each oneof a game has the field of its own name; its content is read and written by the game's codec.
"""

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Game, Position, Reason
from chatiere.engine.core.description import ObservationField
from chatiere.engine.core.messages import Messages
from chatiere.engine.wire import Reader
from chatiere.service.calls.errors import Refusal, ServiceReason
from chatiere.v1 import game_pb2

# A game's reader and writer of messages, by its field number; the set of these numbers as bits; the readers by game.
_BY_FIELD = {
    (field := game_pb2.State.DESCRIPTOR.fields_by_name[game.name].number): Messages(
        game, engine.codec(game.name), field
    )
    for game in engine.games()
}
_FIELDS = sum(1 << field for field in _BY_FIELD)
_BY_GAME = {messages.game: messages for messages in _BY_FIELD.values()}
_ACTION_ID = game_pb2.Action.ID_FIELD_NUMBER


def of(position: Position) -> Messages:
    """Return the reader and writer of the messages of a position's game."""
    return _BY_GAME[position.game]


def game_of(message: Reader) -> Game | None:
    """Return the game whose field a message has; None if it has none."""
    messages = _BY_FIELD.get(message.which(_FIELDS))
    return None if messages is None else messages.game


def name_game(error: EngineError, game: Game) -> None:
    """Add the game to a refusal's metadata."""
    error.metadata["game"] = game.name


def game_names() -> str:
    """Return the names of all games, for error messages."""
    return ", ".join(game.name for game in engine.games())


def read_state(state: Reader) -> Position:
    """Return the position of a State.

    Raises EngineError, with a path below the State: UNKNOWN_GAME, UNSUPPORTED_RULES_VERSION, INVALID_STATE.
    """
    messages = _BY_FIELD.get(state.which(_FIELDS))
    if messages is None:
        names = game_names()
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


def apply_action(action: Reader, position: Position, events: EventLog) -> None:
    """Make the move of a request's field `action`, an Action; append its events to `events`.

    Raises Refusal (MISSING_FIELD, ACTION_MISMATCH) and EngineError (CHANCE_PENDING, GAME_OVER, INVALID_ACTION,
    ILLEGAL_ACTION).
    """
    path = "action"
    try:
        position.require_decision()
        number, path = _read_action(action, position)
        position.apply(number, events)
    except EngineError as error:
        error.lies_below(path)
        name_game(error, position.game)
        raise


def _read_action(action: Reader, position: Position) -> tuple[int, str]:
    # The dense id, and the path of the field that it came from.
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
        return action.number(_ACTION_ID), "action.id"
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
    return typed_id, f"action.{name}"


def write_game_info(game: Game) -> game_pb2.GameInfo:
    """Return a game's GameInfo."""
    description = game.description
    return game_pb2.GameInfo(
        name=game.name,
        english_title=description.english_title,
        french_title=description.french_title,
        min_players=game.min_players,
        max_players=game.max_players,
        rules_version=game.rules_version,
        options=[
            game_pb2.OptionInfo(
                name=option.name,
                meaning=option.meaning,
                lowest=option.lowest,
                highest=option.highest,
                default_meaning=option.default,
                default_values=option.default_values,
            )
            for option in description.options
        ],
        action_kinds=[
            game_pb2.ActionKindInfo(name=kind.name, meaning=kind.meaning, first_id=kind.first_id, last_id=kind.last_id)
            for kind in description.action_kinds
        ],
        num_actions=game.num_distinct_actions,
        outcomes=description.outcomes,
        pieces=[
            game_pb2.PieceInfo(
                kind=piece.kind, number=piece.number, english_name=piece.english, french_name=piece.french
            )
            for piece in description.pieces
        ],
        packed_size=game.packed_size,
        observation=[
            game_pb2.ObservationPartInfo(
                name=part.name,
                meaning=part.meaning,
                offset=part.offset,
                shape=part.shape,
                fields=[_field_info(field) for field in part.fields],
            )
            for part in description.observation
        ],
        observation_length=game.observation_length,
        lowest_total_wins=game.lowest_total_wins,
        zero_sum=game.zero_sum,
        tables=[
            game_pb2.TableInfo(
                players=players,
                limits=game_pb2.GameLimits(**game.limits(players)._asdict()),
                limits_of_any_options=game_pb2.GameLimits(**game.limits_of_any_options(players)._asdict()),
            )
            for players in range(game.min_players, game.max_players + 1)
        ],
    )


def _field_info(field: ObservationField) -> game_pb2.ObservationFieldInfo:
    return game_pb2.ObservationFieldInfo(
        name=field.name,
        kind=f"OBSERVATION_KIND_{field.kind.name}",
        largest=field.largest,
        offset=field.offset,
        shape=field.shape,
        strides=field.strides,
        first_bit=field.first_bit,
        num_bits=field.num_bits,
    )
