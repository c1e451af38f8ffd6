"""Options of a game as callers give them: by the names of the rules file."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import as_integer, must_be, shown


def refuse_option(name: str, message: str) -> NoReturn:
    """Raise INVALID_OPTION."""
    raise EngineError(Reason.INVALID_OPTION, message, field=name)


def whole(value: object) -> int | None:
    """Return the value of an option as an int, None if it is no integer; True and False are flags, not integers."""
    return None if isinstance(value, bool) else as_integer(value)


def read_number(name: str, value: object, lowest: int, highest: int) -> int:
    """Return an option that is an integer from `lowest` to `highest`. Raises INVALID_OPTION."""
    number = whole(value)
    if number is None or not lowest <= number <= highest:
        refuse_option(name, must_be(name, value, lowest, highest))
    return number


def complete_options(
    game: str, options: Mapping[str, Any], defaults: Mapping[str, Any], players: int
) -> dict[str, Any]:
    """Return all options of a game, those that are absent or None as `defaults` (all names but first_seat) has them.

    `first_seat`, which every game has, is read, and None where it is absent; the game reads the others.
    """
    names = ("first_seat", *defaults)
    for name in options:
        if name not in names:
            refuse_option(str(name), f"{game} has no option {name!r}; its options are {', '.join(names)}")
    given = {name: value for name, value in options.items() if value is not None}
    if "first_seat" in given:
        given["first_seat"] = read_number("first_seat", given["first_seat"], 0, players - 1)
    return {"first_seat": None, **defaults, **given}


def read_numbers(name: str, values: Any, count: int, lowest: int, highest: int) -> list[int]:
    """Return an option that is `count` such integers, as a sequence or an array. Raises INVALID_OPTION."""
    listed = values.__array__().tolist() if hasattr(values, "__array__") else values
    if isinstance(listed, str) or not isinstance(listed, Sequence) or len(listed) != count:
        refuse_option(name, f"{name} must be {count} integers, not {shown(values)}")
    return [read_number(f"{name}[{i}]", value, lowest, highest) for i, value in enumerate(listed)]
