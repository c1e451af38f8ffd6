"""What the engine answers to what it cannot do: one exception, a reason from a fixed list, the field, the rule."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why the engine refused; the API's ErrorReason has the same names and numbers."""

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

    @property
    def number(self) -> int:
        """What stands for it in the columns of a batch."""
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
}


class EngineError(ValueError):
    """A refusal: nothing was changed.

    `field` names what is wrong, as a path below the argument it was found in ("seats[2].hand"), empty for the whole
    argument. `rule` cites the rules file and heading that forbids it, empty where no rule of a game does.
    `metadata` holds further facts as short strings, such as the actor.
    """

    def __init__(
        self, reason: Reason, message: str, *, field: str = "", rule: str = "", metadata: dict[str, str] | None = None
    ) -> None:
        """See the class."""
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.field = field
        self.rule = rule
        self.metadata = metadata or {}

    def lies_below(self, path: str) -> None:
        """Let `field` be a path from further out: what it was a path below is at `path`."""
        self.field = f"{path}.{self.field}" if self.field else path


@dataclass(frozen=True)
class FaultText:
    """The words of one of a kernel's error codes; `field` and `rule` as in EngineError."""

    reason: Reason
    message: str
    field: str = ""
    rule: str = ""
