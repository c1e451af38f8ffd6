"""Tests of the rules in "Actions"."""

from itertools import combinations

import pytest

from chatiere.engine import EngineError, Reason
from chatiere.engine.wire import Reader, fill
from chatiere.v1.discat_pb2 import DiscatAction

from ..building import read
from .building import CODEC, EXCHANGE, GAME, KEEP, KEPT, Table, late_state, play_id, played

pytestmark = pytest.mark.rules("discat", "Actions")

HAND = [21, 22, 23, 24, 25, 26]


def six_cards() -> Table:
    """Return a table where seat 1 plays freely with six cards that all share the first digit."""
    turns = [played(50), played(30), KEPT]
    hands = [[40, 41, 42, 43, 44], HAND]
    return Table.at(read(late_state(hands, turns, first=0, active=1, unknown=[49], bonus_drawn=True)))


def typed(table: Table, action: int) -> DiscatAction:
    message = DiscatAction()
    fill(message, CODEC.put_action, table.position, action)
    return message


def test_there_are_199_ids() -> None:
    assert GAME.num_distinct_actions == 199
    kinds = [(kind.name, kind.first_id, kind.last_id) for kind in GAME.description.action_kinds]
    assert kinds == [("play", 0, 191), ("keep", 192, 192), ("exchange", 193, 198)]


def test_a_play_is_32_times_the_top_slot_plus_a_mask_of_the_other_slots() -> None:
    table = six_cards()
    expected = {}
    for top in range(6):
        others = [slot for slot in range(6) if slot != top]
        for size in range(6):
            for chosen in combinations(range(5), size):
                cards = [HAND[others[bit]] for bit in chosen]
                expected[32 * top + sum(1 << bit for bit in chosen)] = [*cards, HAND[top]]
    assert table.position.legal_actions() == sorted(expected) == list(range(192))
    for action, cards in expected.items():
        assert list(typed(table, action).play.cards) == cards


@pytest.mark.parametrize("size", range(1, 6))
def test_slots_follow_the_ascending_order_of_the_hand(size: int) -> None:
    hand = [21, 23, 25, 27, 29][:size]
    turns = [played(50), played(30), KEPT]
    table = Table.at(read(late_state([[40], hand], turns, first=0, active=1, bonus_drawn=True)))
    for top in range(size):
        others = [card for card in hand if card != hand[top]]
        for mask in range(1 << (size - 1)):
            cards = [card for bit, card in enumerate(others) if mask >> bit & 1]
            assert play_id(table.position, *cards, hand[top]) == 32 * top + mask
    # A slot that the hand does not have.
    for action in (32 * size, 1 << (size - 1), 31):
        error = table.refusal(action)
        assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "discat.md: Actions")
        assert "not in the hand" in error.message


def test_exchanges_are_numbered_by_slot() -> None:
    table = Table([10, 21, 22, 23, 24], [35, 34, 33, 32, 31]).play(10).draw(25, 26)
    assert table.position.legal_actions() == [KEEP, 193, 194, 195, 196, 197]
    assert [typed(table, EXCHANGE + slot).exchange.card for slot in range(5)] == [31, 32, 33, 34, 35]
    assert typed(table, KEEP).WhichOneof("action") == "keep"
    error = table.refusal(198)
    assert (error.reason, error.rule) == (Reason.ILLEGAL_ACTION, "discat.md: Actions")


def test_the_order_of_the_cards_under_the_top_does_not_matter() -> None:
    table = six_cards()
    assert play_id(table.position, 26, 22, 24, 23) == play_id(table.position, 22, 24, 26, 23)
    assert play_id(table.position, 22, 23) != play_id(table.position, 23, 22)
    assert list(typed(table, play_id(table.position, 26, 22, 24, 23)).play.cards) == [22, 24, 26, 23]


def test_labels_contain_the_cards() -> None:
    table = six_cards()
    assert table.position.action_label(play_id(table.position, 22)) == "play 22"
    assert table.position.action_label(play_id(table.position, 26, 22, 24, 23)) == "play 22, 24, and 26 with 23 on top"
    table = Table([10, 21, 22, 23, 24], [35, 34, 33, 32, 31]).play(10).draw(25, 26)
    assert table.position.action_label(KEEP) == "keep the hand"
    assert table.position.action_label(EXCHANGE + 1) == "put 32 under the draw pile and draw another card"


def test_labels_of_unknown_actions_are_refused() -> None:
    table = Table([10, 21, 22, 23, 24], [35, 34, 33, 32, 31])
    for action, reason in ((-1, Reason.INVALID_ACTION), (199, Reason.INVALID_ACTION), (32 * 5, Reason.ILLEGAL_ACTION)):
        with pytest.raises(EngineError) as caught:
            table.position.action_label(action)
        assert caught.value.reason is reason
    over = read(late_state([[], []], [], active=1, phase="OVER"))
    with pytest.raises(EngineError) as caught:
        over.action_label(0)
    assert caught.value.reason is Reason.GAME_OVER


def action(kind: str, *cards: int) -> DiscatAction:
    message = DiscatAction()
    if kind == "play":
        message.play.SetInParent()
        message.play.cards.extend(cards)
    elif kind == "keep":
        message.keep.SetInParent()
    else:
        message.exchange.card = cards[0]
    return message


@pytest.mark.parametrize(
    ("message", "reason", "field"),
    [
        (action("play"), Reason.INVALID_ACTION, "play.cards"),
        (action("play", 21, 22, 23, 24, 25, 26, 40), Reason.INVALID_ACTION, "play.cards"),
        (action("play", 21, 21), Reason.INVALID_ACTION, "play.cards"),
        (action("play", 21, 0), Reason.INVALID_ACTION, "play.cards[1]"),
        (action("play", 91), Reason.INVALID_ACTION, "play.cards[0]"),
        (action("play", 2**32 - 1), Reason.INVALID_ACTION, "play.cards[0]"),
        (action("play", 21, 40), Reason.ILLEGAL_ACTION, "play.cards[1]"),
        (action("play", 90), Reason.ILLEGAL_ACTION, "play.cards[0]"),
        (action("exchange", 0), Reason.INVALID_ACTION, "exchange.card"),
        (action("exchange", 91), Reason.INVALID_ACTION, "exchange.card"),
        (action("exchange", 40), Reason.ILLEGAL_ACTION, "exchange.card"),
        (DiscatAction(), Reason.INVALID_ACTION, ""),
    ],
)
def test_typed_actions_without_an_id_are_refused(message: DiscatAction, reason: Reason, field: str) -> None:
    with pytest.raises(EngineError) as caught:
        CODEC.read_action(Reader(message), six_cards().position)
    assert (caught.value.reason, caught.value.field) == (reason, field)
    if reason is Reason.ILLEGAL_ACTION:
        assert caught.value.rule == "discat.md: Actions"
        assert caught.value.metadata["actor"] == "1"


def test_typed_actions_that_a_rule_forbids_have_an_id() -> None:
    position = six_cards().position
    assert CODEC.read_action(Reader(action("keep")), position) == KEEP
    assert CODEC.read_action(Reader(action("exchange", 23)), position) == EXCHANGE + 2
    for move in (KEEP, EXCHANGE + 2):
        assert six_cards().refusal(move).rule == "discat.md: A turn"
