"""Tests of the rules in "Public and hidden": views and events."""

import pytest

from ..building import view_of
from .building import DRAW, PRINCESS, begun, late, play

pytestmark = pytest.mark.rules("chat_cartonne", "Public and hidden")


def test_states_that_differ_in_hidden_cards_have_the_same_views() -> None:
    position = late(3, 3, {0: (70, 71), 1: (68, PRINCESS), 2: (67, 66)}, (2,)).position()
    for number in range(30):
        other = position.resample(0, number)
        other.check()
        assert view_of(other, 0) == view_of(position, 0)
        assert other.observation(0) == position.observation(0)
        assert view_of(other, None) == view_of(position, None)


def test_only_the_holder_knows_its_princess() -> None:
    position = play(begun(3), DRAW, PRINCESS)
    assert [part.own_princess for part in view_of(position, 0).parts] == [True, False, False]
    assert not any(part.own_princess for seat in (1, 2, None) for part in view_of(position, seat).parts)
    assert [view_of(position, seat).unseen_princesses for seat in (0, 1, None)] == [2, 3, 3]
    assert list(view_of(position, 1).seats[0].hand_cards) == []
    assert view_of(position, 1).seats[0].hand_size == 3
