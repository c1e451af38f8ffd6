"""Faults and refusals that cite a game's rules file."""

from collections.abc import Mapping
from dataclasses import replace
from enum import IntEnum
from typing import NoReturn

from chatiere.engine.core.errors import EngineError, FaultText, Reason

_INVARIANTS = "Invariants"


class RulesFile:
    """The rules file of a game. Faults and refusals cite its headings."""

    def __init__(self, name: str) -> None:
        """Initialize with the name of a file in docs/rules."""
        self.name = name

    def illegal_action(self, message: str, heading: str, *parts: str) -> FaultText:
        """Return the text of a fault of a move, without its key.

        Args:
            message: The message, in English.
            heading: The heading of the broken rule.
            *parts: As in EngineError.
        """
        return FaultText(Reason.ILLEGAL_ACTION, message, rule=f"{self.name}: {heading}", parts=parts)

    def invalid_state(self, message: str, field: str, heading: str = _INVARIANTS) -> FaultText:
        """Return the text of a fault of a state, without its key."""
        return FaultText(Reason.INVALID_STATE, message, field=field, rule=f"{self.name}: {heading}")

    def refuse_state(self, field: str, message: str, heading: str = _INVARIANTS) -> NoReturn:
        """Raise INVALID_STATE."""
        raise EngineError(Reason.INVALID_STATE, message, field=field, rule=f"{self.name}: {heading}")

    def refuse_card(self, actor: int, card: str, field: str) -> NoReturn:
        """Raise ILLEGAL_ACTION for a typed action that has no dense id because the seat does not have the card."""
        raise EngineError(
            Reason.ILLEGAL_ACTION,
            f"seat {actor} has no {card}",
            field=field,
            rule=f"{self.name}: Actions",
            metadata={"actor": str(actor)},
            key="rule.card_not_in_hand",
        )

    def in_range(self, value: int, lowest: int, highest: int, field: str) -> int:
        """Return a number of a state's message.

        Args:
            value: The number.
            lowest: The smallest number allowed.
            highest: The largest number allowed.
            field: The path of the number, for error messages.

        Raises:
            EngineError: INVALID_STATE if the number is not allowed.
        """
        if not lowest <= value <= highest:
            self.refuse_state(field, f"{value} is not from {lowest} to {highest}")
        return value


def with_keys(faults: Mapping[IntEnum, FaultText]) -> dict[int, FaultText]:
    """Return the faults of a kernel with their keys: "rule" or "state", and the fault's name in lower case."""
    return {
        int(fault): replace(
            text, key=f"{'rule' if text.reason is Reason.ILLEGAL_ACTION else 'state'}.{fault.name.lower()}"
        )
        for fault, text in faults.items()
    }
