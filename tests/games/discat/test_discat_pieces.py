"""DiscatPieces has the numbers of the rules file. The kernel uses the same numbers."""

import pytest
from tools.over import over

from ..building import event_of, score_of, state_of, view_of
from ..played import details_of, played
from .building import GAME, MAX_CARD

DETAILS = details_of(GAME)
ODD = list(range(1, 90, 2))


@pytest.mark.rules("discat", "Components and setup", "Arrows")
def test_cards_have_the_digits_of_their_number_and_the_default_arrows() -> None:
    for card in DETAILS.cards:
        assert f"{card.tens}{card.units}" == f"{card.card:02}"
        assert card.points_up == (card.card % 2 == 1)
    # Rules: "Arrows".
    assert not any(card.points_up for card in DETAILS.cards if card.card in (18, 22, 24, 34))


@pytest.mark.rules("discat", "Components and setup", "Arrows")
@over("players", range(2, 7))
def test_cards_in_use_depend_on_the_number_of_players(players: int) -> None:
    in_use = [card.card for card in DETAILS.cards if card.min_players <= players]
    assert in_use == list(range(1, MAX_CARD[players] + 1))
    assert list(view_of(GAME.new_game(players), None).unseen_cards) == in_use


@pytest.mark.rules("discat", "Components and setup", "Arrows")
def test_the_numbers_are_those_of_the_rules_file() -> None:
    assert (DETAILS.cards_dealt, DETAILS.largest_hand) == (5, 6)
    assert (DETAILS.bonus_group_size, DETAILS.winning_group_size) == (4, 5)
    assert (DETAILS.pile_card_points, DETAILS.bonus_card_points, DETAILS.hand_card_points) == (1, 4, -1)


@pytest.mark.rules("discat", "Components and setup", "Arrows")
@over("players", range(2, 7))
def test_play_uses_these_numbers(players: int) -> None:
    largest = 0
    for position, events in played(GAME, players, games=15):
        view = view_of(position, None)
        largest = max(largest, *(seat.hand_size for seat in view.seats))
        messages = [event_of(GAME, event) for event in events]
        for kind, message in messages:
            if kind == "CARDS_PLAYED":
                size = len(message.cards)
                bonus = any(other == "CARD_TO_BONUS_PILE" for other, _ in messages)
                assert bonus == (size == DETAILS.bonus_group_size)
                assert view.HasField("group_winner") == (size >= DETAILS.winning_group_size)
        for seat, score in zip(view.seats, score_of(position).seats, strict=True):
            assert score.pile_points == DETAILS.pile_card_points * len(seat.pile)
            assert score.bonus_points == DETAILS.bonus_card_points * len(seat.bonus_pile)
            assert score.hand_points == DETAILS.hand_card_points * seat.hand_size
    assert DETAILS.cards_dealt < largest <= DETAILS.largest_hand


@pytest.mark.rules("discat", "Components and setup", "Arrows")
@over("players", range(2, 7))
@pytest.mark.parametrize("up", [None, [], [1, 18, 50, 51, 90], ODD])
def test_views_list_the_cards_whose_arrows_point_up(players: int, up: list[int] | None) -> None:
    options = {} if up is None else {"up_arrows": sum(1 << (card - 1) for card in up)}
    wanted = [card for card in (ODD if up is None else up) if card <= MAX_CARD[players]]
    for position, _ in played(GAME, players, options):
        for seat in (None, *range(players)):
            view = view_of(position, seat)
            assert list(view.up_arrows.cards) == wanted
            if view.HasField("constraint"):
                assert view.constraint.higher == (view.constraint.card in wanted)


@pytest.mark.rules("discat", "Components and setup", "Arrows")
def test_default_arrows_are_the_same_in_pieces_and_views() -> None:
    view = view_of(GAME.new_game(6), None)
    assert list(view.up_arrows.cards) == [card.card for card in DETAILS.cards if card.points_up]
    assert not state_of(GAME.new_game(6)).options.HasField("up_arrows")
