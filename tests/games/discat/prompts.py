"""The prompts of Discat, computed from a view."""

from typing import Any

from ..building import name_of


def prompt(view: Any, _: list[Any]) -> tuple[str, dict[str, int]]:
    """Return the key of a prompt and its arguments."""
    if not view.HasField("constraint"):
        return "play_any" if any(seat.pile or seat.bonus_pile for seat in view.seats) else "first_play", {}
    verb = "play" if name_of(view, "phase") == "PLAY" else "pass" if view.draw_pile_size else "keep"
    return f"{verb}_{'higher' if view.constraint.higher else 'lower'}", {"card": view.constraint.card}
