"""Rules file: Public and hidden. What is shown, and resampling: uniform over all assignments of distinct cards.

The count of assignments here is by brute force over who drew which Princess and which cartons are in which hand, each
weighted by the orders in which its cards can have come; the kernel counts by formulas.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial, perm, prod
from typing import Any

import pytest
from scipy import stats

from chatiere.engine import EngineError, Position, Reason
from chatiere.engine.core.wire import Reader

from ..building import phase, state_of, view_of
from .building import (
    CODEC,
    DRAW,
    GAME,
    PASS,
    PRINCESS,
    SKIP,
    Board,
    begun,
    carton,
    cell,
    place,
    play,
    princess_in,
    sleep,
)
from .reference import PATTERNS

Deal = tuple[tuple[tuple[int, ...], ...], tuple[int | None, ...]]


def deal_of(position: Position) -> Deal:
    """What is hidden: the hands, and who drew the Princess of each part."""
    state = state_of(position)
    drawers = tuple(part.princess_drawn_by if part.HasField("princess_drawn_by") else None for part in state.parts)
    return tuple(tuple(seat.hand) for seat in state.seats), drawers


def princess_ways(state: Any, viewer: int) -> Iterator[tuple[tuple[int | None, ...], int]]:
    """Who drew the Princess of each part, and in how many ways: that part's draws, or the places left of it."""
    lefts = [part.left for part in view_of_state(state).parts]
    options = []
    for part, (message, left) in enumerate(zip(state.parts, lefts, strict=True)):
        known = message.princess_drawn_by if message.HasField("princess_drawn_by") else None
        if known == viewer:
            options.append([(viewer, 1)])
            continue
        found: list[tuple[int | None, int]] = [(None, left)]
        found += [(seat, held.drawn[part]) for seat, held in enumerate(state.seats) if seat != viewer]
        options.append([(who, count) for who, count in found if count])
    for chosen in product(*options):
        yield tuple(who for who, _ in chosen), prod(count for _, count in chosen)


def view_of_state(state: Any) -> Any:
    from ..building import read

    return view_of(read(state), None)


def matchings(state: Any, seat: int, drawers: tuple[int | None, ...]) -> int:
    """In how many ways the Princesses that the seat played can be those that it drew, none before it was drawn."""
    drew = [part for part, who in enumerate(drawers) if who == seat]
    played = [part for part, count in enumerate(state.seats[seat].princesses_played) for _ in range(count)]
    return sum(
        all(of <= when for of, when in zip(chosen, played, strict=True)) for chosen in permutations(drew, len(played))
    )


def all_deals(position: Position, viewer: int) -> dict[Deal, Fraction]:
    """Every deal that agrees with what the viewer knows, with its number of assignments (up to a common factor)."""
    state = state_of(position)
    others = [seat for seat in range(len(state.seats)) if seat != viewer]
    hidden = sorted(
        {kind for seat in others for kind in state.seats[seat].hand if kind != PRINCESS} | set(state.unknown_cards)
    )
    cartons = [kind for kind in hidden if kind < 72]
    deals: dict[Deal, Fraction] = {}
    for drawers, ways in princess_ways(state, viewer):
        weight = Fraction(ways)
        sizes = {}
        for seat in others:
            held, drew = state.seats[seat], drawers.count(seat)
            weight *= matchings(state, seat, drawers)
            princesses = drew - sum(held.princesses_played)
            sizes[seat] = (len(held.hand) - princesses, princesses)
            if princesses < 0 or sizes[seat][0] < 0:
                weight = Fraction(0)
                break
            # The cartons that it was dealt and drew came in any order; the hand has none.
            came = 2 + sum(held.drawn) - drew
            weight *= Fraction(factorial(came))
            if state.final_phase and (sizes[seat][0] > 0) != any(kind != PRINCESS for kind in held.hand):
                weight = Fraction(0)
                break
        if weight == 0 or sum(size for size, _ in sizes.values()) > len(cartons):
            continue
        # The cards of the pile in any order.
        weight *= factorial(len(hidden) - sum(size for size, _ in sizes.values()))
        for hands in hands_of(cartons, [sizes[seat][0] for seat in others]):
            whole = {seat: (*hand, *(PRINCESS,) * sizes[seat][1]) for seat, hand in zip(others, hands, strict=True)}
            if not all(fits(state.seats[seat].shown, whole[seat]) for seat in others):
                continue
            whole[viewer] = tuple(state.seats[viewer].hand)
            deals[tuple(whole[seat] for seat in range(len(state.seats))), drawers] = weight
    return deals


