"""Discat's own bot and table."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import click
import numpy as np
import pytest

from chatiere.clients import Client, VectorEnv, begin, make_batch_bot, make_bots, play
from chatiere.clients.games.discat.bots import LargestGroupBot
from chatiere.drawing.discat import break_down, draw_table
from chatiere.v1.discat_pb2 import (
    DISCAT_PHASE_PASS,
    DISCAT_PHASE_PLAY,
    DiscatAction,
    DiscatConstraint,
    DiscatExchange,
    DiscatKeep,
    DiscatPileCard,
    DiscatPlay,
    DiscatQueuedCard,
    DiscatScoreDetail,
    DiscatSeatScore,
    DiscatSeatView,
    DiscatTurn,
    DiscatView,
)
from chatiere.v1.game_pb2 import Action, Score, ScoreDetail, View


def hand_of(cards: Sequence[int]) -> View:
    """Return the view of seat 1, which holds the cards."""
    seats = [DiscatSeatView(hand_size=5), DiscatSeatView(hand_size=len(cards), known_cards=cards)]
    return View(seat=1, discat=DiscatView(seats=seats))


def plays(*groups: Sequence[int]) -> list[Action]:
    return [Action(id=number, discat=DiscatAction(play=DiscatPlay(cards=group))) for number, group in enumerate(groups)]


def passes(*cards: int) -> list[Action]:
    keep = Action(id=192, discat=DiscatAction(keep=DiscatKeep()))
    return [
        keep,
        *(
            Action(id=193 + slot, discat=DiscatAction(exchange=DiscatExchange(card=card)))
            for slot, card in enumerate(cards)
        ),
    ]


def choice(hand: Sequence[int], actions: list[Action]) -> DiscatAction:
    return LargestGroupBot().choose(hand_of(hand), actions).discat


def test_the_largest_group_is_played_wherever_it_stands() -> None:
    groups = ([22], [22, 27], [27, 37, 47], [41, 47], [47])
    for rotation in range(len(groups)):
        actions = plays(*groups[rotation:], *groups[:rotation])
        assert list(choice([22, 27, 37, 41, 47], actions).play.cards) == [27, 37, 47]


def test_of_groups_as_large_the_lowest_id_is_played() -> None:
    assert list(choice([22, 27, 41, 47], plays([22], [27, 22], [22, 27], [41, 47])).play.cards) == [27, 22]


def test_a_lone_card_is_exchanged_the_lowest_if_there_are_several() -> None:
    # 8 and 50 share a digit with no other card; 8 is below 50.
    assert choice([8, 31, 33, 50, 63], passes(8, 31, 33, 50, 63)).exchange.card == 8
    assert choice([11, 19, 50, 61], passes(11, 19, 50, 61)).exchange.card == 50


def test_the_tens_digit_of_cards_below_ten_is_zero() -> None:
    assert choice([3, 8, 20, 51], passes(3, 8, 20, 51)).exchange.card == 20


@pytest.mark.parametrize(
    ("hand", "legal", "chosen"),
    [
        ([8], [192, 193], 193),
        ([8], [192], 192),
        ([8, 31, 33, 50, 63], [192, 193, 194, 195, 196, 197], 193),
        ([11, 19, 50, 61], [192, 193, 194, 195, 196], 195),
        ([3, 8, 20, 51], [192, 193, 194, 195, 196], 195),
        ([11, 19, 39], [192, 193, 194, 195], 192),
        ([8, 31, 50], [192], 192),
        ([22, 27, 37, 41, 47], [1, 32, 34, 66, 74, 100], 74),
    ],
)
def test_for_many_games_the_same_is_chosen(
    address: str, hand: Sequence[int], legal: Sequence[int], chosen: int
) -> None:
    with VectorEnv(address, "discat", 2, num_envs=2, batches=1, observations=True) as env:
        batch = env.reset(1)
        bot = make_batch_bot(env.info, "largest")
    observations = np.zeros_like(batch.observations)
    observations[1, [card - 1 for card in hand]] = 1
    # The other row may play one card.
    ids, offsets = np.array([5, *legal], np.uint16), np.array([0, 1, 1 + len(legal)], np.uint32)
    batch = dataclasses.replace(batch, observations=observations, legal_ids=ids, legal_offsets=offsets)
    assert bot.choose(batch, np.array([1])).tolist() == [chosen]
    assert bot.choose(batch, np.array([0, 1])).tolist() == [5, chosen]


def test_the_hand_is_kept_if_every_card_has_company_or_nothing_can_be_drawn() -> None:
    assert choice([11, 19, 39], passes(11, 19, 39)).WhichOneof("action") == "keep"
    assert choice([8, 31, 50], passes()).WhichOneof("action") == "keep"


@pytest.mark.parametrize("players", [2, 6])
def test_no_legal_group_is_larger_in_whole_games(client: Client, players: int) -> None:
    passed = 0
    bots = make_bots("discat", ["largest"], players, seed=1)
    for step in play(client, begin(client, "discat", players, seed=players), bots):
        sizes = [len(action.discat.play.cards) for action in step.before.legal_actions]
        assert len(step.action.discat.play.cards) == max(sizes)
        passed += max(sizes) == 0
    assert passed > 0


def views(**public: Any) -> list[DiscatView]:
    """Return the views of all seats where seat 1 of two is to act; each shows its seat's hand."""
    hands = ([5, 17], [30, 42, 44])
    shown = []
    for viewer in (0, 1):
        seats = [
            DiscatSeatView(hand_size=len(hand), known_cards=hand if seat == viewer else [])
            for seat, hand in enumerate(hands)
        ]
        seats[0].pile.extend([DiscatPileCard(card=8), DiscatPileCard(card=24)])
        seats[0].bonus_pile.append(3)
        seats[1].pile.append(DiscatPileCard(card=9, face_down=True))
        view = DiscatView(seats=seats, active_seat=1, draw_pile_size=12, turns=[DiscatTurn()], **public)
        shown.append(view)
    return shown


