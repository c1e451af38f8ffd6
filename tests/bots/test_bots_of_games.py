"""The games' own bots, in positions with a known choice."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from tools.over import over

from chatiere import bots, engine
from chatiere.bots import Decisions
from chatiere.engine.core.observation import ObservationLayout

from .support import All, Host

Fields = Mapping[str, Any]


def observation(name: str, fields: Fields) -> np.ndarray:
    """Return an observation in which the named fields have the given numbers. All other numbers are 0."""
    made = np.zeros(engine.game(name).observation_length, np.uint8)
    known = {field.name: field for part in engine.game(name).description.observation for field in part.fields}
    for field_name, numbers in fields.items():
        field = known[field_name]
        as_strided(made[field.offset :], field.shape, field.strides)[...] |= np.uint8(numbers) << field.first_bit
    return made


def choices(name: str, bot: str, rows: Sequence[tuple[Sequence[int], Fields]]) -> list[int]:
    """Return a bot's choices, given the legal actions and the observation's fields for each decision."""
    game = engine.game(name)
    counts = [len(legal) for legal, _ in rows]
    decisions = Decisions(
        game=game,
        players=game.min_players,
        actors=np.zeros(len(rows), np.int8),
        legal_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32),
        legal_ids=np.concatenate([sorted(legal) for legal, _ in rows]).astype(np.uint16),
        luck=np.zeros(len(rows), np.uint64),
        observations=np.stack([observation(name, fields) for _, fields in rows]),
        drawn=np.empty((0, 0), np.uint8),
    )
    chosen: list[int] = bots.get(bot, game, game.min_players).choose(decisions).tolist()
    return chosen


def hand(*cards: int) -> Fields:
    held = np.zeros(90)
    held[[card - 1 for card in cards]] = 1
    return {"own_hand": held}


DISCAT = [
    # The largest group. Among groups of the same size, the group with the lowest id.
    (hand(22, 27, 37, 41, 47), [1, 32, 34, 66, 74, 100], 74),
    (hand(22, 27, 37, 41, 47), [32, 33, 34, 100], 33),
    # 8 and 50 share no digit with another card, and 8 is lower. The tens digit of cards below 10 is 0.
    (hand(8, 31, 33, 50, 63), range(192, 198), 193),
    (hand(11, 19, 50, 61), range(192, 197), 195),
    (hand(3, 8, 20, 51), range(192, 197), 195),
    (hand(8), [192, 193], 193),
    # The bot keeps the hand if every card shares a digit with another card, or if no card can be drawn.
    (hand(11, 19, 39), range(192, 196), 192),
    (hand(8), [192], 192),
    (hand(8, 31, 50), [192], 192),
]


@pytest.mark.parametrize(("held", "legal", "chosen"), DISCAT)
def test_largest_plays_the_largest_group_or_exchanges_a_single(held: Fields, legal: Sequence[int], chosen: int) -> None:
    assert choices("discat", "largest", [(legal, held)]) == [chosen]


def test_largest_chooses_the_same_in_a_batch() -> None:
    assert choices("discat", "largest", [(legal, held) for held, legal, _ in DISCAT]) == [each[2] for each in DISCAT]


def test_builder_chooses_the_likeliest_action_of_the_playout_policy() -> None:
    host = Host("chat_cartonne", 3, 8, seed=5)
    bot = bots.get("builder", "chat_cartonne", 3)
    compared = 0
    while len(host.positions.actors):
        rows = np.arange(len(host.positions.actors))
        for row, action in zip(rows, host.choose(bot, rows).tolist(), strict=True):
            position = host.table.game.unpack(host.positions.states[row].tobytes())
            likely = position.action_likelihoods()
            assert action == position.legal_actions()[likely.index(max(likely))]
            compared += len(set(likely)) > 1
        host.step(host.choose(All(), rows))
    assert compared > 100


def pair(low: int, high: int) -> int:
    return high * (high + 1) // 2 + low


@pytest.mark.parametrize(
    ("legal", "chosen"),
    [
        # The bot chooses the pair with the highest sum of values, and prefers a low pair to no pair.
        ([pair(0, 9), pair(7, 16), 1081], pair(7, 16)),
        ([pair(5, 14), pair(4, 8), 1081], pair(4, 8)),
        ([pair(0, 9), 1081], pair(0, 9)),
        ([pair(0, 9), 1082], pair(0, 9)),
        ([1083, 1084], 1083),
        # Kind 45 is the Momistigri, 44 a 9 of the last colour, 9 a 1.
        ([1085 + 44, 1085 + 9, 1085 + 45], 1085 + 45),
        ([1131 + 44, 1131 + 46 + 45, 1131 + 3], 1131 + 46 + 45),
        ([1315 + 9, 1315 + 44], 1315 + 44),
        ([1361 + 3, 1361 + 45], 1361 + 45),
        ([1407 + 45, 1407 + 44, 1407 + 9, 1407 + 3], 1407 + 9),
    ],
)
def test_discarding_discards_the_most_points(legal: Sequence[int], chosen: int) -> None:
    assert choices("momistigri", "discarding", [(legal, {})]) == [chosen]


def test_fitting_plays_its_highest_card() -> None:
    assert choices("chatpentiers", "fitting", [([3, 11, 14, 40], {})]) == [11]


@over("players", [3, 4, 5])
def test_fitting_maximises_the_points_of_its_board(players: int) -> None:
    host = Host("chatpentiers", players, 1, seed=players)
    bot = bots.get("fitting", "chatpentiers", players)
    layout = ObservationLayout(host.table.game.description)
    compared = 0
    while len(host.positions.actors):
        rows = np.arange(len(host.positions.actors))
        for row, action in zip(rows, host.choose(bot, rows).tolist(), strict=True):
            position = host.table.game.unpack(host.positions.states[row].tobytes())
            legal, seat = position.legal_actions(), position.current_player()
            before = layout.arrays(position.observation(seat))
            after = [layout.arrays(position.child(each).observation(seat)) for each in legal]
            # The end of a round empties the boards.
            if legal[0] < 60 or any(seen["round"] != before["round"] for seen in after):
                continue
            sums = [int(seen["seats.board_points"][0]) - int(seen["seats.below_zero"][0]) for seen in after]
            assert sums[legal.index(action)] == max(sums)
            compared += len(set(sums)) > 1
        host.step(host.choose(All(), rows))
    assert compared > 20


def tree(
    card: int, own: Sequence[int] = (), other: Sequence[int] = (), tokens: Mapping[int, int] | None = None
) -> Fields:
    """Return a seat's view with a card, cats and known tokens by branch. The unknown tokens are one 1 and four 4s."""
    cats = np.zeros((2, 45))
    cats[0, list(own)] = 1
    cats[1, list(other)] = 1
    animals = cats.sum(axis=0)[5:].reshape(10, 4).sum(axis=1)
    values = np.zeros(10)
    for branch, value in (tokens or {}).items():
        values[branch] = value
    return {
        "card": np.arange(41) == card,
        "own_cats": cats[0],
        "other_cats": cats[1],
        "branches.value": values,
        "branches.animals": animals,
        "branches.most_animals": animals,
        "tokens.other": [1, 0, 0, 4],
    }


