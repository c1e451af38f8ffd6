"""Tests of the rules in "Public and hidden": knowledge of seats, views, and resampling."""

import random
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare
from tools.over import over

from chatiere.engine import CHANCE_PLAYER, Position

from ..building import name_of, read, state_of, update_of, view_of
from ..plain import observed
from .building import GAME, PLAYERS, Table, card, cards, late_state, names
from .knowledge import Hands, Witness, allowed, hands_of

pytestmark = pytest.mark.rules("momistigri", "Public and hidden")

# Hands of the other seats.
OTHERS = ("6A", "6B", "6C", "6D")


def test_hands_are_hidden_and_the_rest_is_public() -> None:
    table = Table.late("3A 4A", "5A M", "6A", "7A", passed=(2,), round=2, penalties=[[9, 1, 2, 3]], reversed=True)
    for viewer in (0, 1, 2, 3, None):
        view = view_of(table.position, viewer)
        assert [seat.hand_size for seat in view.seats] == [2, 2, 1, 1]
        assert [seat.pass_mark for seat in view.seats] == [False, False, True, False]
        assert [list(seat.round_points) for seat in view.seats] == [[9], [1], [2], [3]]
        assert view.reversed
        assert list(view.discards) == list(table.state.discards)
        for seat in range(4):
            assert table.knows(viewer, seat) == (table.hand(seat) if seat == viewer else "")
    assert names(view_of(table.position, 1).unseen_cards) == "3A 4A 6A 7A"


def totals_seen(position: Position, viewer: int | None) -> list[int | None]:
    """Return the totals that a viewer sees. The points of hands are present if and only if the totals are."""
    score = update_of(position, viewer).score
    detail = score.detail.momistigri.seats
    assert [each.HasField("total") for each in score.totals] == [each.HasField("hand_points") for each in detail]
    for each, parts in zip(score.totals, detail, strict=True):
        assert not each.HasField("total") or each.total == sum(parts.round_points) + parts.hand_points
    return [each.total if each.HasField("total") else None for each in score.totals]


def test_a_viewer_knows_only_its_own_total_but_all_penalties() -> None:
    table = Table.late("3A 4A", "5A M", "6A", "7A", round=2, penalties=[[9, 1, 2, 3]])
    expected = [16, 16, 8, 10]
    for viewer in range(4):
        assert totals_seen(table.position, viewer) == [
            total if seat == viewer else None for seat, total in enumerate(expected)
        ]
    assert totals_seen(table.position, None) == [None] * 4
    for each in (0, 1, 2, 3, None):
        seats = update_of(table.position, each).score.detail.momistigri.seats
        assert [list(seat.round_points) for seat in seats] == [[9], [1], [2], [3]]


def test_a_viewer_knows_a_total_if_it_knows_each_card_of_the_hand() -> None:
    # The viewer therefore knows the totals for empty hands, and all totals when the game is over.
    known = 0
    for players in PLAYERS:
        choices = random.Random(players)
        position = GAME.new_game(players, seed=players)
        while True:
            for viewer in (*range(players), None):
                seats = view_of(position, viewer).seats
                whole = [len(seat.hand_cards) == seat.hand_size for seat in seats]
                assert viewer is None or whole[viewer]
                assert totals_seen(position, viewer) == [
                    total if is_whole else None for total, is_whole in zip(position.totals(), whole, strict=True)
                ]
                known += sum(
                    is_whole and seat != viewer and seats[seat].hand_size > 0 for seat, is_whole in enumerate(whole)
                )
            if position.is_terminal():
                assert totals_seen(position, None) == position.totals()
                break
            position.apply(choices.choice(position.legal_actions()))
    assert known


@pytest.mark.rules("momistigri", "Decisions of the engine")
def test_the_kind_of_a_pending_mark_is_public() -> None:
    table = Table.late("7A 7B 3A 4A", "5A", "6A").pair("7A 7B")
    for viewer in (0, 1, 2, None):
        view = view_of(table.position, viewer)
        assert (name_of(view, "mark"), view.draws_left, view.drawn_from) == ("TWO", 2, 0)


