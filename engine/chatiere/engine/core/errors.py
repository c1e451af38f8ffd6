"""The engine's refusals: an exception with a reason from a fixed list, the field in error and the broken rule."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """The reasons for refusals, with the names and numbers of the API's ErrorReason."""

    UNKNOWN_GAME = "UNKNOWN_GAME"
    INVALID_PLAYERS = "INVALID_PLAYERS"
    INVALID_OPTION = "INVALID_OPTION"
    INVALID_SEED = "INVALID_SEED"
    INVALID_SEAT = "INVALID_SEAT"
    INVALID_STATE = "INVALID_STATE"
    UNSUPPORTED_RULES_VERSION = "UNSUPPORTED_RULES_VERSION"
    INVALID_ACTION = "INVALID_ACTION"
    ILLEGAL_ACTION = "ILLEGAL_ACTION"
    IMPOSSIBLE_OUTCOME = "IMPOSSIBLE_OUTCOME"
    CHANCE_PENDING = "CHANCE_PENDING"
    NO_CHANCE_PENDING = "NO_CHANCE_PENDING"
    GAME_OVER = "GAME_OVER"
    INVALID_BATCH = "INVALID_BATCH"
    BATCH_TOO_LARGE = "BATCH_TOO_LARGE"
    WRONG_TURN = "WRONG_TURN"
    INVALID_RECORD = "INVALID_RECORD"

    @property
    def number(self) -> int:
        """The number of the reason in the API's ErrorReason."""
        return _NUMBERS[self]


_NUMBERS = {
    Reason.UNKNOWN_GAME: 1,
    Reason.INVALID_PLAYERS: 2,
    Reason.INVALID_OPTION: 3,
    Reason.INVALID_SEED: 4,
    Reason.INVALID_SEAT: 5,
    Reason.INVALID_STATE: 6,
    Reason.UNSUPPORTED_RULES_VERSION: 7,
    Reason.INVALID_ACTION: 8,
    Reason.ILLEGAL_ACTION: 9,
    Reason.IMPOSSIBLE_OUTCOME: 11,
    Reason.CHANCE_PENDING: 12,
    Reason.NO_CHANCE_PENDING: 13,
    Reason.GAME_OVER: 14,
    Reason.INVALID_BATCH: 18,
    Reason.BATCH_TOO_LARGE: 19,
    Reason.WRONG_TURN: 32,
    Reason.INVALID_RECORD: 25,
}


class EngineError(ValueError):
    """A refusal. It is raised before any change is made.

    Attributes:
        reason: The reason for the refusal.
        message: The message, in English.
        field: The path within the argument to the value in error ("seats[2].hand"). Empty for the whole argument.
        rule: The rules file and heading of the broken rule. Empty if no rule of a game was broken.
        metadata: Further facts as short strings, for example the actor.
        key: The key of the game's phrase for the fault. Empty if there is no phrase.
        parts: The fields of the game's action messages that can cause the fault. Only a field of the action's own
            message applies.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        field: str = "",
        rule: str = "",
        metadata: dict[str, str] | None = None,
        key: str = "",
        parts: tuple[str, ...] = (),
    ) -> None:
        """Initialize a refusal. The attributes of the class have the same meanings as the arguments."""
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.field = field
        self.rule = rule
        self.metadata = metadata or {}
        self.key = key
        self.parts = parts

    def lies_below(self, path: str, index: int | None = None) -> None:
        """Extend `field` when the value in error is part of an outer message.

        Args:
            path: The path to prepend to `field`: the path within the outer message.
            index: The index in the list at `path`. None means that `path` is not a list.
        """
        place = path if index is None else f"{path}[{index}]"
        if not self.field or self.field.startswith("["):
            self.field = place + self.field
        else:
            self.field = f"{place}.{self.field}"


@dataclass(frozen=True)
class FaultText:
    """The text of a kernel's error code. The fields have the same meanings as the attributes of EngineError."""

    reason: Reason
    message: str
    field: str = ""
    rule: str = ""
    key: str = ""
    parts: tuple[str, ...] = ()
