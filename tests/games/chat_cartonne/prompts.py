"""The prompts of Chat Cartonne, computed from a view."""

from typing import Any

from ..building import name_of

PHASES = {"CHOOSE_START": "choose_start", "PLACE_START": "place_start", "CAT": "cat"}


def prompt(view: Any, actions: list[Any]) -> tuple[str, dict[str, int]]:
    """Return a prompt's key and arguments. `actions` are the legal actions."""
    phase = name_of(view, "phase")
    kinds = {action.WhichOneof("action") for action in actions}
    if phase == "TOY" and "pass_turn" not in kinds:
        return kinds.pop() if len(kinds) == 1 else "toy", {}
    if phase == "TURN" and "draw" in kinds:
        return "draw_or_sleep", {}
    sleeps = phase == "TURN" and view.seats[view.active_seat].supply > 0
    return PHASES.get(phase, "toy_as_carton" if phase == "TOY" else "play_or_sleep" if sleeps else "play"), {}