def move(start: int, end: int) -> int:
    return 40 + 45 * start + end


OWN, OTHERS, START, STOP, BIRD, BRANCH = 5 + 3, 14 + 3, 45, 2110, 2156 - 5, 5


@pytest.mark.parametrize(
    ("legal", "seen", "chosen"),
    [
        # The bot moves its own cat up but not the opponent's. Moving a cat that is already in the tree has no value.
        ([move(START, 0), STOP], tree(OWN), move(START, 0)),
        ([move(START, 0), STOP], tree(OTHERS), STOP),
        ([move(0, 1), move(START, 0)], tree(OWN, own=[0]), move(START, 0)),
        # The second cat does not move to a branch that would break.
        ([move(START, BRANCH), STOP], tree(OWN, own=[BRANCH + 1], tokens={0: 1}), STOP),
        ([move(START, BRANCH), STOP], tree(OWN, own=[BRANCH + 1], tokens={0: 2}), move(START, BRANCH)),
        # An unknown branch that has held no cats breaks at the second cat in one case of five. A branch that has held
        # two cats does not break.
        ([move(START, 0), move(START, BRANCH)], tree(OWN, own=[BRANCH + 1]), move(START, 0)),
        ([move(START, BRANCH), STOP], tree(OWN, own=[BRANCH + 1, BRANCH + 2]), move(START, BRANCH)),
        # Breaking a branch with more of the opponent's cats is worth one cat. A move within the branch has no effect.
        ([move(START, BRANCH), STOP], tree(OWN, other=[BRANCH + 1, BRANCH + 2], tokens={0: 2}), move(START, BRANCH)),
        ([move(START, BRANCH), STOP], tree(OTHERS, other=[BRANCH + 1], tokens={0: 1}), move(START, BRANCH)),
        (
            [move(BRANCH + 1, BRANCH), move(START, 0)],
            tree(OWN, own=[BRANCH + 1], tokens={0: 1}),
            move(START, 0),
        ),
        # The bird breaks the branch of the opponent's cat and spares its own.
        ([BIRD + BRANCH, BIRD + BRANCH + 4], tree(2, [BRANCH + 1], [BRANCH + 5], {0: 1, 1: 1}), BIRD + BRANCH + 4),
        ([BIRD + BRANCH, BIRD + BRANCH + 4], tree(2, [BRANCH + 1], [], {0: 1, 1: 1}), BIRD + BRANCH + 4),
    ],
)
def test_climber_moves_cats_up_and_breaks_the_opponents_branches(
    legal: Sequence[int], seen: Fields, chosen: int
) -> None:
    assert choices("chat_perche", "climber", [(legal, seen)]) == [chosen]
