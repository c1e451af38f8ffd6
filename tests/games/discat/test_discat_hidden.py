"""Tests of the rules in "Public and hidden"."""

import random
from typing import Any

import numpy as np
import pytest
from tools.over import over

from chatiere.engine import EngineError, EventLog

from .. import plain
from ..building import event_of, label_of, read, state_of, view_of
from .building import EXCHANGED, GAME, KEPT, Table, late_state, plain_event, played
from .reference import Game
from .test_discat_reference import choose

pytestmark = pytest.mark.rules("discat", "Public and hidden")


def observed(table: Table, seat: int, part: str) -> np.ndarray:
    """Return a part of a seat's observation, in its shape."""
    return plain.observed(table.position, seat)[part]


def cards(row: np.ndarray, value: int = 1) -> list[int]:
    """Return the cards whose entry in a row of 90 numbers has the given value."""
    return [int(index) + 1 for index in np.flatnonzero(row == value)]


def middle() -> Table:
    """Return a table of three seats. Seat 0 has played 12, seat 1 has exchanged 33 for 60, and seat 2 has to choose."""
    table = Table([12, 41, 42, 43, 44], [31, 32, 33, 34, 35], [51, 52, 53, 54, 55]).play(12).draw(45, 46)
    return table.exchange(33).draw(60)


def test_piles_counts_and_the_constraint_are_public() -> None:
    table = middle()
    for seat in (0, 1, 2, None):
        view = view_of(table.position, seat)
        assert [seen.hand_size for seen in view.seats] == [6, 5, 5]
        assert [[card.card for card in seen.pile] for seen in view.seats] == [[12], [], []]
        assert view.draw_pile_size == 60 - 1 - 16
        assert (view.constraint.card, view.constraint.higher, view.constraint.creator) == (12, False, 0)
        assert view.constraint.bonus_drawn
        assert view.passes == 1
        assert (view.first_seat, view.active_seat) == (0, 2)
        assert [turn.WhichOneof("turn") for turn in view.turns] == ["played", "passed"]


def test_a_seat_sees_only_its_own_hand() -> None:
    table = middle()
    hands = [[41, 42, 43, 44, 45, 46], [31, 32, 34, 35, 60], [51, 52, 53, 54, 55]]
    for seat in range(3):
        view = view_of(table.position, seat)
        assert [list(seen.hand_cards) for seen in view.seats] == [hands[s] if s == seat else [] for s in range(3)]
        assert cards(observed(table, seat, "own_hand")) == hands[seat]
    assert all(not seen.hand_cards for seen in view_of(table.position, None).seats)


def test_unseen_cards_are_neither_laid_nor_known_to_the_seat() -> None:
    table = middle()
    everything = set(range(1, 61)) - {12}
    for seat, known in (
        (0, {41, 42, 43, 44, 45, 46}),
        (1, {31, 32, 33, 34, 35, 60}),
        (2, {51, 52, 53, 54, 55}),
        (None, ()),
    ):
        assert set(view_of(table.position, seat).unseen_cards) == everything - set(known)


def test_an_exchange_is_public_but_its_card_is_known_only_to_the_seat() -> None:
    table = middle()
    for seat in (0, 1, 2, None):
        view = view_of(table.position, seat)
        assert [queued.seat for queued in view.queue] == [1]
        assert [queued.card for queued in view.queue if queued.HasField("card")] == ([33] if seat == 1 else [])
        assert view.turns[1].passed.exchanged
    assert [cards(observed(table, seat, "known")) for seat in range(3)] == [[], [33], []]
    assert observed(table, 0, "queue") == 1


def test_an_observation_contains_the_information_from_passes() -> None:
    # The same cards are laid and drawn. Only in the first history does seat 1 pass on the 39 with the card that it drew
    # for its 1, so that this card cannot be above 39.
    ends = []
    for moves in (
        "23 +2 48 +3 22 +5 1 +7 39 +9 +11 keep 49 +13 keep",
        "23 +2 48 +3 39 +5 +9 keep 22 1 +7 49 +11 +13 keep",
    ):
        table = Table([4, 22, 23, 39, 49], [1, 6, 8, 10, 48])
        for move in moves.split():
            if move == "keep":
                table.keep()
            elif move[0] == "+":
                table.draw(int(move))
            else:
                table.play(int(move))
        ends.append(plain.observed(table.position, 0))
    different = [name for name in ends[0] if (ends[0][name] != ends[1][name]).any()]
    assert different == ["order"]


