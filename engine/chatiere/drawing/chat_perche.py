"""The table of Chat perché in a terminal."""

from collections.abc import Sequence

import click

from chatiere.v1.chat_perche_pb2 import ChatPercheBranch, ChatPercheSeatView, ChatPercheView
from chatiere.v1.game_pb2 import Score

_COLOURS = ("ginger", "black")
_HEIGHTS = range(5)
_BRANCH_SPACES = 4


def draw_table(views: Sequence[ChatPercheView]) -> list[str]:
    """Draw the tree from its top to the start spaces, the dogs, and each seat's cats and tokens."""
    view = views[0]
    acts = view.active_seat if view.HasField("active_seat") else None
    animals = _animals(view)
    branches = [
        views[branch.token_owner].branches[number] if branch.HasField("token_owner") else branch
        for number, branch in enumerate(view.branches)
    ]
    return [
        *(_tree_line(height, branches, animals) for height in reversed(_HEIGHTS)),
        *(_seat_line(seat, views[seat].seats[seat], seat == acts) for seat in range(len(views))),
        _dogs_line(view),
    ]


def _animals(view: ChatPercheView) -> dict[int, str]:
    # Return the symbol for each occupied space: "G" or "B" is a cat, "g" or "b" is a cat that must not be moved now,
    # and "*" is a bird.
    fixed = {*view.barred, *([view.moved] if view.HasField("moved") else [])}
    animals = dict.fromkeys(view.birds, "*")
    for letter, seat in zip("GB", view.seats, strict=True):
        animals |= {space: letter.lower() if space in fixed else letter for space in seat.cats}
    return animals


def _tree_line(height: int, branches: list[ChatPercheBranch], animals: dict[int, str]) -> str:
    def places(number: int) -> list[str]:
        if branches[number].broken:
            return ["x"] * _BRANCH_SPACES
        first = len(_HEIGHTS) + _BRANCH_SPACES * number
        return [animals.get(first + place, ".") for place in range(_BRANCH_SPACES)]

    def token(number: int) -> str:
        branch = branches[number]
        if not branch.HasField("token_owner"):
            return "--"
        return f"{'GB'[branch.token_owner]}{branch.solidity if branch.HasField('solidity') else '?'}"

    left, right = height, len(_HEIGHTS) + height
    west, east = " ".join(reversed(places(left))), " ".join(places(right))
    return f"    {token(left)}  {west} |{animals.get(height, '.')}| {east}  {token(right)}"


def _seat_line(seat: int, held: ChatPercheSeatView, acts: bool) -> str:
    line = f"  {'>' if acts else ' '} seat {seat} {_COLOURS[seat]:<6}  start {held.cats_at_start:>2}"
    line += f"  in the tree {len(held.cats):>2}  deck {len(held.draw_pile_cards):>2}"
    tokens = [str(value) for value in held.unplaced_solidity] or ["?"] * held.unplaced_tokens
    if tokens:
        line += f"  tokens {' '.join(tokens)}"
    return click.style(line, bold=True) if acts else line


def _dogs_line(view: ChatPercheView) -> str:
    line = f"  dogs {view.dog_steps} of {view.dog_track}  birds beside the board {view.birds_beside}"
    return f"{line}  steps left {view.steps_left}" if view.steps_left else line


def break_down(score: Score) -> list[str]:
    """Return each seat's cats on the trunk and on branches."""
    return [f"trunk {seat.trunk_points} + branches {seat.branch_points}" for seat in score.detail.chat_perche.seats]
