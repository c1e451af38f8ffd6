"""The prompts of Chatpentiers, computed from a view."""

from typing import Any

from ..building import name_of


def prompt(view: Any, _: list[Any]) -> tuple[str, dict[str, int]]:
    """Return the key of a prompt and its arguments."""
    if name_of(view, "phase") == "TAKE":
        return "take" if view.cards_to_take == 1 else "take_two", {}
    return ("follow", {"colour": view.plays[0].card // 12}) if view.plays else ("lead", {})
