"""A game's rules file, as its faults and refusals cite it."""

from typing import NoReturn

from chatiere.engine.core.errors import EngineError, FaultText, Reason

_INVARIANTS = "Invariants"


class RulesFile:
    """The rules file of a game, whose headings faults and refusals cite."""

    def __init__(self, name: str) -> None:
        """Name the file, which is in docs/rules."""
        self.name = name

    def illegal(self, message: str, heading: str) -> FaultText:
        """Return the words of a fault of a move."""
        return FaultText(Reason.ILLEGAL_ACTION, message, rule=f"{self.name}: {heading}")

    def broken(self, message: str, field: str, heading: str = _INVARIANTS) -> FaultText:
        """Return the words of a fault of a state."""
        return FaultText(Reason.INVALID_STATE, message, field=field, rule=f"{self.name}: {heading}")

    def refuse_state(self, field: str, message: str, heading: str = _INVARIANTS) -> NoReturn:
        """Raise INVALID_STATE."""
        raise EngineError(Reason.INVALID_STATE, message, field=field, rule=f"{self.name}: {heading}")

    def refuse_card(self, actor: int, card: str, field: str) -> NoReturn:
        """Raise ILLEGAL_ACTION for a typed action with a card that the seat does not have, which has no dense id."""
        raise EngineError(
            Reason.ILLEGAL_ACTION,
            f"seat {actor} has no {card}",
            field=field,
            rule=f"{self.name}: Actions",
            metadata={"actor": str(actor)},
        )

    def in_range(self, value: int, lowest: int, highest: int, field: str) -> int:
        """Return a number of a state's message, `lowest` to `highest`. Raises INVALID_STATE."""
        if not lowest <= value <= highest:
            self.refuse_state(field, f"{value} is not from {lowest} to {highest}")
        return value
