"""Tests of the rules in "Public and hidden": views, and uniform resampling given a seat's information."""

import random
from collections import Counter
from itertools import combinations
from math import comb

import pytest
from scipy.stats import chisquare
from tools.over import over

from chatiere.engine import EventLog, Position
from chatiere.v1.chatpentiers_pb2 import ChatpentiersState

from ..building import read, state_of, view_of
from .building import GAME, LETTERS, Table, cards, late_state, names, plain_event
from .knowledge import Placement, agrees, num_candidates, placements
from .reference import Game, card_of
from .test_chatpentiers_reference import one_colour_first, uniform

pytestmark = pytest.mark.rules("chatpentiers", "Public and hidden")

# The p-value below which a test fails. Seeds are fixed.
P_VALUE = 1e-6


def placement_of(position: Position) -> Placement:
    return tuple(frozenset(card_of(number) for number in seat.hand_cards) for seat in state_of(position).seats)


def drawn_placements(position: Position, seat: int, samples: int) -> Counter[Placement]:
    return Counter(placement_of(position.resample(seat, 1, number)) for number in range(samples))


def small_positions(players: int, games: int) -> list[tuple[Position, Game, int]]:
    """Return positions of random games, each with a seat for which there are several, but few, possible placements."""
    found = []
    for seed in range(games):
        choices = random.Random(f"{players} {seed}")
        strategy = (uniform, one_colour_first)[seed % 2]
        position, game = GAME.new_game(players), Game(players)
        while not position.is_terminal():
            if game.question.actor >= 0 and choices.random() < 0.5:
                seat = choices.randrange(players)
                if 1 < num_candidates(game, seat) <= 4000:
                    found.append((position.clone(), game.__class__.__new__(Game), seat))
                    found[-1][1].__dict__.update(
                        {
                            "players": players,
                            "pack": set(game.pack),
                            "hands": [set(hand) for hand in game.hands],
                            "tricks": [type(trick)(list(trick.plays), trick.extra) for trick in game.tricks],
                        }
                    )
            move = strategy(game, choices)
            position.apply(move)
            game.move(move)
    return found


@pytest.mark.rules("chatpentiers", "Decisions of the engine")
@pytest.mark.release_only
@over("players", [3, 4, 5])
def test_resampling_is_uniform_over_the_consistent_placements(players: int) -> None:
    tested = narrowed = 0
    for position, game, seat in small_positions(players, 10):
        possible = placements(game, seat)
        assert placement_of(position) in possible
        narrowed += len(possible) < num_candidates(game, seat)
        if len(possible) > 60:
            continue
        seen = drawn_placements(position, seat, 20 * len(possible))
        assert seen.keys() <= possible
        if len(possible) > 1:
            assert chisquare([seen[placement] for placement in possible]).pvalue > P_VALUE
            tested += 1
    assert tested >= 10
    assert narrowed >= 10


@over("players", [3, 4, 5])
def test_resampled_hands_are_consistent_with_all_tricks_of_the_round(players: int) -> None:
    for seed in range(4):
        choices = random.Random(f"{players} {seed}")
        position, game = GAME.new_game(players), Game(players)
        while not position.is_terminal():
            for seat in range(players):
                drawn = position.resample(seat, seed)
                drawn.check()
                assert agrees(game, placement_of(drawn))
                assert view_of(drawn, seat) == view_of(position, seat)
                assert drawn.observation(seat) == position.observation(seat)
            move = (uniform, one_colour_first)[seed % 2](game, choices)
            position.apply(move)
            game.move(move)


# The hand of the fifth seat. The other four seats have two cards each, and have shown some voids.
SHOWN = [
    {},
    {0: "r"},
    {0: "r", 1: "r"},
    {0: "r", 1: "g"},
    {0: "r", 1: "g", 2: "rg"},
    {0: "r", 1: "g", 2: "y", 3: "n"},
    {0: "rg", 1: "gy", 2: "yn", 3: "nr"},
    {0: "rgyn", 1: "b"},
    {0: "rb", 1: "g", 2: "y", 3: "nb"},
    {0: "rg", 1: "rg", 2: "nb"},
]


