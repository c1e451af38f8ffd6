"""What the engine answers to what it cannot do: one exception, a reason from a fixed list, the field, the rule."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why the engine refused; the API's ErrorReason has the same names and numbers.

    `number` stands for it in the columns of a batch.
    """

    number: int

    def __new__(cls, name: str, number: int) -> "Reason":
        """A name with its number."""
        reason = str.__new__(cls, name)
        reason._value_ = name
        reason.number = number
        return reason

    UNKNOWN_GAME = "UNKNOWN_GAME", 1
    INVALID_PLAYERS = "INVALID_PLAYERS", 2
    INVALID_OPTION = "INVALID_OPTION", 3
    INVALID_SEED = "INVALID_SEED", 4
    INVALID_SEAT = "INVALID_SEAT", 5
    INVALID_STATE = "INVALID_STATE", 6
    UNSUPPORTED_RULES_VERSION = "UNSUPPORTED_RULES_VERSION", 7
    INVALID_ACTION = "INVALID_ACTION", 8
    ILLEGAL_ACTION = "ILLEGAL_ACTION", 9
    IMPOSSIBLE_OUTCOME = "IMPOSSIBLE_OUTCOME", 11
    CHANCE_PENDING = "CHANCE_PENDING", 12
    NO_CHANCE_PENDING = "NO_CHANCE_PENDING", 13
    GAME_OVER = "GAME_OVER", 14
    INVALID_BATCH = "INVALID_BATCH", 18
    BATCH_TOO_LARGE = "BATCH_TOO_LARGE", 19


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


@dataclass(frozen=True)
class FaultText:
    """The words of one of a kernel's error codes; `field` and `rule` as in EngineError."""

    reason: Reason
    message: str
    field: str = ""
    rule: str = ""
