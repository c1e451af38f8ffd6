"""The prompts of Momistigri, computed from a view."""

from typing import Any

from ..building import name_of

CHOICES = {1: "choice_ones", 2: "choice_name", 3: "choice_swap"}


def prompt(view: Any, _: list[Any]) -> tuple[str, dict[str, int]]:
    """Return the key of a prompt and its arguments."""
    phase = name_of(view, "phase")
    key = CHOICES[view.pair_value] if phase == "CHOICE" else phase.lower()
    match key:
        case "name" | "choice_name":
            return key, {"other_seat": next_seat(view)}
        case "hand_out":
            return key, {"other_seat": view.receiver}
        case "swap_in":
            return key, {"card": view.swapped_out}
    return key, {}


def next_seat(view: Any) -> int:
    """Return the next seat in the round in the direction of play, or the active seat if it is the only one."""
    step, players = -1 if view.reversed else 1, len(view.seats)
    seats: list[int] = [(view.active_seat + step * count) % players for count in range(1, players + 1)]
    return next((seat for seat in seats if view.seats[seat].in_round), seats[-1])