HIDDEN = ["r1", "r2", "g1", "g2", "y1", "n1", "b1", "b2"]
SIZES = [2, 2, 2, 2]


def late_with_voids(shown: dict[int, str]) -> ChatpentiersState:
    """Return a state with the first deal consistent with the voids. Seats 0 to 3 have two hidden cards each."""
    deal = deal_out(HIDDEN, SIZES, shown)
    assert deal is not None
    rest = [f"{letter}{value}" for letter in LETTERS for value in range(1, 13)]
    rest = [name for name in rest if name not in (*HIDDEN, "y12", "b12")]
    board = {zone: " ".join(name for name in rest[:40] if name[0] == letter) for zone, letter in enumerate(LETTERS)}
    return late_state(
        [" ".join(hand) for hand in deal] + ["y12 b12"],
        [{}, {}, {}, {}, {zone: held for zone, held in board.items() if held}],
        discards=" ".join(rest[40:]),
        leader=4,
        active=4,
        voids=shown,
    )


def deal_out(hidden: list[str], sizes: list[int], shown: dict[int, str], seat: int = 0) -> list[list[str]] | None:
    if seat == len(sizes):
        return []
    for hand in combinations(hidden, sizes[seat]):
        if not any(name[0] in shown.get(seat, "") for name in hand):
            rest = deal_out([name for name in hidden if name not in hand], sizes, shown, seat + 1)
            if rest is not None:
                return [list(hand), *rest]
    return None


def all_deals(hidden: frozenset[str], sizes: list[int], shown: dict[int, str], seat: int = 0) -> list[tuple[str, ...]]:
    if seat == len(sizes):
        return [()]
    return [
        (names(cards(" ".join(hand))), *rest)
        for hand in combinations(sorted(hidden), sizes[seat])
        if not any(name[0] in shown.get(seat, "") for name in hand)
        for rest in all_deals(hidden - set(hand), sizes, shown, seat + 1)
    ]


def name_of_case(shown: dict[int, str]) -> str:
    return " ".join(f"{seat}:{lacks}" for seat, lacks in shown.items()) or "nothing"


@pytest.mark.rules("chatpentiers", "Decisions of the engine")
@pytest.mark.parametrize("shown", SHOWN, ids=name_of_case)
def test_resampling_is_uniform_for_all_combinations_of_voids(shown: dict[int, str]) -> None:
    position = read(late_with_voids(shown))
    possible = all_deals(frozenset(HIDDEN), SIZES, shown)
    seen: Counter[tuple[str, ...]] = Counter()
    for number in range(15 * len(possible)):
        seats = state_of(position.resample(4, 1, number)).seats
        seen[tuple(names(seat.hand_cards) for seat in seats[:4])] += 1
    assert seen.keys() <= set(possible)
    assert chisquare([seen[deal] for deal in possible]).pvalue > P_VALUE


def test_large_hands_get_colours_in_proportion_to_the_ways() -> None:
    # Two tricks of 5 players have shown four kinds of hands: seat 1 holds no grey, seat 2 no green, seat 3 no grey and
    # no green, and seat 4 can hold any card. The numbers of ways need more than 64 bits.
    own = "y1 y2 y3 y4 y5 y6 y7 y8 y9 g1"
    others = [f"{letter}{value}" for letter in "rnb" for value in range(1, 13)][2:]
    hands = [
        own,
        " ".join(["g10", "g11", *others[:8]]),
        " ".join(["y10", *others[8:17]]),
        " ".join(others[17:27]),
        " ".join(["g12", "y11", "y12", *others[27:]]),
    ]
    grey = green = 3
    state = late_state(
        hands,
        [{0: "g2 g3"}, {0: "g4 g5"}, {0: "g6 g7"}, {0: "r1 r2"}, {}],
        discards="g8 g9",
        leader=0,
        active=0,
        voids={1: "y", 2: "g", 3: "yg"},
    )
    position = read(state)
    total = len(others)
    weights = {
        (i, j): comb(grey, i)
        * comb(green, j)
        # i grey cards are dealt to seat 2 and the rest to seat 4; j green cards to seat 1 and the rest to seat 4.
        * comb(total, 10 - j)
        * comb(total - (10 - j), 10 - i)
        * comb(total - (10 - j) - (10 - i), 10)
        for i in range(grey + 1)
        for j in range(green + 1)
    }
    all_ways = sum(weights.values())
    assert all_ways > 2**64
    samples = 6000
    seen: Counter[tuple[int, int]] = Counter()
    for number in range(samples):
        drawn = state_of(position.resample(0, 5, number)).seats
        seen[sum(card < 12 for card in drawn[2].hand_cards), sum(12 <= card < 24 for card in drawn[1].hand_cards)] += 1
        assert all(card >= 24 for card in drawn[3].hand_cards)
    assert seen.keys() <= weights.keys()
    expected = [samples * ways / all_ways for ways in weights.values()]
    assert min(expected) > 5
    assert chisquare([seen[pair] for pair in weights], expected).pvalue > P_VALUE


