"""Tests of the rules in "Components and setup" and "Arrows"."""

import numpy as np
import pytest
from tools.over import over

from chatiere.engine import CHANCE_PLAYER, EngineError, Reason

from ..building import phase, state_of, view_of
from .building import GAME, MAX_CARD, Table

ODD = sum(1 << (card - 1) for card in range(1, 91, 2))


@pytest.mark.rules("discat", "Components and setup")
@pytest.mark.parametrize(("players", "largest"), MAX_CARD.items())
def test_cards_in_use_depend_on_the_number_of_players(players: int, largest: int) -> None:
    position = GAME.new_game(players, {"first_seat": 0})
    assert position.chance_outcomes() == [(card - 1, 1) for card in range(1, largest + 1)]
    assert list(state_of(position).draw_pile_cards) == list(range(1, largest + 1))


@pytest.mark.rules("discat", "Components and setup")
def test_the_first_seat_is_a_chance_event_uniform_over_the_seats() -> None:
    position = GAME.new_game(4)
    assert phase(position) == "FIRST_SEAT"
    assert position.chance_outcomes() == [(seat, 1) for seat in range(4)]
    assert not state_of(position).HasField("first_seat")
    after = position.child(2)
    assert state_of(after).first_seat == state_of(after).active_seat == 2
    assert after.options() == {}


@pytest.mark.rules("discat", "Components and setup")
def test_first_seat_can_be_an_option() -> None:
    position = GAME.new_game(4, {"first_seat": 3})
    assert phase(position) == "DEAL"
    assert position.options() == {"first_seat": 3}
    assert state_of(position).first_seat == state_of(position).active_seat == 3
    for wrong in (-1, 4, 5, 255, 1.0, True, "0"):
        with pytest.raises(EngineError) as caught:
            GAME.new_game(4, {"first_seat": wrong})
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "first_seat")


@pytest.mark.rules("discat", "Components and setup")
def test_each_seat_is_dealt_five_cards_one_at_a_time_from_the_first_seat() -> None:
    position = GAME.new_game(3, {"first_seat": 1})
    order = []
    for number in range(15):
        assert position.current_player() == CHANCE_PLAYER
        order.append(state_of(position).active_seat)
        position.apply(number)
    assert order == [1, 2, 0] * 5
    assert [list(seat.hand_cards) for seat in state_of(position).seats] == [
        [3, 6, 9, 12, 15],
        [1, 4, 7, 10, 13],
        [2, 5, 8, 11, 14],
    ]
    assert phase(position) == "PLAY"
    assert position.current_player() == 1
    # The remaining cards are the draw pile.
    assert list(state_of(position).draw_pile_cards) == list(range(16, 61))
    assert view_of(position, None).draw_pile_size == 45


@pytest.mark.rules("discat", "Components and setup")
def test_the_first_turn_is_a_play_of_one_card_without_a_constraint() -> None:
    table = Table([11, 12, 21, 22, 31], [1, 2, 3, 4, 5])
    assert table.constraint() is None
    assert table.legal_plays() == {(11,), (12,), (21,), (22,), (31,)}
    error = table.refusal(1)
    assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "discat.md: Components and setup")
    assert "first turn" in error.message


@pytest.mark.rules("discat", "Components and setup")
def test_tens_digit_of_one_to_nine_is_zero() -> None:
    table = Table([10, 41, 42, 43, 44], [1, 9, 20, 30, 33]).play(10).draw(50)
    # Cards must be lower than 10. 1 and 9 share the first digit 0, and 20 and 30 share the second digit.
    assert table.legal_plays() == {(1,), (9,), (1, 9), (9, 1)}
    table = Table([50, 41, 42, 43, 44], [1, 9, 20, 30, 33]).play(50).draw(2)
    assert {(20, 30), (30, 20), (30, 33), (33, 30), (1, 9), (9, 1)} == {p for p in table.legal_plays() if len(p) > 1}


@pytest.mark.rules("discat", "Arrows")
def test_known_cards_point_down() -> None:
    # The sources are the rulebook for 18, 22 and 24, and a review for 34.
    for card in (18, 22, 24, 34):
        table = Table([card, 41, 42, 43, 44], [1, 2, 3, 4, 5]).play(card).draw(50)
        assert table.constraint() == (card, False)


@pytest.mark.rules("discat", "Arrows")
@over("players", MAX_CARD)
def test_by_default_even_numbers_point_down_and_odd_ones_up(players: int) -> None:
    observation = {part.name: part for part in GAME.description.observation}["points_up"]
    position = GAME.new_game(players)
    values = np.frombuffer(position.observation(0), "u1")[observation.offset :][:90]
    assert list(values) == [card % 2 if card <= MAX_CARD[players] else 0 for card in range(1, 91)]
    assert position.options() == {}


@pytest.mark.rules("discat", "Arrows")
@pytest.mark.parametrize("card", range(1, 51))
def test_option_up_arrows_applies_to_each_card_separately(card: int) -> None:
    others = [other for other in (11, 12, 13, 14, 15, 16, 17, 18, 19, 20) if other != card]
    filler = next(other for other in range(21, 51) if other != card)
    for up in (True, False):
        table = Table([card, *others[:4]], others[4:9], up_arrows={card} if up else set(range(1, 91)) - {card})
        table.play(card).draw(filler)
        if table.phase == "BONUS":
            table.draw(next(c for c in range(22, 51) if c not in (card, filler)))
        assert table.constraint() == (card, up)


@pytest.mark.rules("discat", "Arrows")
def test_option_up_arrows_is_kept_completely() -> None:
    for value in (0, 1, 1 << 89, (1 << 90) - 1, ODD ^ 1 << 63, ODD ^ 1 << 64):
        position = GAME.new_game(2, {"up_arrows": value}, seed=1)
        assert position.options() == {"up_arrows": value}
        position.playout(1)
        assert position.options() == {"up_arrows": value}
    assert GAME.new_game(2, {"up_arrows": ODD}).options() == {}


@pytest.mark.rules("discat", "Arrows")
def test_bits_of_unused_cards_have_no_effect() -> None:
    unused = sum(1 << (card - 1) for card in range(51, 91))
    plain, other = (GAME.new_game(2, {"up_arrows": value}, seed=5) for value in (ODD, ODD ^ unused))
    while not plain.is_terminal():
        assert plain.legal_actions() == other.legal_actions()
        assert [plain.observation(seat) for seat in (0, 1)] == [other.observation(seat) for seat in (0, 1)]
        move = plain.legal_actions()[-1]
        plain.apply(move)
        other.apply(move)
    assert plain.totals() == other.totals()


@pytest.mark.rules("discat", "Arrows")
def test_invalid_up_arrows_are_refused() -> None:
    for wrong in (-1, 1 << 90, 1.0, True, "1", [1, 3]):
        with pytest.raises(EngineError) as caught:
            GAME.new_game(2, {"up_arrows": wrong})
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "up_arrows")


@pytest.mark.rules("discat", "Components and setup")
def test_unknown_options_are_refused() -> None:
    with pytest.raises(EngineError) as caught:
        GAME.new_game(2, {"down_arrows": 1})
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "down_arrows")
    assert "first_seat, up_arrows" in caught.value.message
