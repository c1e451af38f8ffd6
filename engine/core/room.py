"""What a room holds: the contract that every engine/games/<game> keeps."""

from collections.abc import Mapping
from typing import Any, Protocol

from chatiere.engine.core.position import Event, Game, Position


class Codec(Protocol):
    """Between positions and the messages of the game's own protobuf file.

    The functions fill and read the message objects that they are handed (fresh ones to fill), and import nothing of
    them.
    Where a message is wrong they raise EngineError, its `field` a path below that message.
    """

    def read_options(self, message: Any) -> dict[str, Any]:
        """Options by the names of the rules file; absent ones are left out. Raises INVALID_OPTION."""

    def fill_options(self, message: Any, options: Mapping[str, Any]) -> None:
        """The reverse."""

    def read_state(self, message: Any) -> bytes:
        """A state as the body that Game.position takes (and checks). Raises INVALID_STATE."""

    def fill_state(self, message: Any, position: Position) -> None:
        """The reverse."""

    def read_action(self, message: Any, position: Position) -> int:
        """The dense id of a typed action at a position; whether it is legal is for `Position.apply` to say.

        Raises INVALID_ACTION, ILLEGAL_ACTION (where the action has no id here), CHANCE_PENDING, GAME_OVER.
        """

    def fill_action(self, message: Any, position: Position, action: int) -> None:
        """The reverse, for a legal dense id."""

    def fill_view(self, message: Any, position: Position, seat: int | None) -> None:
        """What a seat, or a spectator (None), may know."""

    def fill_event(self, message: Any, event: Event, whole: bool) -> None:
        """An event; `whole`: with what only some seats may see."""

    def event_label(self, event: Event, whole: bool) -> str:
        """An event in plain English."""

    def fill_score(self, message: Any, position: Position) -> None:
        """The breakdown of the score."""


class Room(Protocol):
    """A game and its codec."""

    GAME: Game
    codec: Codec
