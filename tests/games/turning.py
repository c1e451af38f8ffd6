"""Turning a table: messages and labels after all players have moved some seats to the left.

Each game's `games/<game>/turning.py` has the fields that name seats, and the differences between seats in the rules.
"""

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Seats:
    """The fields of a game's messages that name seats, and rules that depend on the numbers of seats."""

    # Fields with a seat, or with several seats in a meaningful order.
    named: frozenset[str]
    # Lists with an entry for each seat, in seat order.
    one_each: frozenset[str]
    # Lists of seats, or of messages with a field `seat`, in ascending order. Messages without the field come first.
    ascending: frozenset[str] = frozenset()
    # Kinds of events that are reported for every seat in order, from seat 0 on.
    in_seat_order: frozenset[str] = frozenset()
    # Names for seats other than "seat 0" and so on.
    names: tuple[str, ...] = ()

    def turned(self, filled: Any, by: int, players: int) -> Any:
        """Return a message with its seats turned by `by` places to the left."""
        copy = type(filled)()
        for field in filled.DESCRIPTOR.fields:
            if field.has_presence and not filled.HasField(field.name):
                continue
            value = getattr(filled, field.name)
            entries = [self._entry(field, entry, by, players) for entry in (value if field.is_repeated else [value])]
            if field.name in self.one_each:
                entries = entries[-by:] + entries[:-by]
            if field.name in self.ascending:
                entries.sort(key=_seat_of)
            if field.is_repeated:
                getattr(copy, field.name).extend(entries)
            elif field.message_type is not None:
                getattr(copy, field.name).SetInParent()
                getattr(copy, field.name).CopyFrom(entries[0])
            else:
                setattr(copy, field.name, entries[0])
        return copy

    def _entry(self, field: Any, value: Any, by: int, players: int) -> Any:
        if field.message_type is not None:
            return self.turned(value, by, players)
        return (value + by) % players if field.name in self.named else value

    def turned_words(self, text: str, by: int, players: int) -> str:
        """Return a label with its seats turned."""

        def turn(found: re.Match[str]) -> str:
            if found[1]:
                return f"seat {(int(found[1]) + by) % players}"
            return self.names[(self.names.index(found[0]) + by) % players]

        return re.sub("|".join([r"\bseat (\d)", *(rf"\b{name}\b" for name in self.names)]), turn, text)


def _seat_of(entry: Any) -> int:
    if isinstance(entry, int):
        return entry
    return int(entry.seat) if entry.HasField("seat") else -1