def test_a_drawn_card_is_known_to_both_seats() -> None:
    table = Table.late("3A 4A", "5A M", "6A", "7A", active=2, phase="DRAW", draws_left=1).draw("M")
    assert table.knows(1, 2) == "M"
    assert [table.knows(viewer, 2) for viewer in (0, 3, None)] == ["", "", ""]


def test_a_given_card_is_known_to_both_seats() -> None:
    table = Table.late("4A 4B 3A", "6A", "6B", "6C").pair("4A 4B").give("3A", 2)
    assert [table.knows(viewer, 2) for viewer in (0, 1, 3, None)] == ["3A", "", "", ""]


def test_a_card_handed_out_is_known_to_all_seats() -> None:
    table = Table.late("5A 5B 3A", "6A", "6B").pair("5A 5B").hand_out("8C")
    assert [table.knows(viewer, 1) for viewer in (0, 2, None)] == ["8C", "8C", "8C"]


def test_a_card_swapped_in_is_known_to_all_seats() -> None:
    table = Table.late("3A 3B 4C 4D", "6A", "6B").pair("3A 3B").main().draw("4C").swap_out("4D").swap_in("8C")
    assert [table.knows(viewer, 0) for viewer in (1, 2, None)] == ["8C", "8C", "8C"]
    assert table.knows(0, 1) == "4C"


def test_a_named_card_is_known_to_its_owner_until_it_is_drawn() -> None:
    table = Table.late("2A 2B 3A M", "6A", "6B", "6C").pair("2A 2B").main().name("M")
    assert table.events[0].seen_by == frozenset({0})
    assert [table.knows(viewer, 1) for viewer in (0, 2, 3, None)] == ["M", "", "", ""]


@pytest.mark.rules("momistigri", "Decisions of the engine")
def test_after_main_of_a_1_all_seats_know_that_the_hand_has_no_1() -> None:
    table = Table.late("1A 1B 3A 4A", *OTHERS).pair("1A 1B").main()
    assert [table.most_ones(viewer, 0) for viewer in (1, 2, 3, 4, None)] == [0] * 5
    assert [table.most_ones(viewer, 1) for viewer in (0, 2, None)] == [None] * 3
    assert table.most_ones(0, 0) is None


def ones_of_seat_2() -> Table:
    """Return a table where seat 2 is known to have no 1, and draws from seat 1. Seat 1 has a 1."""
    known = {(None, 2): 0}
    return Table.late(
        "3A 4A 1E", "1A 3B", "6B 8C", "6C 1B", "6D", active=2, phase="DRAW", draws_left=1, most_ones=known
    )


@pytest.mark.rules("momistigri", "Decisions of the engine")
def test_seats_that_see_a_received_card_know_whether_it_is_a_1() -> None:
    table = ones_of_seat_2().draw("3B")
    assert [table.most_ones(viewer, 2) for viewer in (0, 1, 3, None)] == [1, 0, 1, 1]
    table = ones_of_seat_2().draw("1A")
    assert [table.most_ones(viewer, 2) for viewer in (0, 1, 3, None)] == [1, 1, 1, 1]


def test_seats_that_see_a_1_leave_know_that_there_is_one_fewer() -> None:
    table = ones_of_seat_2().draw("1A").pass_turn().draw("1A")
    # Seat 3 drew the card, and seat 0 did not see it.
    assert [table.most_ones(viewer, 2) for viewer in (0, 1, 3, None)] == [1, 1, 0, 1]


def test_a_hand_without_a_1_cannot_lose_one() -> None:
    known = {(None, 1): 0, (None, 2): 0}
    table = Table.late("3A 1E", "4A 3B", "6B 8C", "6C", "6D", active=2, phase="DRAW", draws_left=1, most_ones=known)
    table.draw("3B")
    assert [table.most_ones(viewer, 2) for viewer in (0, 1, 3, None)] == [0, 0, 0, 0]


def test_all_seats_count_1s_handed_out_and_discarded() -> None:
    known = {(None, 1): 1}
    table = Table.late("5A 5B 3A", "1A 4A 2B", *OTHERS[1:], most_ones=known).pair("5A 5B").hand_out("1E")
    assert [table.most_ones(viewer, 1) for viewer in (0, 2, None)] == [2, 2, 2]
    table.hand_out("8C").hand_out("8D").hand_out("5A").draw("3A").pair("1A 1E").reverse()
    assert [table.most_ones(viewer, 1) for viewer in (0, 2, None)] == [0, 1, 1]