@over("players", [3, 4])
def test_undealt_cards_are_redrawn_as_well(players: int) -> None:
    table = Table(*[""] * players)
    drawn = {tuple(state_of(table.position.resample(1, number)).draw_pile_cards) for number in range(20)}
    assert len(drawn) == 20


def test_resampling_during_the_deal_keeps_the_sizes_of_hands() -> None:
    position = GAME.new_game(4, {"first_seat": 1})
    for _ in range(30):
        position.apply(position.chance_outcomes()[3][0])
    drawn = position.resample(2, 9)
    assert [len(seat.hand_cards) for seat in state_of(drawn).seats] == [7, 8, 8, 7]
    assert state_of(drawn).seats[2] == state_of(position).seats[2]
    assert drawn.chance_outcomes() != position.chance_outcomes()


# The view of a seat


def test_hands_are_hidden_and_their_sizes_public() -> None:
    table = Table("r1 y1", "r2", "r3", "r4").play("r1")
    for viewer in (None, 0, 1, 2, 3):
        view = view_of(table.position, viewer)
        assert [seat.hand_size for seat in view.seats] == [13, 14, 14, 14]
        for seat, held in enumerate(view.seats):
            assert bool(held.hand_cards) == (seat == viewer)
        hidden = [
            list(seat.hand_cards) for number, seat in enumerate(state_of(table.position).seats) if number != viewer
        ]
        hidden.append(list(state_of(table.position).draw_pile_cards))
        assert list(view.unseen_cards) == sorted(number for place in hidden for number in place)
        assert view.draw_pile_size == 4


def test_table_boards_leader_voids_and_extra_card_are_public() -> None:
    table = Table("r1", "r2", "r3", undealt="y1").turn("y1").play("r1", "r2", "r3").take("y1", 1)
    view = table.view
    assert names(view.table_cards) == "r1 r2 r3"
    assert view.extra_card == 0
    assert [(play.seat, play.card) for play in view.plays] == [(0, 24), (1, 25), (2, 26)]
    assert [(zone.zone, list(zone.cards)) for zone in view.seats[2].zones] == [(1, [0])]
    assert (view.leader, view.active_seat, view.cards_to_take) == (0, 1, 2)
    assert list(view.ranking) == [2, 1, 0]


def test_only_dealt_cards_are_hidden_in_events() -> None:
    events = EventLog()
    position = GAME.new_game(3, seed=4, events=events)
    choices = random.Random(4)
    while not position.is_terminal():
        position.apply(choices.choice(position.legal_actions()), events)
    for event in events:
        kind = plain_event(event)[0]
        if kind == "CARD_DEALT":
            assert event.seen_by == frozenset({event.seat})
            assert plain_event(event, whole=False) == ("CARD_DEALT", event.seat)
        else:
            assert event.seen_by is None
    kinds = {plain_event(event)[0] for event in events}
    assert kinds == {
        "FIRST_SEAT_CHOSEN",
        "ROUND_BEGUN",
        "CARD_DEALT",
        "EXTRA_CARD_TURNED",
        "CARD_PLAYED",
        "VOID_SHOWN",
        "TRICK_RANKED",
        "CARD_TAKEN",
        "CARD_DISCARDED",
        "LEADER_CHOSEN",
        "ROUND_SCORED",
        "GAME_ENDED",
    }
