"""The bounds of the rows, read from bounds.toml."""

import tomllib
from pathlib import Path
from typing import NamedTuple

_ROWS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())


class Bound(NamedTuple):
    """The bounds of a row. `bound` and `target` are as in measure.Row."""

    bound: float
    target: float | None


def bound_of(row: str, game: str = "") -> Bound:
    """Return the bound of a row for a game. Values for the game override the values for the row."""
    values = _ROWS[row]
    own = values.get("games", {}).get(game, {})
    return Bound(own.get("bound", values["bound"]), own.get("target", values.get("target")))


def target_of(row: str, game: str) -> float:
    """Return a game's target in a row that has no bound. A value for the game overrides the value for the row."""
    values = _ROWS[row]
    target: float = values.get("games", {}).get(game, {}).get("target", values["target"])
    return target