def test_an_observation_contains_each_play_with_its_passes_in_order() -> None:
    table = middle()
    for seat in range(3):
        order, turns = observed(table, seat, "order"), observed(table, seat, "turns")
        assert cards(order) == [12]
        # The turns are the play and one pass, with an exchange.
        assert cards(turns, 2 << 5 | 1) == [12]
        assert np.count_nonzero(order) == np.count_nonzero(turns) == 1
    assert [cards(observed(table, seat, "queue_place")) for seat in range(3)] == [[], [33], []]


@pytest.mark.rules("discat", "Decisions of the engine")
def test_a_card_that_passed_through_the_queue_again_is_no_longer_known() -> None:
    # Seat 2 puts 33 under the pile, where seat 0 draws it. Seat 0 then puts 40 there, or 33 again.
    def known(*redrawn: int) -> list[int]:
        hands = [[33, 41, 42, 43, 44], [31, 35, 36, 37, 38], [45, 46, 48, 49, 51]]
        turns = [EXCHANGED, EXCHANGED, played(47), played(9)]
        table = Table.at(read(late_state(hands, turns, first=2, active=0, redrawn=redrawn)))
        return cards(observed(table, 2, "known"), 2)

    assert known(33, 40) == [33]
    assert known(33, 33) == []


@pytest.mark.rules("discat", "Decisions of the engine")
def test_a_card_that_another_seat_drew_from_the_queue_is_known_to_its_previous_holder() -> None:
    # Seat 1 has put 33 under the pile. Seat 0 draws it, because there is no unknown card left.
    state = late_state(
        [[30, 41, 42, 43, 44, 45], [31, 35, 36, 37, 38]],
        [played(9), EXCHANGED, played(47), played(50)],
        first=0,
        active=0,
        queue=[33],
        up_arrows=[],
    )
    table = Table.at(read(state)).play(30)
    assert ("BONUS_CARD_DRAWN", 0, (33,)) in table.plain_events()
    assert list(view_of(table.position, 1).seats[0].hand_cards) == [33]
    assert list(view_of(table.position, None).seats[0].hand_cards) == []
    assert cards(observed(table, 1, "known"), 2) == [33]
    for seat, known in ((0, 33), (1, 33), (None, 0)):
        (drawn,) = view_of(table.position, seat).redrawn
        assert (drawn.seat, drawn.card, drawn.HasField("card")) == (1, known, known != 0)
    assert [observed(table, seat, "redrawn").tolist() for seat in range(2)] == [[33] + [0] * 29] * 2
    assert 33 not in view_of(table.position, 1).unseen_cards
    assert 33 in view_of(table.position, None).unseen_cards
    (drawn,) = [event for event in table.events if plain_event(event)[0] == "BONUS_CARD_DRAWN"]
    assert drawn.seen_by == frozenset({0, 1})
    # The card stays known until it is played.
    table.keep()
    assert list(view_of(table.position, 1).seats[0].hand_cards) == [33]
    table.play(33)
    assert list(view_of(table.position, 1).seats[0].hand_cards) == []


def known_of(game: Game, seat: int, other: int) -> set[int]:
    """Return the cards of another hand that a seat put under the pile and saw drawn, computed from the whole history.

    A card is known until it is played, or until the other seat puts a card under the pile. That card may be the known
    card.
    """
    known: set[int] = set()
    for fact in game.facts:
        if fact.seat == other and fact.kind == "draw_queue" and fact.seers and seat in fact.seers:
            known.update(fact.cards)
        elif fact.seat == other and fact.kind == "play":
            known.difference_update(fact.cards)
        elif fact.seat == other and fact.kind == "exchange":
            known.clear()
    return known


