"""Checks of the options that callers pass, by the names in the rules file."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import integer_in, must_be, shown


def refuse_option(name: str, message: str) -> NoReturn:
    """Raise INVALID_OPTION."""
    raise EngineError(Reason.INVALID_OPTION, message, field=name)


def read_number(name: str, value: object, lowest: int, highest: int) -> int:
    """Return the value of an option as an int.

    Args:
        name: The name of the option.
        value: The value.
        lowest: The smallest number allowed.
        highest: The largest number allowed.

    Raises:
        EngineError: INVALID_OPTION.
    """
    number = integer_in(value, lowest, highest)
    if number is None:
        refuse_option(name, must_be(name, value, lowest, highest))
    return number


def complete_options(
    game: str, options: Mapping[str, Any], defaults: Mapping[str, Any], players: int
) -> dict[str, Any]:
    """Return all options of a game. Only `first_seat` is checked here. The game checks the other options.

    Args:
        game: The name of the game.
        options: The game's options, by the names in the rules file. Options that are not set or are None have their
            defaults.
        defaults: The defaults of all options except `first_seat`. Every game has this option, and its default is None.
        players: The number of players.

    Raises:
        EngineError: INVALID_OPTION.
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
    """Return the value of an option as ints.

    Args:
        name: The name of the option.
        values: The value, a sequence or an array.
        count: The number of ints.
        lowest: The smallest number allowed.
        highest: The largest number allowed.

    Raises:
        EngineError: INVALID_OPTION.
    """
    listed = values.__array__().tolist() if hasattr(values, "__array__") else values
    if isinstance(listed, str) or not isinstance(listed, Sequence) or len(listed) != count:
        refuse_option(name, f"{name} must be {count} integers, not {shown(values)}")
    return [read_number(f"{name}[{i}]", value, lowest, highest) for i, value in enumerate(listed)]
