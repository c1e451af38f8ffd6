"""What the rooms' tests share: positions as messages, and games played move by move, each of which is checked."""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, Self

from chatiere import engine
from chatiere.engine import EngineError, Event, EventLog, Game, Position
from chatiere.engine.wire import Reader, fill, written_text
from chatiere.v1 import game_pb2


def message(game: Game, envelope: str) -> Any:
    """An empty message of the game's own, as `envelope` (State, Action …) of the API holds it."""
    return getattr(getattr(game_pb2, envelope)(), game.name)


def state_of(position: Position) -> Any:
    """The whole state."""
    filled = message(position.game, "State")
    fill(filled, engine.codec(position.game.name).put_state, position)
    return filled


def view_of(position: Position, seat: int | None) -> Any:
    """What a seat, or a spectator, sees."""
    filled = message(position.game, "View")
    fill(filled, engine.codec(position.game.name).put_view, position, seat)
    return filled


def score_of(position: Position) -> Any:
    """The breakdown of the score."""
    filled = message(position.game, "ScoreDetail")
    fill(filled, engine.codec(position.game.name).put_score, position)
    return filled


def read(state: Any) -> Position:
    """The position of a state's message, whichever game's; the reverse of `state_of`."""
    name = PurePath(state.DESCRIPTOR.file.name).stem
    return engine.game(name).position(engine.codec(name).read_state(Reader(state)))


def name_of(filled: Any, field: str) -> str:
    """The name of the number in an enum field, without the enum's: TURN …"""
    value = filled.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number[getattr(filled, field)]
    return str(value.name).partition(f"_{field.upper()}_")[2]


def phase(position: Position) -> str:
    """The name of the phase."""
    return name_of(state_of(position), "phase")


def kind_of(game: Game, event: Event) -> str:
    """The name of an event's kind, without the enum's: CARD_DEALT …"""
    enum = message(game, "Event").DESCRIPTOR.fields_by_name["kind"].enum_type
    return str(enum.values_by_number[event.kind].name).partition("_EVENT_KIND_")[2]


def event_of(game: Game, event: Event, whole: bool = True) -> tuple[str, Any]:
    """An event's kind and message."""
    filled = message(game, "Event")
    fill(filled, engine.codec(game.name).put_event, event, whole)
    return kind_of(game, event), filled


def label_of(game: Game, event: Event, whole: bool) -> str:
    """An event in words."""
    return written_text(engine.codec(game.name).put_event_label, event, whole)


def made_event(game: Game, kind: str, seat: int | None, *values: int, seen_by: Iterable[int] | None = None) -> Event:
    """An event by the name of its kind."""
    enum = message(game, "Event").DESCRIPTOR.fields_by_name["kind"].enum_type
    number = next(value.number for value in enum.values if value.name.endswith(f"_EVENT_KIND_{kind}"))
    return Event(number, seat, None if seen_by is None else frozenset(seen_by), values)


def event_kinds(game: Game) -> set[int]:
    """The kinds of events that there are; 0 is none."""
    enum = message(game, "Event").DESCRIPTOR.fields_by_name["kind"].enum_type
    return {value.number for value in enum.values if value.number}


def refusal(position: Position, move: int) -> EngineError:
    """How a move is refused; nothing may change."""
    before = position.pack()
    try:
        position.apply(move)
    except EngineError as error:
        assert position.pack() == before
        return error
    raise AssertionError(f"{move} was not refused")


class Table:
    """A position that moves are made on. `events` are those of the last one."""

    position: Position
    events: EventLog

    @classmethod
    def at(cls, position: Position) -> Self:
        """Go on from a position, which stays as it is."""
        table = cls.__new__(cls)
        table.position = position.clone()
        table.events = EventLog()
        return table

    def apply(self, move: int) -> Self:
        """A dense id or an outcome."""
        self.events = EventLog()
        self.position.apply(move, self.events)
        self.position.check()
        return self

    @property
    def actor(self) -> int:
        """Who decides (-1 chance, -4 nobody)."""
        return int(self.position.current_player())

    @property
    def state(self) -> Any:
        """The whole state."""
        return state_of(self.position)

    @property
    def phase(self) -> str:
        """The name of the phase."""
        return phase(self.position)

    def refusal(self, move: int) -> EngineError:
        """How a move is refused."""
        return refusal(self.position, move)