@pytest.mark.rules("discat", "Decisions of the engine")
@over("players", [2, 3, 4])
def test_cards_seen_drawn_are_known_until_played_or_until_that_seat_exchanges(players: int) -> None:
    choices = random.Random(players)
    known = lapsed = 0
    for _ in range(12):
        table, game = Table.at(GAME.new_game(players)), Game(players)
        while not table.position.is_terminal():
            move = choose(game.question, "always exchange", choices)
            table.position.apply(move)
            game.move(move)
            for seat in range(players if game.queue_seats or not game.unknown else 0):
                view = view_of(table.position, seat)
                for other in range(players):
                    if other != seat:
                        expected = known_of(game, seat, other)
                        assert set(view.seats[other].hand_cards) == expected
                        distance = 1 + (other - seat) % players
                        assert set(cards(observed(table, seat, "known"), distance)) == expected
                        known += bool(expected)
                        lapsed += (
                            any(
                                fact.kind == "draw_queue" and fact.seat == other and fact.seers and seat in fact.seers
                                for fact in game.facts[-40:]
                            )
                            and not expected
                        )
    assert known > 50
    assert lapsed > 50


def six_hands(count: int, play: tuple[int, ...]) -> tuple[list[list[int]], list[int]]:
    """Return hands for six seats, with `count` cards in total, and the cards that are neither in them nor in `play`."""
    others = [card for card in range(1, 91) if card not in play]
    return [others[seat:count:6] for seat in range(6)], others[count:]


def test_the_cards_of_a_play_can_have_any_order_before_its_top() -> None:
    hands, others = six_hands(30, (31, 32, 33, 34))
    states = [
        late_state(hands, [played(*play)], active=1, unknown=others) for play in ((31, 32, 33, 34), (33, 32, 31, 34))
    ]
    ascending, other = (read(state).pack() for state in states)
    assert ascending == other


@pytest.mark.parametrize("laid", range(8, 85))
def test_an_observation_counts_a_group_of_four_at_any_place_among_the_cards_laid(laid: int) -> None:
    # Hands have fewer than five cards only if the draw pile is empty.
    group = (31, 32, 33, 34)
    hands, others = six_hands(min(90 - laid, 30), group)
    state = late_state(hands, [played(*group)], active=1, unknown=others[laid - 4 :])
    position = read(state)
    assert [len(seen.bonus_pile) for seen in view_of(position, None).seats] == [1, 0, 0, 0, 0, 0]
    for seat in range(6):
        plain.check_observation(position, seat)


@over("players", [2, 3, 4, 6])
def test_observation_and_view_agree_if_the_hands_contradict_the_plays(players: int) -> None:
    # A card moves from one hand to another, so the hands do not account for all cards drawn from the queue.
    choices = random.Random(3)
    compared = known = 0
    for _ in range(10):
        position, game = GAME.new_game(players), Game(players)
        public_events: list[Any] = []
        while not position.is_terminal():
            move = choose(game.question, "always exchange", choices)
            events = EventLog()
            position.apply(move, events)
            game.move(move)
            public_events += [event_of(GAME, event, False)[1] for event in events]
            state = state_of(position)
            giver, receiver = choices.sample(state.seats, 2)
            if not state.redrawn_cards or not giver.hand_cards:
                continue
            receiver.hand_cards.append(giver.hand_cards.pop(choices.randrange(len(giver.hand_cards))))
            receiver.hand_cards.sort()
            try:
                table = Table.at(read(state))
            except EngineError:
                continue
            for seat in range(players):
                plain.check_observation(table.position, seat, public_events)
                compared += 1
                known += bool(observed(table, seat, "known").any())
    assert compared > 100
    assert known > 20


@pytest.mark.rules("discat", "Decisions of the engine")
@pytest.mark.parametrize(
    "kind", ["CARD_DEALT", "BONUS_CARD_DRAWN", "EXCHANGE_DRAWN", "CARD_REFILLED", "CARD_EXCHANGED"]
)
def test_hidden_cards_of_events_are_seen_only_by_the_documented_seats(kind: str) -> None:
    found = [event for event in middle().history if plain_event(event)[0] == kind]
    assert found
    for event in found:
        assert event.seen_by == frozenset({event.seat})
        assert len(plain_event(event)[2]) == 1
        assert plain_event(event, whole=False)[2] == ()
        assert "a card" in label_of(GAME, event, whole=False)
        assert str(plain_event(event)[2][0]) in label_of(GAME, event, whole=True)


