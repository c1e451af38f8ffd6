"""Helpers shared by the games' tests: positions as messages, and games played move by move with checks."""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, Self

from chatiere import engine
from chatiere.engine import EngineError, Event, EventLog, Game, Position
from chatiere.engine.core.messages import Messages
from chatiere.engine.wire import Reader, fill, written_text
from chatiere.v1 import game_pb2


def message(game: Game, envelope: str) -> Any:
    """Return an empty message of the game's own type in one of the API's envelopes (State, Action …)."""
    return getattr(getattr(game_pb2, envelope)(), game.name)


def state_of(position: Position) -> Any:
    """Return the complete state as a message."""
    filled = message(position.game, "State")
    fill(filled, engine.codec(position.game.name).put_state, position)
    return filled


def view_of(position: Position, seat: int | None) -> Any:
    """Return the view of a seat, or of a spectator."""
    filled = message(position.game, "View")
    fill(filled, engine.codec(position.game.name).put_view, position, seat)
    return filled


def score_of(position: Position) -> Any:
    """Return the breakdown of the score."""
    filled = message(position.game, "ScoreDetail")
    fill(filled, engine.codec(position.game.name).put_score, position)
    return filled


def update_of(position: Position, seat: int | None) -> game_pb2.ViewerUpdate:
    """Return the update of a seat, or of a spectator, without events."""
    game = position.game
    field = game_pb2.State.DESCRIPTOR.fields_by_name[game.name].number
    put = Messages(game, engine.codec(game.name), field).put_position
    wanted = game_pb2.Include(viewers=[] if seat is None else [seat], spectator=seat is None)
    (update,) = fill(game_pb2.Position(), put, position, EventLog(), Reader(wanted)).updates
    return update


def read(state: Any, ply: int = 0) -> Position:
    """Return the position of a game's state message, with the given ply. This is the inverse of `state_of`."""
    name = PurePath(state.DESCRIPTOR.file.name).stem
    game = engine.game(name)
    return game.position(engine.codec(name).read_state(Reader(state), game.rules_version), ply=ply)


def name_of(filled: Any, field: str) -> str:
    """Return the name of an enum field's value without the enum's prefix: TURN …"""
    value = filled.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number[getattr(filled, field)]
    return str(value.name).partition(f"_{field.upper()}_")[2]


def phase(position: Position) -> str:
    """Return the name of the phase."""
    return name_of(state_of(position), "phase")


def end_of(position: Position) -> str | None:
    """Return the name of the reason why the game is over, or None if it is not over."""
    end = position.end()
    return None if end is None else position.game.description.ends[end]


def kind_of(game: Game, event: Event) -> str:
    """Return the name of an event's kind without the enum's prefix: CARD_DEALT …"""
    enum = message(game, "Event").DESCRIPTOR.fields_by_name["kind"].enum_type
    return str(enum.values_by_number[event.kind].name).partition("_EVENT_KIND_")[2]


def event_of(game: Game, event: Event, whole: bool = True) -> tuple[str, Any]:
    """Return an event's kind and message."""
    filled = message(game, "Event")
    fill(filled, engine.codec(game.name).put_event, event, whole)
    return kind_of(game, event), filled


def label_of(game: Game, event: Event, whole: bool, language: str = "en") -> str:
    """Return the label of an event."""
    return written_text(engine.codec(game.name).put_event_label, event, whole, language)


def made_event(game: Game, kind: str, seat: int | None, *values: int, seen_by: Iterable[int] | None = None) -> Event:
    """Return an event, given the name of its kind."""
    enum = message(game, "Event").DESCRIPTOR.fields_by_name["kind"].enum_type
    number = next(value.number for value in enum.values if value.name.endswith(f"_EVENT_KIND_{kind}"))
    return Event(number, seat, None if seen_by is None else frozenset(seen_by), values)


def event_kinds(game: Game) -> set[int]:
    """Return the kinds of events, without 0."""
    enum = message(game, "Event").DESCRIPTOR.fields_by_name["kind"].enum_type
    return {value.number for value in enum.values if value.number}


def refusal(position: Position, move: int) -> EngineError:
    """Return the refusal of a move. Assert that the position is unchanged."""
    before = position.pack()
    try:
        position.apply(move)
    except EngineError as error:
        assert position.pack() == before
        return error
    raise AssertionError(f"{move} was not refused")


class Table:
    """A position on which moves are made. `events` are the events of the last move."""

    position: Position
    events: EventLog

    @classmethod
    def at(cls, position: Position) -> Self:
        """Continue from a copy of a position."""
        table = cls.__new__(cls)
        table.position = position.clone()
        table.events = EventLog()
        return table

    def apply(self, move: int) -> Self:
        """Apply a dense id or an outcome."""
        self.events = EventLog()
        self.position.apply(move, self.events)
        self.position.check()
        return self

    @property
    def actor(self) -> int:
        """The seat to act, -1 if a chance event is pending, or -4 if the game is over."""
        return int(self.position.current_player())

    @property
    def state(self) -> Any:
        """The complete state as a message."""
        return state_of(self.position)

    @property
    def phase(self) -> str:
        """The name of the phase."""
        return phase(self.position)

    def refusal(self, move: int) -> EngineError:
        """Return the refusal of a move."""
        return refusal(self.position, move)
