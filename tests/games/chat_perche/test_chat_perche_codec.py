"""Rules file: Actions. Typed actions, labels, events and the description."""

from typing import Any

import pytest

from chatiere.engine import EngineError, Reason
from chatiere.engine.core.languages import catalogue
from chatiere.engine.wire import Reader, fill, written_text
from chatiere.v1.chat_perche_pb2 import ChatPercheAction, ChatPercheOptions

from .building import (
    BIRD,
    CODEC,
    GAME,
    OWN_FALLS,
    START,
    STOP,
    Table,
    bird_id,
    card,
    deck_of,
    fall_id,
    holding,
    left,
    move_id,
    right,
    token_id,
    trunk,
)

pytestmark = pytest.mark.rules("chat_perche", "Actions")

ANYWHERE = Table().turn_up(card("one own", 3)).position


def typed(**fields: Any) -> ChatPercheAction:
    return ChatPercheAction(**fields)


@pytest.mark.parametrize(
    ("action", "dense"),
    [
        (typed(place_token={"branch": 0, "solidity": 1}), 0),
        (typed(place_token={"branch": 9, "solidity": 4}), 39),
        (typed(move={"from_space": 0, "to_space": 0}), 40),
        (typed(move={"from_space": 1, "to_space": 2}), 87),
        (typed(move={"from_space": 45, "to_space": 44}), 2109),
        (typed(stop={}), 2110),
        (typed(fall={"space": 0}), 2111),
        (typed(fall={"space": 44}), 2155),
        (typed(place_bird={"space": 5}), 2156),
        (typed(place_bird={"space": 44}), 2195),
    ],
)
def test_dense_ids(action: ChatPercheAction, dense: int) -> None:
    assert CODEC.read_action(Reader(action), ANYWHERE) == dense
    filled = ChatPercheAction()
    fill(filled, CODEC.put_action, ANYWHERE, dense)
    assert filled == action
    assert GAME.num_distinct_actions == 2196


def test_every_id_has_a_typed_action() -> None:
    for dense in range(GAME.num_distinct_actions):
        filled = ChatPercheAction()
        fill(filled, CODEC.put_action, ANYWHERE, dense)
        assert CODEC.read_action(Reader(filled), ANYWHERE) == dense
    for wrong in (-1, 2196):
        with pytest.raises(EngineError) as caught:
            fill(ChatPercheAction(), CODEC.put_action, ANYWHERE, wrong)
        assert caught.value.reason is Reason.INVALID_ACTION


@pytest.mark.parametrize(
    ("action", "field"),
    [
        (typed(place_token={"branch": 10, "solidity": 1}), "place_token.branch"),
        (typed(place_token={"branch": 1, "solidity": 0}), "place_token.solidity"),
        (typed(place_token={"branch": 1, "solidity": 5}), "place_token.solidity"),
        (typed(move={"from_space": 46, "to_space": 0}), "move.from_space"),
        (typed(move={"from_space": 45, "to_space": 45}), "move.to_space"),
        (typed(fall={"space": 45}), "fall.space"),
        (typed(place_bird={"space": 4}), "place_bird.space"),
        (typed(place_bird={"space": 45}), "place_bird.space"),
    ],
)
def test_fields_of_actions_out_of_range_are_named(action: ChatPercheAction, field: str) -> None:
    with pytest.raises(EngineError) as caught:
        CODEC.read_action(Reader(action), ANYWHERE)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_ACTION, field)


def test_labels_of_actions() -> None:
    placing = GAME.new_game(2, {"first_seat": 0})
    assert placing.action_label(token_id(7, 3)) == "put a token of solidity 3 beside right branch 3"
    own = Table(cats=([left(2, 1)], [])).turn_up(card("one own", 3)).position
    assert own.action_label(move_id(START, trunk(1))) == "move a ginger cat from the start to trunk 1"
    assert own.action_label(move_id(left(2, 1), trunk(3))) == "move a ginger cat from left branch 2, space 1 to trunk 3"
    assert own.action_label(STOP) == "stop"
    other = Table().turn_up(card("one other", 3)).position
    assert other.action_label(move_id(START, trunk(1))) == "move a black cat from the start to trunk 1"
    fall = Table(cats=([trunk(2)], [])).turn_up(OWN_FALLS).position
    assert fall.action_label(fall_id(trunk(2))) == "let the ginger cat on trunk 2 fall"
    bird = Table().turn_up(BIRD).position
    assert bird.action_label(bird_id(right(5, 4))) == "put a bird on right branch 5, space 4"


def test_labels_of_cards() -> None:
    french = catalogue(GAME.description.package, "fr")
    cards = [piece for piece in GAME.description.pieces if piece.kind == "card"]
    names = {piece.number: (str(piece.name), piece.name.text(french)) for piece in cards}
    assert names[0] == ("dogs 1", "chiens 1")
    assert names[2] == ("bird", "oiseau")
    assert names[4] == ("opponent's cat falls", "un chat adverse tombe")
    assert names[5] == ("one own cat 1", "un chat à soi 1")
    assert names[22] == ("one opponent's cat 9", "un chat adverse 9")
    assert names[23] == ("two own cats 1", "deux chats à soi 1")
    assert names[40] == ("two opponent's cats 9", "deux chats adverses 9")
    position = Table(options=holding(40)).position
    assert position.outcome_label(40) == "two opponent's cats 9"


def test_labels_of_events() -> None:
    options = holding(card("two own", 6), BIRD)
    table = Table(birds=[left(1, 2)], options=options).turn_up(card("two own", 6)).move(START, left(1, 1))
    assert [written_text(CODEC.put_event_label, event, True) for event in table.events] == [
        "seat 0 moves a ginger cat from the start to left branch 1, space 1 (2 steps)",
        "left branch 1 of solidity 1 breaks",
        "a ginger cat falls from left branch 1, space 1",
        "a bird flies away from left branch 1, space 2",
    ]
    table.move(START, trunk(1))
    assert [written_text(CODEC.put_event_label, event, True) for event in table.events] == [
        "seat 0 moves a ginger cat from the start to trunk 1 (1 step)"
    ]
    table.turn_up(BIRD)
    assert [written_text(CODEC.put_event_label, event, True) for event in table.events] == ["seat 1 turns up: bird"]


def test_options_as_a_message() -> None:
    deck = deck_of({0: 2})
    options = {"first_seat": 1, "forward_only": True, "dog_track": 12, "solidity": [1, 1, 2, 3, 4], "deck": deck}
    message = ChatPercheOptions()
    fill(message, CODEC.put_options, options)
    assert CODEC.read_options(Reader(message)) == options
    assert CODEC.read_options(Reader(ChatPercheOptions())) == {}
    position = GAME.new_game(2, options)
    assert position.options() == options
