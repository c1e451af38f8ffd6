"""Between the messages that all games share (State, Action, View …) and the engine.

In each oneof a game has the field of its own name; what is inside is for the game's codec.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from chatiere import engine
from chatiere.engine import CHANCE_PLAYER, TERMINAL_PLAYER, EngineError, Event, Game, Position, Reason
from chatiere.service.errors import Refusal, ServiceReason
from chatiere.v1 import game_pb2


@contextmanager
def below(path: str, game: Game) -> Iterator[None]:
    """Let the refusals from inside name their field from the request on, and the game."""
    try:
        yield
    except EngineError as error:
        error.field = f"{path}.{error.field}" if error.field else path
        error.metadata.setdefault("game", game.name)
        raise


def game_names() -> str:
    """The games that there are, for errors."""
    return ", ".join(game.name for game in engine.games())


def read_state(state: game_pb2.State | None) -> Position:
    """The position of a request's field `state`; None stands for an absent field.

    Raises Refusal (MISSING_FIELD) and EngineError (UNKNOWN_GAME, UNSUPPORTED_RULES_VERSION, INVALID_STATE).
    """
    if state is None:
        names = game_names()
        raise Refusal(
            ServiceReason.MISSING_FIELD,
            f"the request has no state; it takes one of these games: {names}",
            field="state",
            metadata={"games": names},
        )
    name = state.WhichOneof("game")
    if name is None:
        names = game_names()
        raise EngineError(
            Reason.UNKNOWN_GAME,
            f"the state holds no game, or one that this service does not have; it has: {names}",
            field="state",
            metadata={"games": names},
        )
    game = engine.game(name)
    with below("state", game):
        game.check_rules_version(state.rules_version)
    stream = state.stream
    with below(f"state.{name}", game):
        return game.position(
            engine.codec(name).read_state(getattr(state, name)),
            (stream.seed, stream.game_number, stream.drawn) if state.HasField("stream") else None,
        )


def write_state(position: Position) -> game_pb2.State:
    """A position as a State."""
    game = position.game
    state = game_pb2.State(rules_version=game.rules_version)
    stream = position.random_stream()
    if stream is not None:
        seed, game_number, drawn = stream
        state.stream.CopyFrom(game_pb2.RandomStream(seed=seed, game_number=game_number, drawn=drawn))
    inner = getattr(state, game.name)
    inner.SetInParent()
    engine.codec(game.name).fill_state(inner, position)
    return state


def read_options(options: game_pb2.Options, game: Game) -> dict[str, object]:
    """The options of a game by name; {} for absent ones. Raises EngineError: INVALID_OPTION."""
    name = options.WhichOneof("game")
    if name is None:
        return {}
    if name != game.name:
        raise EngineError(
            Reason.INVALID_OPTION,
            f"these are options of {name}, not of {game.name}",
            field=f"options.{name}",
            metadata={"game": game.name},
        )
    with below(f"options.{name}", game):
        found: dict[str, object] = engine.codec(name).read_options(getattr(options, name))
    return found


def read_action(action: game_pb2.Action, position: Position) -> tuple[int, str]:
    """The dense id of a request's field `action` at a decision, and the path of the field that told it.

    Raises Refusal (MISSING_FIELD, ACTION_MISMATCH) and EngineError (INVALID_ACTION, ILLEGAL_ACTION).
    """
    game = position.game
    name = action.WhichOneof("game")
    if name is None:
        if not action.HasField("id"):
            raise Refusal(
                ServiceReason.MISSING_FIELD,
                f"the action has neither an id nor an action of {game.name}",
                field="action",
                metadata={"game": game.name},
            )
        return action.id, "action.id"
    path = f"action.{name}"
    if name != game.name:
        raise EngineError(
            Reason.INVALID_ACTION,
            f"this is an action of {name}; the state is of {game.name}",
            field=path,
            metadata={"game": game.name},
        )
    with below(path, game):
        typed_id: int = engine.codec(name).read_action(getattr(action, name), position)
    if action.HasField("id") and action.id != typed_id:
        raise Refusal(
            ServiceReason.ACTION_MISMATCH,
            f"the typed action has the id {typed_id}, not {action.id}",
            field="action.id",
            metadata={"game": game.name, "typed_id": str(typed_id)},
        )
    return typed_id, path


def write_turn(position: Position) -> game_pb2.Turn:
    """What a position waits for."""
    player = position.current_player()
    if player == CHANCE_PLAYER:
        return game_pb2.Turn(kind=game_pb2.TURN_KIND_CHANCE)
    if player == TERMINAL_PLAYER:
        return game_pb2.Turn(kind=game_pb2.TURN_KIND_OVER)
    return game_pb2.Turn(kind=game_pb2.TURN_KIND_DECISION, seat=player)


def write_legal_actions(position: Position) -> list[game_pb2.Action]:
    """The legal actions, by ascending id; empty unless a seat has to decide."""
    name = position.game.name
    fill_action = engine.codec(name).fill_action
    actions = []
    for action_id in position.legal_actions():
        action = game_pb2.Action(id=action_id, label=position.action_label(action_id))
        fill_action(getattr(action, name), position, action_id)
        actions.append(action)
    return actions


def write_chance_outcomes(position: Position) -> list[game_pb2.ChanceOutcome]:
    """What can come of the pending chance event, ascending; empty when none is pending."""
    return [
        game_pb2.ChanceOutcome(outcome=outcome, weight=weight, label=position.outcome_label(outcome))
        for outcome, weight in position.chance_outcomes()
    ]


def write_host_events(events: Sequence[Event], game: Game) -> list[game_pb2.Event]:
    """Events whole."""
    return [_write_event(event, game, whole=True) for event in events]


def write_viewer_events(events: Sequence[Event], game: Game, seat: int | None) -> list[game_pb2.Event]:
    """Events as a seat (None: a spectator) may see them."""
    return [_write_event(event, game, whole=event.seen_by is None or seat in event.seen_by) for event in events]


def _write_event(event: Event, game: Game, *, whole: bool) -> game_pb2.Event:
    codec = engine.codec(game.name)
    message = game_pb2.Event(
        seen_whole_by=sorted(event.seen_by or ()),
        everybody=event.seen_by is None,
        label=codec.event_label(event, whole),
    )
    inner = getattr(message, game.name)
    inner.SetInParent()
    codec.fill_event(inner, event, whole)
    return message


def write_view(position: Position, seat: int | None) -> game_pb2.View:
    """What a seat (None: a spectator) may know of a position."""
    game = position.game
    view = game_pb2.View(rules_version=game.rules_version, seat=seat, turn=write_turn(position))
    inner = getattr(view, game.name)
    inner.SetInParent()
    engine.codec(game.name).fill_view(inner, position, seat)
    return view


def write_score(position: Position) -> game_pb2.Score:
    """The score, final or as it stands."""
    name = position.game.name
    score = game_pb2.Score(totals=position.totals(), final=position.is_terminal())
    if score.final:
        score.winners.extend(position.winners() or ())
        score.ranks.extend(position.ranks() or ())
        score.returns.extend(position.returns())
    inner = getattr(score.detail, name)
    inner.SetInParent()
    engine.codec(name).fill_score(inner, position)
    return score


def write_game_info(game: Game) -> game_pb2.GameInfo:
    """What a game says of itself."""
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
            game_pb2.ObservationPartInfo(name=part.name, meaning=part.meaning, offset=part.offset, shape=part.shape)
            for part in description.observation
        ],
        observation_length=game.observation_length,
    )