def test_a_maximum_of_nine_1s_is_not_recorded() -> None:
    known = {(None, 1): 8}
    hands = ("5A 5B 3A", "1A 1A 1B 1B 1C 1C 1D 1D", *OTHERS[1:])
    table = Table.late(*hands, most_ones=known).pair("5A 5B").hand_out("1E")
    assert [table.most_ones(viewer, 1) for viewer in (0, 2, None)] == [None] * 3


def test_knowledge_of_1s_ends_when_the_seat_leaves() -> None:
    known = {(None, 0): 0}
    table = Table.late("3A 4A", *OTHERS, most_ones=known).pair("3A 4A")
    assert table.inside() == [1, 2, 3, 4]
    assert [table.most_ones(viewer, 0) for viewer in (1, None)] == [None, None]


def test_a_discarded_card_is_no_longer_known() -> None:
    table = Table.late("4E 5E M", "6A", "6B", known={(1, 0): "4E M", (None, 0): "M"}).pair("4E 5E")
    assert [table.knows(viewer, 0) for viewer in (1, 2, None)] == ["M", "M", "M"]


def test_one_of_two_copies_is_still_known_after_a_discard() -> None:
    table = Table.late("4E 4E 5E M", "6A", "6B", known={(1, 0): "4E 4E"}).pair("4E 5E")
    assert table.knows(1, 0) == "4E"


def drawn_on(known: str, hand: str = "3A 4E 4E M") -> Table:
    """Return a table where seat 2 knows cards of seat 0's hand, and seat 1 draws from that hand."""
    table = Table.late(hand, "6A", "6B", active=1, phase="DRAW", draws_left=1, known={(2, 0): known})
    return table


@pytest.mark.rules("momistigri", "Decisions of the engine")
def test_seats_that_did_not_see_the_card_are_sure_of_one_copy_fewer() -> None:
    assert drawn_on("3A").draw("M").knows(2, 0) == ""
    assert drawn_on("4E 4E M").draw("3A").knows(2, 0) == "4E"
    # This is true regardless of the card that was drawn.
    assert drawn_on("4E 4E M").draw("4E").knows(2, 0) == "4E"


def test_seats_that_saw_the_card_still_know_the_other_cards() -> None:
    position = read(
        late_state(["3A 4E 4E M", "6A", "6B"], active=1, phase="DRAW", draws_left=1, known={(1, 0): "3A 4E"})
    )
    assert Table(position.clone()).draw("M").knows(1, 0) == "3A 4E"
    table = Table(position).draw("3A")
    assert table.knows(1, 0) == "4E"
    # The giver knows which card it gave.
    assert table.knows(0, 1) == "3A"


@pytest.mark.rules("momistigri", "Decisions of the engine")
def test_seats_that_know_a_hand_of_one_kind_know_which_card_left() -> None:
    table = drawn_on("M", hand="M").draw("M")
    assert table.knows(2, 1) == "M"
    table = drawn_on("4E 4E", hand="4E 4E").draw("4E")
    assert (table.knows(2, 0), table.knows(2, 1)) == ("4E", "4E")
    # This is not true if a card of the hand is unknown.
    table = drawn_on("4E", hand="4E 4E").draw("4E")
    assert (table.knows(2, 0), table.knows(2, 1)) == ("", "")


def test_public_knowledge_moves_with_the_card() -> None:
    table = Table.late("M", "6A", "6B", active=1, phase="DRAW", draws_left=1, known={(None, 0): "M"}).draw("M")
    assert [table.knows(viewer, 1) for viewer in (0, 2, None)] == ["M", "M", "M"]


@pytest.mark.rules("momistigri", "Decisions of the engine")
def test_after_the_game_all_hands_are_public() -> None:
    table = Table.late("4A M", "5A", "6A", passed=(1, 2), round=2, penalties=[[7, 1, 2]]).pass_turn()
    for viewer in (0, 1, 2, None):
        assert [table.knows(viewer, seat) for seat in range(3)] == ["4A M", "5A", "6A"]
        assert not view_of(table.position, viewer).unseen_cards
    assert table.position.resample(0, 1) == table.position