def hands_of(cartons: list[int], sizes: list[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    if not sizes:
        yield ()
        return
    for hand in combinations(cartons, sizes[0]):
        for rest in hands_of([kind for kind in cartons if kind not in hand], sizes[1:]):
            yield (hand, *rest)


def fits(shown: Any, hand: tuple[int, ...]) -> bool:
    """Whether the cards of the hand can be those that the passes have spoken of, in some order."""

    def may_be(kind: int, each: Any) -> bool:
        return not each.not_princess if kind == PRINCESS else kind // 9 not in each.not_patterns

    return any(
        all(may_be(kind, each) for kind, each in zip(order, shown, strict=False)) for order in permutations(hand)
    )


def check_uniform(position: Position, viewer: int, draws: int = 4000) -> None:
    """The kernel's draws have exactly the deals counted here, as often as their numbers of assignments say."""
    deals = all_deals(position, viewer)
    total = sum(deals.values())
    drawn = Counter(deal_of(position.resample(viewer, 7, number)) for number in range(draws))
    assert deal_of(position) in deals
    assert drawn.keys() <= deals.keys()
    # Cells with few expected draws are taken together.
    expected, observed, rest = [], [], [0.0, 0]
    for deal, weight in deals.items():
        mean = float(draws * weight / total)
        if mean < 8:
            rest[0] += mean
            rest[1] += drawn[deal]
        else:
            expected.append(mean)
            observed.append(drawn[deal])
    if rest[0] > 0:
        expected.append(rest[0])
        observed.append(rest[1])
    if len(expected) > 1:
        assert stats.chisquare(observed, expected).pvalue > 1e-4
    # And in coarser bins: how many Princesses each seat holds, and who drew which.
    for coarse in (lambda deal: tuple(hand.count(PRINCESS) for hand in deal[0]), lambda deal: deal[1]):
        means: Counter[Any] = Counter()
        seen: Counter[Any] = Counter()
        for deal, weight in deals.items():
            means[coarse(deal)] += weight
        for deal, count in drawn.items():
            seen[coarse(deal)] += count
        keys = [key for key in means if draws * means[key] / total >= 5]
        kept = sum(seen[key] for key in keys)
        whole = sum(means[key] for key in keys)
        if len(keys) > 1:
            assert (
                stats.chisquare([seen[key] for key in keys], [float(kept * means[key] / whole) for key in keys]).pvalue
                > 1e-4
            )


def late(
    players: int, left: int, hands: Mapping[int, tuple[int, ...]], princesses: tuple[int, ...] = (), **options: Any
) -> Board:
    """A table with all cartons but those in hands and about `left` others."""
    board = Board(players, **options)
    for seat, hand in hands.items():
        board.hand(seat, *hand)
    for number, seat in enumerate(princesses):
        board.princess(cell(2 + number, 10), False, seat)
    free = 72 - sum(kind < 72 for hand in board.hands for kind in hand) - left
    cells = [cell(column, row) for row in (11, 12, 13, 14, 15, 10, 9) for column in range(24)]
    cells = [where for where in cells if where not in board.cards]
    board.fill(*cells[:free])
    return board


@pytest.mark.parametrize("viewer", [0, 1])
def test_two_seats_in_the_lower_part(viewer: int) -> None:
    position = late(2, 5, {0: (70, 71), 1: (69, PRINCESS)}).position()
    check_uniform(position, viewer)


def test_a_princess_played_tells_of_the_part_that_she_came_from() -> None:
    position = late(2, 5, {0: (70, 71), 1: (68, 69)}, (1,)).position()
    check_uniform(position, 0)


def test_three_seats() -> None:
    position = late(3, 3, {0: (70, 71), 1: (68, PRINCESS), 2: (67, 66)}, (2,)).position()
    check_uniform(position, 0)
    check_uniform(position, 1)


def test_a_princess_was_drawn_before_she_was_played() -> None:
    def early(state: Any) -> None:
        # Seat 2 played her before anybody drew from the second part: she is that of the first.
        del state.seats[2].princesses_played[:]
        state.seats[2].princesses_played.extend([1, 0, 0])

    position = late(3, 3, {0: (70, 71), 1: (68, PRINCESS), 2: (67, 66)}, (2,)).position(early)
    assert {deal_of(position.resample(0, number))[1][0] for number in range(200)} == {2}
    check_uniform(position, 0)


@pytest.mark.parametrize("princesses", [(), (1,), (0, 1, 1)])
def test_all_princesses_in_one_pile(princesses: tuple[int, ...]) -> None:
    position = late(2, 4, {0: (70, 71), 1: (69, PRINCESS)}, princesses, all_princesses=True).position()
    # Distinct Princesses into distinct places: other draws of seat 1, and the pile.
    state = state_of(position)
    drawn, played = sum(state.seats[1].drawn), princesses.count(1)
    unlocated = 5 - len(princesses)
    left = view_of(position, 0).pile_size
    cartons = [kind for kind in state.unknown_cards if kind < 72] + [69]
    toys = sum(kind >= 72 for kind in state.unknown_cards)
    weights = {}
    for held in range(3):
        chosen = factorial(unlocated) // factorial(held) // factorial(unlocated - held)
        ways = chosen * perm(drawn - played, held) * perm(left, unlocated - held)
        came, hand = 2 + drawn - played - held, 2 - held
        ways *= factorial(came) // factorial(hand) * perm(len(cartons), hand)
        weights[held] = ways * factorial(len(cartons) - hand + toys)
    draws = 3000
    drawn_again = Counter(deal_of(position.resample(0, 3, number))[0][1].count(PRINCESS) for number in range(draws))
    total = sum(weights.values())
    expected = [draws * weights[held] / total for held in range(3)]
    assert stats.chisquare([drawn_again[held] for held in range(3)], expected).pvalue > 1e-4


def test_in_the_final_phase_all_know_who_holds_a_carton() -> None:
    board = late(3, 2, {0: (70,), 1: (68, PRINCESS), 2: (PRINCESS,)})
    board.final = True
    for number in range(5):
        board.asleep(cell(number, 10), 0)
    position = board.position()
    for number in range(200):
        hands = deal_of(position.resample(0, number))[0]
        assert [any(kind != PRINCESS for kind in hand) for hand in hands] == [True, True, False]
    check_uniform(position, 0)


def test_what_a_pass_showed_is_respected() -> None:
    def passed(state: Any) -> None:
        # When seat 1 passed, cartons with one of these patterns could have been played, and the Princess.
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
    """A table where no wall meets a wall, with all cartons but those in hands and in `left`."""
    board = Board(players, no_double_walls=True, **options)
    for seat, hand in hands.items():
        board.hand(seat, *hand)
    # Walls in the north and east of a block meet nothing, whatever lies where in it; others lie at its edges.
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
    """A change of the state: what passes have said of each card in a seat's hand."""

    def change(state: Any) -> None:
        for seat, cards in passes.items():
            for patterns, princess in cards:
                state.seats[seat].shown.add(not_patterns=patterns, not_princess=princess)

    return change


@pytest.mark.parametrize("viewer", [0, 1, 2])
def test_what_the_passes_of_several_seats_showed_fits_together(viewer: int) -> None:
    # Both cards of seat 1 are NS, NE or the Princess, one of seat 2 is NS: what one has the other cannot have.
    hands = {0: (70, 71), 1: (30, PRINCESS), 2: (15, 31)}
    board = beside_no_wall(3, hands, [7, 8, 16, 17, 32, 43, 52]).princess(cell(12, 12), False, 2)
    passes = shown({1: [([0, 1, 4], False)] * 2, 2: [([0, 1, 4, 5], True), ([0], True)]})
    check_uniform(board.position(passes), viewer)


def five_who_passed(hands: Sequence[tuple[int, ...]], patterns: Sequence[Sequence[Sequence[int]]]) -> Position:
    """The final phase of five seats; of each but seat 0 three cards are known not to have some patterns."""
    used = {kind for hand in hands for kind in hand}
    seven = [kind for kind in range(72) if kind // 9 in (0, 5, 6, 7) and kind not in used]
    board = beside_no_wall(5, dict(enumerate(hands)), seven, all_princesses=True)
    board.final = True
    for row in range(5):
        board.asleep(cell(12, 12 + row), 0)
    return board.position(shown({seat: [(each, True) for each in slots] for seat, slots in enumerate(patterns, 1)}))


def words_drawn(position: Position, seed: int) -> int:
    """How many words of the stream resampling for seat 0 takes: what it does goes with them."""
    sampled = GAME.position(CODEC.read_state(Reader(state_of(position))), (0, 0, 0))
    stream = sampled.resample(0, seed).random_stream()
    assert stream is not None
    return stream[2]


def test_weak_signs_of_many_seats_cost_nothing() -> None:
    hands = [(0, 1), (9, 18, 27), (10, 19, 28), (11, 20, 29), (36, 45, 54)]
    position = five_who_passed(hands, [[[0, pattern], [0], [0]] for pattern in (4, 5, 6, 7)])
    drawn = [words_drawn(position, seed) for seed in range(300)]
    assert sum(drawn) / len(drawn) < 60
    assert max(drawn) < 1000


def test_what_hardly_any_deal_agrees_with_is_given_up() -> None:
    # Four seats between them hold the last twelve of four patterns, and only one way round: one deal in 370,000.
    order = (3, 1, 4, 2)
    hands = [(0, 1), *(tuple(9 * pattern + 6 + i for i in range(3)) for pattern in order)]
    known = [[[pattern for pattern in range(8) if pattern not in order[: 1 + seat]]] * 3 for seat in range(4)]
    position = five_who_passed(hands, known)
    given_up = 0
    for seed in range(8):
        try:
            # A try takes a word for the Princesses, and for each seat one and one for each card.
            assert words_drawn(position, seed) <= 20_000 * 17 + 1
        except EngineError as error:
            assert (error.reason, error.field) == (Reason.INVALID_STATE, "seats.shown")
            given_up += 1
    assert given_up > 0


def test_after_a_new_card_only_as_many_as_were_shown_are_bound() -> None:
    position = play(Board(3, all_princesses=True).hand(0, PRINCESS, PRINCESS).position(), DRAW, PRINCESS, PASS)
    position = play(position, sleep(cell(12, 11)), sleep(cell(13, 11)), princess_in(cell(12, 11)))
    position = play(position, sleep(cell(14, 11)), sleep(cell(15, 11)), DRAW, 20)
    # Three cards, of which two were shown: at least two Princesses.
    counts = {deal_of(position.resample(1, number))[0][0].count(PRINCESS) for number in range(300)}
    assert counts == {2, 3}
    # A carton played was none of them.
    after = play(position, place(0, cell(16, 11)))
    after = play(after, SKIP) if phase(after) == "CAT" else after
    assert {deal_of(after.resample(1, number))[0][0].count(PRINCESS) for number in range(100)} == {2}


def test_what_two_seats_cannot_tell_apart_looks_the_same() -> None:
    position = late(3, 3, {0: (70, 71), 1: (68, PRINCESS), 2: (67, 66)}, (2,)).position()
    for number in range(30):
        other = position.resample(0, number)
        other.check()
        assert view_of(other, 0) == view_of(position, 0)
        assert other.observation(0) == position.observation(0)
        assert view_of(other, None) == view_of(position, None)


def test_the_own_princess_is_known_to_its_seat_alone() -> None:
    position = play(begun(3), DRAW, PRINCESS)
    assert [part.own_princess for part in view_of(position, 0).parts] == [True, False, False]
    assert not any(part.own_princess for seat in (1, 2, None) for part in view_of(position, seat).parts)
    assert [view_of(position, seat).unseen_princesses for seat in (0, 1, None)] == [2, 3, 3]
    assert list(view_of(position, 1).seats[0].hand) == []
    assert view_of(position, 1).seats[0].hand_size == 3
