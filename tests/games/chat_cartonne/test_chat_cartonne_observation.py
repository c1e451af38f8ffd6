"""The numbers of an observation say what the seat's view says, and are made into planes as their layout tells."""

import random
from typing import Any

import numpy as np
import pytest

from chatiere.engine import Position

from ..building import phase, view_of
from .building import DRAW, GAME, Board, begun, carton, cell, place, play
from .reference import CONTENTS as CONTENTS_OF_CARTONS

CONTENTS = {
    (0, 0, 0, 0): 1,
    (1, 0, 0, 0): 2,
    (0, 1, 0, 0): 3,
    (0, 0, 1, 0): 4,
    (1, 1, 0, 0): 5,
    (0, 1, 1, 0): 6,
    (1, 0, 1, 0): 7,
    (0, 0, 0, 1): 8,
    (2, 0, 0, 0): 9,
    (0, 2, 0, 0): 10,
    (0, 0, 2, 0): 11,
}
WALLS = ("wall_north", "wall_east", "wall_south", "wall_west")


def parts_of(position: Position, seat: int) -> dict[str, Any]:
    """The observation by the names of its layout."""
    numbers = np.frombuffer(position.observation(seat), "u1")
    found = {}
    for part in GAME.description.observation:
        size = int(np.prod(part.shape, dtype=int))
        found[part.name] = numbers[part.offset : part.offset + size].reshape(part.shape)
    return found


def codes_of(card: Any, seat: int, players: int) -> tuple[int, int, list[int]]:
    """The codes of what lies in a cell and on its joint, and its walls, of a card of a view."""
    lies, joint = card.card, card.card.on_joint
    if lies.WhichOneof("card") == "sleeping_cat":
        content = 12 + (lies.sleeping_cat - seat) % players
    elif lies.WhichOneof("card") == "princess":
        content = 17
    else:
        content = CONTENTS[card.mice, card.balls, card.fish, card.sprayers]
    there = {
        None: 0,
        "cat": 1 + (joint.cat - seat) % players,
        "princess": 6,
        "toy": 7 + joint.toy - 72,
    }[joint.WhichOneof("lies")]
    return content, there, [getattr(card, name) for name in WALLS]


def compare(position: Position, seat: int) -> None:
    """Every number of the observation, with the view."""
    view, found = view_of(position, seat), parts_of(position, seat)
    players = len(view.seats)
    planes = np.zeros((24, 24, 18)), np.zeros((24, 24, 10)), np.zeros((4, 24, 24))
    planes[0][..., 0] = planes[1][..., 0] = 1
    for card in view.table:
        row, column = divmod(card.card.cell, 24)
        content, there, walls = codes_of(card, seat, players)
        planes[0][row, column] = np.eye(18)[content]
        planes[1][row, column] = np.eye(10)[there]
        planes[2][:, row, column] = walls
    assert (np.eye(18)[found["contents"]] == planes[0]).all()
    assert (np.eye(10)[found["walls"] >> 4] == planes[1]).all()
    assert (found["walls"] >> np.arange(4)[:, None, None] & 1 == planes[2]).all()
    hand = [kind + 1 for kind in view.seats[seat].hand]
    assert found["own_hand"].tolist() == hand + [0] * (3 - len(hand))
    assert np.flatnonzero(found["unseen"][:75]).tolist() == list(view.unseen_cards)
    assert found["unseen"].max() <= max(1, view.unseen_princesses)
    assert found["unseen"][75] == view.unseen_princesses
    assert found["pending"] == (view.starting_carton or view.toy)
    just_played = [1 + number for number in divmod(view.just_played, 24)] if view.HasField("just_played") else [0, 0]
    assert found["just_played"].tolist() == just_played
    patterns = np.unpackbits(found["seats"][:, 16::2, None], axis=2, bitorder="little")
    for distance in range(5):
        numbers = found["seats"][distance].tolist()
        if distance >= players:
            assert not any(numbers)
            continue
        other = (seat + distance) % players
        held = view.seats[other]
        parts = len(held.drawn)
        began = view.HasField("first_seat")
        acts = began and not position.is_terminal() and view.active_seat == other
        begins = began and view.first_seat == other
        assert numbers[:6] == [1, held.hand_size, held.supply, acts, begins, held.holds_carton]
        assert numbers[6:16] == [*held.drawn, *[0] * (5 - parts), *held.princesses_played, *[0] * (5 - parts)]
        shown = [np.flatnonzero(patterns[distance, slot]).tolist() for slot in range(3)]
        assert shown == [list(each.not_patterns) for each in held.shown] + [[]] * (3 - len(held.shown))
        assert numbers[17::2] == [each.not_princess for each in held.shown] + [0] * (3 - len(held.shown))
    for part, (left, own) in enumerate(found["parts"].tolist()):
        known = view.parts[part] if part < len(view.parts) else None
        assert known is None or (left, own) == (known.left, known.own_princess)
    assert (found["players"], found["pile"]) == (players, view.pile_size)
    assert found["final_phase"].tolist() == [view.final_phase, view.passes]
    options = view.options
    assert found["variants"].tolist() == [
        options.all_princesses,
        options.no_double_walls,
        options.no_crowd_bonus,
        options.half_sleepers,
    ]
    assert np.flatnonzero(found["phase"]).tolist() == [view.phase - 1]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("options", [{}, {"all_princesses": True}, {"no_double_walls": True, "half_sleepers": True}])
def test_all_numbers_say_what_the_view_says(players: int, options: dict[str, bool]) -> None:
    choices = random.Random(players)
    position = GAME.new_game(players, options)
    while not position.is_terminal():
        compare(position, choices.randrange(players))
        moves = position.legal_actions()
        if position.is_chance_node():
            moves = [outcome for outcome, _ in position.chance_outcomes()]
        # Sleeping cats end random games early.
        awake = [move for move in moves if position.is_chance_node() or not 3469 <= move < 4045]
        position.apply(choices.choice(awake if awake and choices.random() < 0.95 else moves))
    compare(position, choices.randrange(players))


def test_every_code_of_a_cell_and_of_a_joint() -> None:
    board = Board(5, all_princesses=True)
    for number, content in enumerate(CONTENTS_OF_CARTONS):
        board.put(cell(12 + number, 12), "", content)
    for number in range(3):
        board.toy(cell(12 + number, 13), 72 + number)
    for seat in range(5):
        board.asleep(cell(12 + seat, 11), seat)
        board.awake(cell(12 + seat, 12), seat)
    board.princess(cell(17, 11), False, 0).princess(cell(17, 12), True, 1)
    position = board.position()
    for seat in range(5):
        compare(position, seat)
    assert set(parts_of(position, 2)["contents"].flat) == set(range(18))
    assert set((parts_of(position, 2)["walls"] >> 4).flat) == set(range(7))


def test_the_cat_that_may_follow_and_what_passes_have_shown() -> None:
    table = Board(2, no_double_walls=True)
    table.put(cell(12, 11), "").hand(1, carton("NE"), carton("NES"))

    def passed(state: Any) -> None:
        state.seats[1].shown.add(not_patterns=[0, 1, 2, 3, 4], not_princess=True)
        state.seats[1].shown.add(not_patterns=[0])

    position = table.position(passed)
    compare(position, 0)
    compare(position, 1)
    asked = play(play(begun(hands=[[0, 1], [2, 3]]), DRAW, 20), place(0, cell(12, 11)))
    assert phase(asked) == "CAT"
    compare(asked, 1)
    assert parts_of(asked, 1)["just_played"].tolist() == [12, 13]
