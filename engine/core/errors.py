"""What the engine answers to what it cannot do: one exception, a reason from a fixed list, the field, the rule."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why the engine refused; the API's ErrorReason has the same names."""

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
