"""The prompts of Chat perché, computed from a view."""

from typing import Any

from ..building import name_of


def prompt(view: Any, _: list[Any]) -> tuple[str, dict[str, int]]:
    """Return the key of a prompt and its arguments."""
    phase = name_of(view, "phase")
    key = phase.lower()
    if phase == "FALL":
        return key, {"colour": view.cat_owner}
    if phase in ("MOVE", "SECOND_MOVE"):
        return key, {"colour": view.cat_owner, "steps": view.steps_left}
    return key, {}
