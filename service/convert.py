"""Between the messages that all games share (State, Action, View …) and the engine.

In each oneof a game has the field of its own name; what is inside is for the game's codec. The functions `put_…` write
wire format, which takes a fraction of the time that an object for each message would; of the whole
`fill(game_pb2.State(), put_state, position)` makes an object.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, Final

from chatiere import engine
from chatiere.engine import CHANCE_PLAYER, EngineError, Event, Game, Position, Reason
from chatiere.engine.core.wire import Writer, fill
from chatiere.service.errors import Refusal, ServiceReason
from chatiere.v1 import game_pb2


class _Host(Enum):
    """Who sees everything."""

    HOST = 0


HOST: Final = _Host.HOST
Viewer = int | None | _Host


def _numbers(message: Any) -> dict[str, int]:
    """The numbers of a message's fields by name."""
    return {field.name: field.number for field in message.DESCRIPTOR.fields}


_STATE = _numbers(game_pb2.State)
_STREAM = _numbers(game_pb2.RandomStream)
_TURN = _numbers(game_pb2.Turn)
_ACTION = _numbers(game_pb2.Action)
_OUTCOME = _numbers(game_pb2.ChanceOutcome)
_EVENT = _numbers(game_pb2.Event)
_VIEW = _numbers(game_pb2.View)
_POSITION = _numbers(game_pb2.Position)
_UPDATE = _numbers(game_pb2.ViewerUpdate)


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


def put_state(out: Writer, position: Position) -> None:
    """A position as a State."""
    game = position.game
    out.number(_STATE["rules_version"], game.rules_version)
    stream = position.random_stream()
    if stream is not None:
        begun = out.begin(_STATE["stream"])
        for name, value in zip(("seed", "game_number", "drawn"), stream, strict=True):
            out.number(_STREAM[name], value)
        out.end(begun)
    begun = out.begin(_STATE[game.name])
    engine.codec(game.name).put_state(out, position)
    out.end(begun)


def write_state(position: Position) -> game_pb2.State:
    """The same as a message."""
    return fill(game_pb2.State(), put_state, position)


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


def put_turn(out: Writer, position: Position) -> None:
    """What a position waits for, as a Turn."""
    player = position.current_player()
    if player >= 0:
        out.number(_TURN["kind"], game_pb2.TURN_KIND_DECISION)
        out.present(_TURN["seat"], player)
    else:
        out.number(_TURN["kind"], game_pb2.TURN_KIND_CHANCE if player == CHANCE_PLAYER else game_pb2.TURN_KIND_OVER)


def put_legal_actions(out: Writer, field: int, position: Position) -> None:
    """The legal actions as Actions, by ascending id; none unless a seat has to decide."""
    codec = engine.codec(position.game.name)
    put_label, put_action = codec.put_action_label, codec.put_action
    number, label, typed = _ACTION["id"], _ACTION["label"], _ACTION[position.game.name]
    begin, end, present = out.begin, out.end, out.present
    for action in position.legal_actions():
        begun = begin(field)
        present(number, action)
        inner = begin(label)
        put_label(out, position, action)
        end(inner)
        inner = begin(typed)
        put_action(out, position, action)
        end(inner)
        end(begun)


def put_chance_outcomes(out: Writer, field: int, position: Position) -> None:
    """What can come of the pending chance event as ChanceOutcomes, ascending; none when none is pending."""
    for outcome, weight in position.chance_outcomes():
        begun = out.begin(field)
        out.number(_OUTCOME["outcome"], outcome)
        out.number(_OUTCOME["weight"], weight)
        out.text(_OUTCOME["label"], position.outcome_label(outcome))
        out.end(begun)


def put_events(out: Writer, field: int, events: Sequence[Event], game: Game, viewer: Viewer = HOST) -> None:
    """Events as a viewer may see them: a seat, None (a spectator), or the host, who sees them whole."""
    codec = engine.codec(game.name)
    for event in events:
        whole = event.seen_by is None or viewer is HOST or viewer in event.seen_by
        begun = out.begin(field)
        out.numbers(_EVENT["seen_whole_by"], sorted(event.seen_by or ()))
        out.number(_EVENT["everybody"], event.seen_by is None)
        out.text(_EVENT["label"], codec.event_label(event, whole))
        inner = out.begin(_EVENT[game.name])
        codec.put_event(out, event, whole)
        out.end(inner)
        out.end(begun)


def put_view(out: Writer, position: Position, seat: int | None) -> None:
    """What a seat (None: a spectator) may know of a position, as a View."""
    game = position.game
    out.number(_VIEW["rules_version"], game.rules_version)
    if seat is not None:
        out.present(_VIEW["seat"], seat)
    begun = out.begin(_VIEW["turn"])
    put_turn(out, position)
    out.end(begun)
    begun = out.begin(_VIEW[game.name])
    engine.codec(game.name).put_view(out, position, seat)
    out.end(begun)


def put_position(out: Writer, position: Position, events: Sequence[Event], include: game_pb2.Include) -> None:
    """A Position with what was asked for beside it."""
    begun = out.begin(_POSITION["state"])
    put_state(out, position)
    out.end(begun)
    begun = out.begin(_POSITION["turn"])
    put_turn(out, position)
    out.end(begun)
    put_events(out, _POSITION["events"], events, position.game)
    if include.legal_actions:
        put_legal_actions(out, _POSITION["legal_actions"], position)
        put_chance_outcomes(out, _POSITION["chance_outcomes"], position)
    if include.score:
        begun = out.begin(_POSITION["score"])
        put_score(out, position)
        out.end(begun)
    viewers: list[int | None] = [*include.viewers]
    if include.spectator:
        viewers.append(None)
    for seat in viewers:
        begun = out.begin(_POSITION["viewers"])
        if seat is not None:
            out.present(_UPDATE["seat"], seat)
        inner = out.begin(_UPDATE["view"])
        put_view(out, position, seat)
        out.end(inner)
        put_events(out, _UPDATE["events"], events, position.game, seat)
        out.end(begun)


def put_score(out: Writer, position: Position) -> None:
    """The score, final or as it stands, as a Score."""
    name = position.game.name
    score = game_pb2.Score(totals=position.totals(), final=position.is_terminal())
    if score.final:
        score.winners.extend(position.winners() or ())
        score.ranks.extend(position.ranks() or ())
        score.returns.extend(position.returns())
    fill(getattr(score.detail, name), engine.codec(name).put_score, position)
    out.fields(score.SerializeToString())


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
