"""What the rooms' codecs share: refusals that cite the rules file, and the events, options and actions of any game."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from chatiere.engine.core.errors import EngineError, FaultText, Reason
from chatiere.engine.core.integers import as_integer, must_be, shown
from chatiere.engine.core.wire import Reader

_ReadOptions = Callable[[Reader], dict[str, Any]]
_EncodeOptions = Callable[[int, Mapping[str, Any]], bytes]

# In packed states: no seat.
NO_SEAT = 0xFF


class RulesFile:
    """The rules file of a game, which its faults and refusals cite."""

    def __init__(self, name: str) -> None:
        """`name` is the file's, in docs/rules."""
        self.name = name
        # By number of players: every call reads a state's options.
        self._default_options: dict[int, bytes] = {}

    def illegal(self, message: str, heading: str) -> FaultText:
        """The words of a fault of a move."""
        return FaultText(Reason.ILLEGAL_ACTION, message, rule=f"{self.name}: {heading}")

    def broken(self, message: str, field: str, heading: str = "Invariants") -> FaultText:
        """The words of a fault of a state."""
        return FaultText(Reason.INVALID_STATE, message, field=field, rule=f"{self.name}: {heading}")

    def refuse_state(self, field: str, message: str, heading: str = "Invariants") -> NoReturn:
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
        )

    def in_range(self, value: int, lowest: int, highest: int, field: str) -> int:
        """A number of a state's message; both bounds are included. Raises INVALID_STATE."""
        if not lowest <= value <= highest:
            self.refuse_state(field, f"{value} is not from {lowest} to {highest}")
        return value

    def read_options(self, options: Reader, read: _ReadOptions, encode: _EncodeOptions, players: int) -> bytes:
        """The options in a state's message as the kernel's struct, by the game's functions. Raises INVALID_STATE."""
        if not options:
            if players not in self._default_options:
                self._default_options[players] = encode(players, {})
            return self._default_options[players]
        try:
            return encode(players, read(options))
        except EngineError as error:
            self.refuse_state(f"options.{error.field}", error.message, "Components and setup")


# Events


def label_words(labels: Mapping[int, str], fields: Mapping[str, int]) -> tuple[bytes, ...]:
    """The labels of events, by kind from 0, as Writer.words_before takes them: a byte stands for each field in braces.

    `fields`: the numbers by name, which are smaller than any letter's.
    """
    marks = {name: chr(number) for name, number in fields.items()}
    return tuple(labels.get(kind, "").format(**marks).encode() for kind in range(max(labels) + 1))


def value_fields(values: Mapping[int, Sequence[str]], fields: Mapping[str, int]) -> tuple[bytes, ...]:
    """The fields that the values of events are for, in order, by kind from 0; `values`: the same by name."""
    return tuple(bytes(fields[name] for name in values.get(kind, ())) for kind in range(max(values) + 1))


# Options


def refuse_option(name: str, message: str) -> NoReturn:
    """Raise INVALID_OPTION."""
    raise EngineError(Reason.INVALID_OPTION, message, field=name)


def whole(value: object) -> int | None:
    """The value of an option as an int; None if it is no integer. True and False are none: some options are flags."""
    return None if isinstance(value, bool) else as_integer(value)


def read_number(name: str, value: object, lowest: int, highest: int) -> int:
    """An option that is an integer in that range, both bounds included. Raises INVALID_OPTION."""
    number = whole(value)
    if number is None or not lowest <= number <= highest:
        refuse_option(name, must_be(name, value, lowest, highest))
    return number


def complete_options(
    game: str, options: Mapping[str, Any], defaults: Mapping[str, Any], players: int
) -> dict[str, Any]:
    """All options of a game, those that are absent or None as `defaults` (all names but first_seat) has them.

    `first_seat`, which every game has, is read, and NO_SEAT where it is absent; the game reads the others.
    """
    names = ("first_seat", *defaults)
    for name in options:
        if name not in names:
            refuse_option(str(name), f"{game} has no option {name!r}; its options are {', '.join(names)}")
    given = {name: value for name, value in options.items() if value is not None}
    if "first_seat" in given:
        given["first_seat"] = read_number("first_seat", given["first_seat"], 0, players - 1)
    return {"first_seat": NO_SEAT, **defaults, **given}


def read_numbers(name: str, values: Any, count: int, lowest: int, highest: int) -> list[int]:
    """An option that is `count` integers in that range, as a sequence or an array. Raises INVALID_OPTION."""
    listed = values.__array__().tolist() if hasattr(values, "__array__") else values
    if isinstance(listed, str) or not isinstance(listed, Sequence) or len(listed) != count:
        refuse_option(name, f"{name} must be {count} integers, not {shown(values)}")
    return [read_number(f"{name}[{i}]", value, lowest, highest) for i, value in enumerate(listed)]


# Actions


def action_number(value: int, lowest: int, highest: int, field: str) -> int:
    """A number of a typed action; both bounds are included. Raises INVALID_ACTION."""
    if not lowest <= value <= highest:
        raise EngineError(Reason.INVALID_ACTION, f"{value} is not from {lowest} to {highest}", field=field)
    return value
