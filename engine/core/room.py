"""What a room holds: the contract that every engine/games/<game> keeps."""

from collections.abc import Mapping
from typing import Any, Protocol

from chatiere.engine.core.position import Event, Game, Position
from chatiere.engine.core.wire import Reader, Writer


class Codec(Protocol):
    """Between positions and the messages of the game's own protobuf file.

    What is read is a message, opened by a Reader. Where it is wrong the functions raise EngineError, its `field` a path
    below that message. What is written goes into a Writer, field by field: `wire.fill` makes a message object of it.
    """

    def read_options(self, reader: Reader) -> dict[str, Any]:
        """Options by the names of the rules file; absent ones are left out. Raises INVALID_OPTION."""

    def put_options(self, out: Writer, options: Mapping[str, Any]) -> None:
        """The reverse."""

    def read_state(self, reader: Reader) -> bytes:
        """A state as the body that Game.position takes (and checks). Raises INVALID_STATE."""

    def put_state(self, out: Writer, position: Position) -> None:
        """The reverse."""

    def read_action(self, reader: Reader, position: Position) -> int:
        """The dense id of a typed action at a position; whether it is legal is for `Position.apply` to say.

        Raises INVALID_ACTION, ILLEGAL_ACTION (where the action has no id here), CHANCE_PENDING, GAME_OVER.
        """

    def put_action(self, out: Writer, position: Position, action: int) -> None:
        """The reverse, for a legal dense id."""

    def put_action_label(self, out: Writer, position: Position, action: int) -> None:
        """A legal dense id in plain English, as a piece of a text."""

    def put_view(self, out: Writer, position: Position, seat: int | None) -> None:
        """What a seat, or a spectator (None), may know."""

    def put_event(self, out: Writer, event: Event, whole: bool) -> None:
        """An event; `whole`: with what only some seats may see."""

    def put_event_label(self, out: Writer, event: Event, whole: bool) -> None:
        """The same in plain English, as a piece of a text."""

    def put_score(self, out: Writer, position: Position) -> None:
        """The breakdown of the score."""


class Room(Protocol):
    """A game and its codec."""

    GAME: Game
    codec: Codec