@pytest.mark.rules("momistigri", "Decisions of the engine")
def test_a_new_round_starts_without_knowledge() -> None:
    table = Table.late("4A M", "5A", "6A", passed=(1, 2), known={(1, 0): "M"}).pass_turn()
    assert not any(held.knowledge for held in table.state.seats)


# Compared with a seat that remembers everything

STARTS = {
    "three": ["3A 3B 4E 5A", "4E 6A", "M 6B"],
    "gifts": ["4A 4B 7A", "4C 4D M", "8C 3C"],
    "swaps": ["3A 3B 3C M", "3C 3D", "3D 4A"],
    "twos": ["2A 2B 7A", "2A 2B 7B", "2C M", ""],
    "fives": ["5A 5B 8C", "5C M", "8D 7A"],
    "ones": ["1A 1B 1C", "1A 1B", "1E M", "3C", ""],
    "more ones": ["1A 1B", "1A 1C 4A", "1E 4B", "", "1D"],
    "one kind": ["4E 4E 4A", "4B", "3C 3C"],
    "threes": ["8C 8D 3C 3C", "7A 7B", "4E 4E"],
}


@pytest.mark.rules("momistigri", "Decisions of the engine")
@pytest.mark.parametrize("start", STARTS)
def test_no_possible_world_is_excluded(start: str) -> None:
    choices = random.Random(start)
    steps = exact = 0
    for number in range(8):
        position = read(late_state(STARTS[start], turn=20))
        witnesses = [Witness(position, seat) for seat, hand in enumerate(STARTS[start]) if hand]
        for _ in range(14):
            moves = position.legal_actions()
            if position.current_player() == CHANCE_PLAYER:
                moves = [outcome for outcome, _ in position.chance_outcomes()]
            # Prefer effects, because they change knowledge.
            move = choices.choice(moves[:-1] if moves[-1] in (1081, 1082) and len(moves) > 1 else moves)
            if state_of(position.child(move)).turn == 0:
                break
            for witness in witnesses:
                witness.see(position, move)
            position.apply(move)
            for witness in witnesses:
                possible = set(allowed(position, witness.seat))
                assert hands_of(position) in witness.worlds
                assert witness.worlds.keys() <= possible, (number, witness.seat, position)
                steps += 1
                exact += witness.worlds.keys() == possible
                drawn = hands_of(position.resample(witness.seat, choices.getrandbits(64)))
                assert drawn in possible
    # In most cases the state records all possible knowledge.
    assert steps > 50
    assert exact > 0.9 * steps


# Resampling

UNIFORM: dict[str, tuple[Position, int]] = {
    "nothing known": (read(late_state(["3A 3B", "4E 4E M", "5A 6A"])), 0),
    "some cards known": (read(late_state(["3A 3B", "4E 4E 4A M", "4B 6A 6B"], known={(0, 1): "4E", (0, 2): "6A"})), 0),
    "kinds with copies": (read(late_state(["M", "4E 4E 3C", "3C 3D 3D", "5A"])), 3),
    "few 1s": (
        read(late_state(["M", "1A 1A 3B", "4A 1B", "1C 5A", ""], most_ones={(None, 2): 1, (0, 3): 1, (None, 3): 2})),
        0,
    ),
    "no 1s, one known": (
        read(
            late_state(
                ["M", "1A 1E 3B", "4A 8C", "1C 5A", "7A"],
                most_ones={(None, 2): 0, (0, 1): 2},
                known={(0, 1): "1E", (0, 3): "5A"},
            )
        ),
        0,
    ),
}


@pytest.mark.rules("momistigri", "Decisions of the engine")
@pytest.mark.parametrize("name", UNIFORM)
def test_resampling_is_uniform_over_the_placements_of_the_hidden_cards(name: str) -> None:
    position, seat = UNIFORM[name]
    position.check()
    expected = allowed(position, seat)
    draws = 120 * len(expected)
    drawn: Counter[Hands] = Counter(hands_of(position.resample(seat, 5, number)) for number in range(draws))
    assert drawn.keys() == expected.keys()
    total = sum(expected.values())
    found = [drawn[hands] for hands in expected]
    assert chisquare(found, [draws * ways / total for ways in expected.values()]).pvalue > 0.001


