"""Citations of a game's rules file in faults and refusals."""

from typing import NoReturn

from chatiere.engine.core.errors import EngineError, FaultText, Reason

_INVARIANTS = "Invariants"


class RulesFile:
    """The rules file of a game, whose headings its faults and refusals cite."""

    def __init__(self, name: str) -> None:
        """Cite the file `name` of docs/rules."""
        self.name = name

    def illegal(self, name: str, message: str, heading: str, *parts: str) -> FaultText:
        """Return the text of a fault of a move. `name`: the kernel's, in lower case; `parts` as in EngineError."""
        return FaultText(
            Reason.ILLEGAL_ACTION, message, rule=f"{self.name}: {heading}", key=f"rule.{name}", parts=parts
        )

    def broken(self, name: str, message: str, field: str, heading: str = _INVARIANTS) -> FaultText:
        """Return the text of a fault of a state. `name`: the kernel's, in lower case."""
        return FaultText(
            Reason.INVALID_STATE, message, field=field, rule=f"{self.name}: {heading}", key=f"state.{name}"
        )

    def refuse_state(self, field: str, message: str, heading: str = _INVARIANTS) -> NoReturn:
        """Raise INVALID_STATE."""
        raise EngineError(Reason.INVALID_STATE, message, field=field, rule=f"{self.name}: {heading}")

    def refuse_card(self, actor: int, card: str, field: str) -> NoReturn:
        """Raise ILLEGAL_ACTION for a typed action with a card that the seat does not have: it has no dense id."""
        raise EngineError(
            Reason.ILLEGAL_ACTION,
            f"seat {actor} has no {card}",
            field=field,
            rule=f"{self.name}: Actions",
            metadata={"actor": str(actor)},
            key="rule.card_not_in_hand",
        )

    def in_range(self, value: int, lowest: int, highest: int, field: str) -> int:
        """Return `value`, a number of a state's message, if it is from `lowest` to `highest`. Raises INVALID_STATE."""
        if not lowest <= value <= highest:
            self.refuse_state(field, f"{value} is not from {lowest} to {highest}")
        return value
