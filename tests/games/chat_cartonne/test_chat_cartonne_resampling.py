"""Tests of the rules in "Public and hidden". Resampling is uniform over the assignments in knowledge.py."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest
from scipy import stats
from tools.over import over

from chatiere.engine import CHANCE_PLAYER, EngineError, Position, Reason
from chatiere.engine.wire import Reader

from ..building import phase, state_of, view_of
from .building import (
    CODEC,
    DRAW,
    GAME,
    PASS,
    PRINCESS,
    SKIP,
    Board,
    carton,
    cell,
    late,
    place,
    play,
    princess_in,
    sleep,
)
from .knowledge import Deal, all_deals, deal_of, only_pattern
from .reference import PATTERNS
from .test_chat_cartonne_reference import kind_of

pytestmark = [pytest.mark.rules("chat_cartonne", "Public and hidden", "Decisions of the engine"), pytest.mark.long]

# The p-value below which a test fails. Seeds are fixed.
P_VALUE = 1e-5


def patterns_held(deal: Deal) -> object:
    """Return the Princesses in each hand, and the walls of its cartons."""
    return tuple(tuple(sorted(map(only_pattern, hand))) for hand in deal[0])


def princesses_held(deal: Deal) -> object:
    """Return the number of Princesses in each hand."""
    return tuple(hand.count(PRINCESS) for hand in deal[0])


def drawers(deal: Deal) -> object:
    """Return the seat that drew each Princess."""
    return deal[1]


def whole(deal: Deal) -> object:
    """Return the whole deal."""
    return deal


def check_uniform(position: Position, viewer: int, draws: int = 4000, patterns: bool = False) -> None:
    """Assert that the kernel draws exactly the deals counted here, in proportion to their numbers of ways.

    With `patterns`, cartons with the same walls count as one kind, for positions with too many deals.
    """
    deals = all_deals(position, viewer, patterns)
    assert deal_of(position, patterns) in deals
    packed = Counter(position.resample(viewer, 7, number).pack() for number in range(draws))
    drawn: Counter[Deal] = Counter()
    for state, count in packed.items():
        drawn[deal_of(GAME.unpack(state), patterns)] += count
    assert drawn.keys() <= deals.keys()
    for coarse in (whole, patterns_held, princesses_held, drawers):
        means: defaultdict[object, Fraction] = defaultdict(Fraction)
        for deal, weight in deals.items():
            means[coarse(deal)] += weight
        seen: Counter[object] = Counter()
        for deal, count in drawn.items():
            seen[coarse(deal)] += count
        check_frequencies(means, seen, draws)


def check_frequencies(means: Mapping[object, Fraction], seen: Counter[object], draws: int) -> None:
    # Combine deals whose expected numbers are small.
    total = sum(means.values())
    often = [key for key, weight in means.items() if draws * weight >= 8 * total]
    expected = [float(draws * Fraction(means[key], total)) for key in often]
    observed = [seen[key] for key in often]
    if sum(expected) < draws - 8:
        expected.append(draws - sum(expected))
        observed.append(draws - sum(observed))
    else:
        expected = [mean * sum(observed) / sum(expected) for mean in expected]
    if len(expected) > 1:
        assert stats.chisquare(observed, expected).pvalue > P_VALUE


@pytest.mark.parametrize("viewer", [0, 1])
def test_resampling_is_uniform_in_the_lower_part_of_the_pile(viewer: int) -> None:
    position = late(2, 5, {0: (70, 71), 1: (69, PRINCESS)}).position()
    check_uniform(position, viewer)


def test_a_played_princess_reveals_the_part_that_she_was_drawn_from() -> None:
    position = late(2, 5, {0: (70, 71), 1: (68, 69)}, (1,)).position()
    check_uniform(position, 0)


def test_resampling_is_uniform_with_three_seats() -> None:
    position = late(3, 3, {0: (70, 71), 1: (68, PRINCESS), 2: (67, 66)}, (2,)).position()
    check_uniform(position, 0)
    check_uniform(position, 1)


def test_a_princess_was_drawn_before_she_was_played() -> None:
    def early(state: Any) -> None:
        # Seat 2 played her before any seat drew from the second part, so she is the first part's Princess.
        for part, had in enumerate(state.seats[2].by_part):
            had.princesses_played = int(part == 0)

    position = late(3, 3, {0: (70, 71), 1: (68, PRINCESS), 2: (67, 66)}, (2,)).position(early)
    assert {deal_of(position.resample(0, number))[1][0] for number in range(200)} == {2}
    check_uniform(position, 0)


@pytest.mark.parametrize("princesses", [(), (1,), (0, 1, 1)])
def test_resampling_is_uniform_with_all_princesses_in_one_pile(princesses: tuple[int, ...]) -> None:
    position = late(2, 4, {0: (70, 71), 1: (69, PRINCESS)}, princesses, all_princesses=True).position()
    check_uniform(position, 0)


def test_in_the_final_phase_all_seats_know_who_holds_a_carton() -> None:
    board = late(3, 2, {0: (70,), 1: (68, PRINCESS), 2: (PRINCESS,)})
    board.final = True
    for number in range(5):
        board.asleep(cell(number, 10), 0)
    position = board.position()
    for number in range(200):
        hands = deal_of(position.resample(0, number))[0]
        assert [any(kind != PRINCESS for kind in hand) for hand in hands] == [True, True, False]
    check_uniform(position, 0)


def test_information_from_a_pass_is_respected() -> None:
    def passed(state: Any) -> None:
        # When seat 1 passed, cartons with one of these patterns, and the Princess, could have been played.
        for _ in range(2):
            state.seats[1].shown.add(not_patterns=[0, 1, 2, 3, 4], not_princess=True)

    table = Board(2, no_double_walls=True)
    table.put(cell(12, 11), "").hand(1, carton("NE"), carton("NES"))
    position = table.position(passed)
    seen = {tuple(kind // 9 for kind in deal_of(position.resample(0, number))[0][1]) for number in range(400)}
    assert seen <= {(a, b) for a in (5, 6, 7) for b in (5, 6, 7) if a <= b}
    assert len(seen) == 6
    check_uniform(position, 0, draws=3000)


def beside_no_wall(players: int, hands: Mapping[int, tuple[int, ...]], left: Collection[int], **options: Any) -> Board:
    """Return a table where no wall touches a wall, with all cartons except those in hands and in `left`."""
    board = Board(players, no_double_walls=True, **options)
    for seat, hand in hands.items():
        board.hand(seat, *hand)
    # Walls in the north and east of a block touch no wall, however the block is filled. Cards with other walls lie at
    # its edges.
    outward = sorted(range(3, 21), key=lambda column: abs(column - 11))
    block = [cell(column, row) for row in (10, 9) for column in outward]
    edges = {
        "NW": [cell(column, 8) for column in outward],
        "NS": [cell(column, 11) for column in range(10, 1, -1)],
        "NES": [cell(column, 11) for column in range(12, 21)],
        "EW": [cell(9, row) for row in range(12, 21)],
    }
    gone = {kind for hand in hands.values() for kind in hand} | set(left)
    for kind in sorted(set(range(72)) - gone):
        board.cards[edges.get(PATTERNS[kind // 9], block).pop(0)] = (kind, False)
    return board


def shown(passes: Mapping[int, Sequence[tuple[Sequence[int], bool]]]) -> Callable[[Any], None]:
    """Return a function that sets a state's information from passes about each card in a seat's hand."""

    def change(state: Any) -> None:
        for seat, cards in passes.items():
            for patterns, princess in cards:
                state.seats[seat].shown.add(not_patterns=patterns, not_princess=princess)

    return change


@pytest.mark.parametrize("viewer", [0, 1, 2])
def test_information_from_passes_of_several_seats_is_combined(viewer: int) -> None:
    # Both cards of seat 1 are NS, NE or the Princess, and one card of seat 2 is NS. A card cannot be in both hands.
    hands = {0: (70, 71), 1: (30, PRINCESS), 2: (15, 31)}
    board = beside_no_wall(3, hands, [7, 8, 16, 17, 32, 43, 52]).princess(cell(12, 12), False, 2)
    passes = shown({1: [([0, 1, 4], False)] * 2, 2: [([0, 1, 4, 5], True), ([0], True)]})
    check_uniform(board.position(passes), viewer)


def five_who_passed(hands: Sequence[tuple[int, ...]], patterns: Sequence[Sequence[Sequence[int]]]) -> Position:
    """Return the final phase of five seats. Three cards of each seat except 0 are known not to have some patterns."""
    used = {kind for hand in hands for kind in hand}
    seven = [kind for kind in range(72) if kind // 9 in (0, 5, 6, 7) and kind not in used]
    board = beside_no_wall(5, dict(enumerate(hands)), seven, all_princesses=True)
    board.final = True
    for row in range(5):
        board.asleep(cell(12, 12 + row), 0)
    return board.position(shown({seat: [(each, True) for each in slots] for seat, slots in enumerate(patterns, 1)}))


# Sixteen cartons of four patterns, some for hands and the rest for the pile. All other cartons are on the table.
FREE = [*range(0, 4), *range(45, 49), *range(54, 58), *range(63, 67)]
NOT_PLAIN = [0, 1, 2, 3, 4]
HANDS_OF_THREE = {
    "nothing shown": {},
    "one card is not plain": {1: [(NOT_PLAIN, False)]},
    "two cards are neither plain nor the Princess": {1: [(NOT_PLAIN, True)] * 2},
    "each card less than the one before": {1: [([0, 5, 7], True), ([0, 5], True), ([0], False)]},
    "two seats": {1: [([0], False)] * 3, 2: [([0, 6, 7], True), ([0, 6], False)]},
}


def hands_of_three(
    shown_by: Mapping[int, Sequence[tuple[Sequence[int], bool]]], princesses: int, **options: Any
) -> Position:
    """Return the final phase of three seats with three cards each. Seat 1 holds `princesses`. Seat 2 has played two."""
    # Hands that agree with the information from passes: NE, then NW, then NES.
    hands: dict[int, tuple[int, ...]] = {0: (0, 1, 2), 1: (54, 55, 56), 2: (45, 46, 63)}
    hands[1] = (*hands[1][princesses:], *(PRINCESS,) * princesses)
    held = {kind for hand in hands.values() for kind in hand}
    board = beside_no_wall(3, hands, set(FREE) - held, **options)
    board.princess(cell(12, 12), False, 2).princess(cell(12, 13), False, 2)
    board.final = True
    for row in range(5):
        board.asleep(cell(12, 14 + row), 0)
    return board.position(shown(shown_by))


@pytest.mark.release_only
@pytest.mark.parametrize("options", [{}, {"all_princesses": True}], ids=["parts", "one part"])
@pytest.mark.parametrize("princesses", [0, 1])
@pytest.mark.parametrize("passes", HANDS_OF_THREE)
def test_resampling_is_uniform_with_hands_of_three(passes: str, princesses: int, options: dict[str, Any]) -> None:
    position = hands_of_three(HANDS_OF_THREE[passes], princesses, **options)
    for viewer in (0, 1, 2):
        check_uniform(position, viewer, draws=8000, patterns=True)


@pytest.mark.release_only
@pytest.mark.parametrize("passes", [passes for passes, by in HANDS_OF_THREE.items() if 2 not in by])
def test_resampling_is_uniform_for_each_card_of_a_hand_of_three(passes: str) -> None:
    # Only a few cartons are left, so that every single deal is expected often.
    hands = {0: (0, 1), 1: (54, 55, 56)}
    board = beside_no_wall(2, hands, [2, 3, 45, 46, 63, 64], all_princesses=True)
    board.final = True
    for row in range(5):
        board.asleep(cell(12, 12 + row), 0)
    check_uniform(board.position(shown(HANDS_OF_THREE[passes])), 0, draws=8000)


@pytest.mark.release_only
@pytest.mark.parametrize("options", [{}, {"all_princesses": True}], ids=["parts", "one part"])
@pytest.mark.parametrize(
    ("players", "left", "princesses"), [(2, 50, ()), (2, 20, (1,)), (3, 40, (2,)), (3, 25, (1, 2)), (4, 22, (1, 3))]
)
def test_resampling_is_uniform_with_several_parts_of_the_pile(
    players: int, left: int, princesses: tuple[int, ...], options: dict[str, Any]
) -> None:
    hands = {seat: (70 - 2 * seat, 71 - 2 * seat) for seat in range(players)}
    if len(princesses) < 2:
        hands[1] = (68, PRINCESS)
    position = late(players, left, hands, princesses, **options).position()
    for viewer in range(min(players, 3)):
        check_uniform(position, viewer, draws=8000, patterns=True)


@pytest.mark.release_only
@pytest.mark.parametrize("options", [{}, {"all_princesses": True}], ids=["parts", "one part"])
@pytest.mark.parametrize("princesses", [(), (1,)])
@over("players", [2, 3])
def test_resampling_is_uniform_for_seats_that_have_drawn_few_cards(
    players: int, princesses: tuple[int, ...], options: dict[str, Any]
) -> None:
    # If a seat has drawn few cards, each draw that can have been a Princess has a large effect.
    # With separate parts, only the first part's Princess can have been drawn.
    board = Board(players, **options).hand(1, 68, 67 if princesses and not options else PRINCESS)
    board.fill(cell(12, 11), cell(13, 11))
    for seat in princesses:
        board.princess(cell(12, 10), False, seat)
    check_uniform(board.position(), 0, draws=40_000, patterns=True)


def late_positions(seed: int) -> Iterator[tuple[Position, int]]:
    """Yield late positions of random games, each with a seat. Many Princesses are drawn, and seats pass."""
    choices = random.Random(seed)
    players = choices.randint(2, 3)
    options = {"no_double_walls": choices.random() < 0.7, "all_princesses": choices.random() < 0.5}
    position = GAME.new_game(players, options)
    while not position.is_terminal():
        if position.current_player() == CHANCE_PLAYER:
            outcomes, weights = zip(*position.chance_outcomes(), strict=True)
            princess = PRINCESS in outcomes and choices.random() < 0.2
            position.apply(PRINCESS if princess else choices.choices(outcomes, weights)[0])
            continue
        state = state_of(position)
        if len(state.draw_pile_cards) < 28 and choices.random() < 0.15:
            yield position.clone(), choices.randrange(players)
        groups: dict[str, list[int]] = {}
        for move in position.legal_actions():
            groups.setdefault(kind_of(move), []).append(move)
        for kind in ("sleep", "cat"):
            if len(groups) > 1 and choices.random() < 0.97:
                groups.pop(kind, None)
        position.apply(choices.choice(groups[choices.choice(sorted(groups))]))


@pytest.mark.release_only
def test_resampling_is_uniform_in_late_positions_of_random_games() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(8):
        for position, viewer in late_positions(seed):
            state = state_of(position)
            others = [held for seat, held in enumerate(state.seats) if seat != viewer]
            kinds["hand of three"] += any(len(held.hand_cards) == 3 for held in others)
            kinds["Princess played"] += any(part.princesses_played for held in others for part in held.by_part)
            kinds["Princess held"] += any(PRINCESS in held.hand_cards for held in others)
            kinds["pass shown"] += any(held.shown for held in others)
            kinds["several parts"] += sum(part.cards_left > 0 for part in view_of(position, None).parts) > 1
            check_uniform(position, viewer, draws=1500, patterns=True)
    # Each kind of position that the test needs occurs.
    assert min(kinds.values()) > 0


def words_drawn(position: Position, seed: int) -> int:
    """Return the number of words that resampling for seat 0 draws from the stream, as a measure of its work."""
    sampled = GAME.position(CODEC.read_state(Reader(state_of(position)), GAME.rules_version), (0, 0, 0))
    stream = sampled.resample(0, seed).random_stream()
    assert stream is not None
    return stream[2]


def test_weak_information_about_many_seats_takes_no_extra_work() -> None:
    hands = [(0, 1), (9, 18, 27), (10, 19, 28), (11, 20, 29), (36, 45, 54)]
    position = five_who_passed(hands, [[[0, pattern], [0], [0]] for pattern in (4, 5, 6, 7)])
    drawn = [words_drawn(position, seed) for seed in range(300)]
    assert sum(drawn) / len(drawn) < 60
    assert max(drawn) < 1000


def test_resampling_gives_up_if_hardly_any_deal_is_consistent() -> None:
    # Four seats hold the last twelve cartons of four patterns in only one possible way: one deal in 370,000.
    order = (3, 1, 4, 2)
    hands = [(0, 1), *(tuple(9 * pattern + 6 + i for i in range(3)) for pattern in order)]
    known = [[[pattern for pattern in range(8) if pattern not in order[: 1 + seat]]] * 3 for seat in range(4)]
    position = five_who_passed(hands, known)
    given_up = 0
    for seed in range(8):
        try:
            # An attempt uses a word for the Princesses, and for each seat a word plus a word for each card.
            assert words_drawn(position, seed) <= 20_000 * 17 + 1
        except EngineError as error:
            assert (error.reason, error.field) == (Reason.INVALID_STATE, "seats.shown")
            given_up += 1
    assert given_up > 0


def test_information_from_a_pass_does_not_apply_to_a_new_card() -> None:
    position = play(Board(3, all_princesses=True).hand(0, PRINCESS, PRINCESS).position(), DRAW, PRINCESS, PASS)
    position = play(position, sleep(cell(12, 11)), sleep(cell(13, 11)), princess_in(cell(12, 11)))
    position = play(position, sleep(cell(14, 11)), sleep(cell(15, 11)), DRAW, 20)
    # The information applies to two of the three cards, so there are at least two Princesses.
    counts = {deal_of(position.resample(1, number))[0][0].count(PRINCESS) for number in range(300)}
    assert counts == {2, 3}
    # The information did not apply to the carton that was played.
    after = play(position, place(0, cell(16, 11)))
    after = play(after, SKIP) if phase(after) == "CAT" else after
    assert {deal_of(after.resample(1, number))[0][0].count(PRINCESS) for number in range(100)} == {2}
