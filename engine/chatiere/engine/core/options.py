"""Options of a game as given by callers, by the names of the rules file."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import as_integer, must_be, shown


def refuse_option(name: str, message: str) -> NoReturn:
    """Raise INVALID_OPTION."""
    raise EngineError(Reason.INVALID_OPTION, message, field=name)


def whole(value: object) -> int | None:
    """Return the value of an option as an int, or None if it is not an integer (True and False are not)."""
    return None if isinstance(value, bool) else as_integer(value)


def read_number(name: str, value: object, lowest: int, highest: int) -> int:
    """Return the value of an option as an int from `lowest` to `highest`. Raises INVALID_OPTION."""
    number = whole(value)
    if number is None or not lowest <= number <= highest:
        refuse_option(name, must_be(name, value, lowest, highest))
    return number


def complete_options(
    game: str, options: Mapping[str, Any], defaults: Mapping[str, Any], players: int
) -> dict[str, Any]:
    """Return all options of a game; those absent or None are taken from `defaults` (all names but first_seat).

    `first_seat`, which every game has, is checked, and None if absent; the game checks the others.
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
    """Return an option, given as a sequence or array, as `count` ints. Raises INVALID_OPTION."""
    listed = values.__array__().tolist() if hasattr(values, "__array__") else values
    if isinstance(listed, str) or not isinstance(listed, Sequence) or len(listed) != count:
        refuse_option(name, f"{name} must be {count} integers, not {shown(values)}")
    return [read_number(f"{name}[{i}]", value, lowest, highest) for i, value in enumerate(listed)]