def test_plays_marks_and_bonus_piles_are_seen_by_all() -> None:
    table = Table([50, 1, 2, 3, 4], [31, 32, 33, 34, 6], up_arrows=[]).play(50).draw(7).play(32, 33, 34, 31)
    kinds = [plain_event(event)[0] for event in table.events]
    assert kinds == ["CARDS_PLAYED", "CARD_TO_BONUS_PILE"]
    assert all(event.seen_by is None for event in table.events)
    for seat in (0, 1, None):
        assert list(view_of(table.position, seat).seats[1].bonus_pile) == [32]
    assert cards(observed(table, 0, "laid")) == [31, 32, 33, 34, 50]


def test_marks_are_public() -> None:
    table = Table([24, 1, 2, 3, 4], [41, 42, 43, 44, 45], up_arrows=[]).play(24).draw(5, 6).keep()
    for seat in (0, 1, None):
        assert [card.face_down for card in view_of(table.position, seat).seats[0].pile] == [True]
    # The numbers are the top card, and 1 if it is face down.
    assert list(observed(table, 1, "seats")[1][4:6]) == [24, 1]


def test_an_observation_during_the_deal_shows_own_cards_and_the_next_seat() -> None:
    position = GAME.new_game(3, {"first_seat": 1})
    table = Table.at(position).draw(17)
    assert cards(observed(table, 1, "own_hand")) == [17]
    assert cards(observed(table, 0, "own_hand")) == []
    assert list(observed(table, 0, "phase")) == [0, 1, 0, 0, 0, 0, 0, 0]
    # The next card is dealt to seat 2, two seats to the left of seat 0.
    assert [int(row[6]) for row in observed(table, 0, "seats")] == [0, 0, 1, 0, 0, 0]
    assert observed(table, 0, "draw_pile") == 59


def test_an_observation_lists_seats_from_its_own_with_the_public_counts() -> None:
    table = middle()
    assert list(observed(table, 2, "phase")) == [0, 0, 0, 0, 1, 0, 0, 0]
    seats = observed(table, 2, "seats")
    # The rows are for seat 2 itself, seat 0 to its left, and seat 1.
    assert seats[:3].tolist() == [
        [1, 5, 0, 0, 0, 0, 1, 0],
        [1, 6, 1, 0, 12, 0, 0, 1],
        [1, 5, 0, 0, 0, 0, 0, 0],
    ]
    assert not seats[3:].any()
    for part, value in (("players", 3), ("draw_pile", 43), ("queue", 1), ("passes", 1), ("bonus_drawn", 1)):
        assert observed(table, 2, part) == value, part
    assert observed(table, 2, "last_turns_left") == 0
    assert cards(observed(table, 2, "meets_constraint")) == list(range(1, 12))
    assert cards(observed(table, 2, "points_up")) == list(range(1, 61, 2))
    assert cards(observed(table, 2, "laid")) == [12]


def test_an_observation_shows_a_lifted_constraint_and_the_last_turns() -> None:
    table = Table([24, 1, 2, 3, 4], [41, 42, 43, 44, 45], up_arrows=[]).play(24).draw(5, 6).keep()
    assert cards(observed(table, 0, "meets_constraint")) == list(range(1, 51))
    assert not observed(table, 0, "seats")[:, 7].any()
    state = late_state([[30], [10, 11], [20, 21]], [played(1)], first=2, active=0, up_arrows=[1])
    table = Table.at(read(state)).play(30)
    assert observed(table, 1, "last_turns_left") == 2


def test_hands_stay_hidden_at_the_end() -> None:
    state = late_state(
        [[], [47], [48]], [played(5), KEPT], first=0, active=2, phase="PASS", last_turns_left=1, up_arrows=[]
    )
    table = Table.at(read(state)).keep()
    assert table.position.is_terminal()
    assert list(view_of(table.position, 1).seats[2].hand_cards) == []
    assert list(observed(table, 1, "phase")) == [0, 0, 0, 0, 0, 0, 0, 1]
    assert not observed(table, 1, "seats")[:, 6].any()