def test_resampling_during_the_deal_also_draws_from_the_undealt_cards() -> None:
    position = GAME.new_game(3, {"first_seat": 0})
    for one in ("3C", "4E", "M"):
        position.apply(card(one))
    drawn: Counter[str] = Counter()
    for number in range(5000):
        hands = hands_of(position.resample(0, 9, number))
        assert hands[0] == tuple(cards("3C"))
        assert len(hands[1]) == len(hands[2]) == 1
        drawn[names(hands[1])] += 1
    unseen = Counter(names([kind]) for kind in view_of(position, 0).unseen_cards)
    assert drawn.keys() == unseen.keys()
    found = [drawn[kind] for kind in unseen]
    assert chisquare(found, [5000 * n / 27 for n in unseen.values()]).pvalue > 0.001


@over("players", PLAYERS)
def test_resampling_depends_only_on_the_seats_information(players: int) -> None:
    choices = random.Random(players)
    position = GAME.new_game(players, seed=players)
    while not position.is_terminal():
        for seat in range(players):
            other = position.resample(seat, choices.getrandbits(64))
            other.check()
            first, second = position.clone().resample(seat, 7), other.resample(seat, 7)
            assert first.pack() == second.pack()
        position.apply(choices.choice(position.legal_actions()))


@pytest.mark.rules("momistigri", "Decisions of the engine")
def test_resampling_keeps_public_knowledge() -> None:
    known = {(0, 1): "4E", (2, 1): "M", (1, 0): "3A", (None, 2): "6A", (0, 2): "6A 6B", (1, 2): "6A 6C"}
    position = read(late_state(["3A 3B", "4E 4E M", "6A 6B 6C"], known=known))
    drawn = Table(position.resample(0, 3))
    assert drawn.knows(0, 1) == "4E"
    assert drawn.knows(0, 2) == "6A 6B"
    # Seat 0 need not know that seat 1 knows a card of its hand.
    assert drawn.knows(1, 0) == ""
    assert drawn.knows(2, 1) == ""
    assert (drawn.knows(1, 2), drawn.knows(None, 2)) == ("6A", "6A")


def test_resampling_keeps_public_knowledge_of_1s() -> None:
    known = {(None, 1): 2, (2, 1): 1, (0, 1): 1, (None, 0): 1, (1, 0): 0}
    position = read(late_state(["3A", "1A 4A", "1B", "1C", "1D"], most_ones=known))
    drawn = Table(position.resample(0, 3))
    assert [drawn.most_ones(viewer, 1) for viewer in (0, 2, 3, None)] == [1, 2, 2, 2]
    assert [drawn.most_ones(viewer, 0) for viewer in (1, 2, None)] == [1, 1, 1]


def test_views_and_observations_contain_public_knowledge_of_each_hand() -> None:
    known = {(None, 1): "4E", (None, 2): "6A", (0, 1): "4E", (0, 2): "6A 6B", (1, 2): "6A", (2, 1): "4E M"}
    ones = {(None, 2): 2, (0, 2): 1, (1, 2): 2, (None, 0): 0, (1, 0): 0, (2, 0): 0}
    hands = ["3A 3B", "4E 4E M", "1A 6A 6B 6C", "2A", "2B"]
    position = read(late_state(hands, known=known, most_ones=ones))
    for viewer in (0, 1, 2, None):
        seats = view_of(position, viewer).seats
        assert [names(seen.known_to_all) for seen in seats] == ["", "4E", "6A", "", ""]
        assert [seen.most_ones_known_to_all for seen in seats if seen.HasField("most_ones_known_to_all")] == [0, 2]
    for viewer in range(5):
        parts = observed(position, viewer)
        assert [int(hand.sum()) for hand in np.roll(parts["known_to_all"], viewer, 0)] == [0, 1, 1, 0, 0]
        assert np.roll(parts["seats"][:, 10], viewer).tolist() == [1, 0, 3, 0, 0]