def drawn(**public: Any) -> list[str]:
    return [click.unstyle(line) for line in draw_table(views(**public))]


LOWER_THAN_24 = DiscatConstraint(card=24, higher=False, creator=0)
SEATS = [
    "    seat 0  hand  5 17              bonus 1  pile  2 (top 24)",
    "  > seat 1  hand 30 42 44           bonus 0  pile  1 (top face down)",
]


def test_the_table_shows_hands_piles_and_constraint() -> None:
    assert drawn(phase=DISCAT_PHASE_PLAY, constraint=LOWER_THAN_24) == [
        "  to play lower than 24, laid by seat 0",
        *SEATS,
        "  draw pile 12",
    ]


def test_the_table_at_a_pass() -> None:
    higher = DiscatConstraint(card=47, higher=True, creator=0)
    queue = [DiscatQueuedCard(seat=0), DiscatQueuedCard(seat=1)]
    assert drawn(phase=DISCAT_PHASE_PASS, constraint=higher, queue=queue, last_turns=1) == [
        "  has nothing higher than 47, laid by seat 0",
        "  last turns: 1 left",
        *SEATS,
        "  draw pile 12, 2 of them put under it",
    ]


def test_the_table_without_a_constraint() -> None:
    assert drawn(phase=DISCAT_PHASE_PLAY)[0] == "  to play any card or group"


def test_the_table_before_the_first_turn(client: Client) -> None:
    viewers = begin(client, "discat", 2, seed=1).viewers
    assert draw_table([viewer.view.discat for viewer in viewers])[0] == "  to play any card"


def test_one_viewer_sees_the_cards_it_knows_and_how_many_others_there_are() -> None:
    view = views(phase=DISCAT_PHASE_PLAY)[0]
    view.seats[1].known_cards.append(42)
    assert [click.unstyle(line) for line in draw_table([view, view])][1:3] == [
        SEATS[0],
        "  > seat 1  hand 42  ?  ?           bonus 0  pile  1 (top face down)",
    ]


def test_the_breakdown() -> None:
    seats = [
        DiscatSeatScore(pile_points=7, bonus_points=8, hand_points=-2),
        DiscatSeatScore(pile_points=5, bonus_points=0, hand_points=0),
    ]
    detail = DiscatScoreDetail(seats=seats)
    assert break_down(Score(detail=ScoreDetail(discat=detail))) == [
        "pile 7 + bonus 8 - hand 2",
        "pile 5 + bonus 0 - hand 0",
    ]
    detail.group_winner = 1
    assert break_down(Score(detail=ScoreDetail(discat=detail)))[1] == (
        "pile 5 + bonus 0 - hand 0, won at once with a group of five or more"
    )
