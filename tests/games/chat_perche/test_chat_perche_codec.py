"""Tests of the rules in "Actions": typed actions, labels, events and the description."""

from typing import Any

import pytest

from chatiere.engine import EngineError, Reason
from chatiere.engine.core.languages import catalogue
from chatiere.engine.wire import Reader, fill
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
def test_typed_actions_have_the_ids_of_the_rules_file(action: ChatPercheAction, dense: int) -> None:
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
        # A move cannot end at the start.
        (typed(move={"from_space": 0, "to_space": 45}), "move.to_space"),
        (typed(move={"from_space": 45, "to_space": 45}), "move.to_space"),
        (typed(fall={"space": 45}), "fall.space"),
        (typed(place_bird={"space": 4}), "place_bird.space"),
        (typed(place_bird={"space": 45}), "place_bird.space"),
    ],
)
def test_action_fields_out_of_range_are_named(action: ChatPercheAction, field: str) -> None:
    with pytest.raises(EngineError) as caught:
        CODEC.read_action(Reader(action), ANYWHERE)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_ACTION, field)


def test_labels_of_actions_name_colours_and_spaces() -> None:
    placing = GAME.new_game(2, {"first_seat": 0})
    assert placing.action_label(token_id(7, 3)) == "put a token of solidity 3 next to right branch 3"
    own = Table(cats=([left(2, 1)], [])).turn_up(card("one own", 3)).position
    assert own.action_label(move_id(START, trunk(1))) == "move a ginger cat from the start to trunk 1"
    assert own.action_label(move_id(left(2, 1), trunk(3))) == "move a ginger cat from left branch 2, space 1 to trunk 3"
    assert own.action_label(STOP) == "stop"
    other = Table().turn_up(card("one other", 3)).position
    assert other.action_label(move_id(START, trunk(1))) == "move a black cat from the start to trunk 1"
    fall = Table(cats=([trunk(2)], [])).turn_up(OWN_FALLS).position
    assert fall.action_label(fall_id(trunk(2))) == "make the ginger cat on trunk 2 fall"
    bird = Table().turn_up(BIRD).position
    assert bird.action_label(bird_id(right(5, 4))) == "put a bird on right branch 5, space 4"


def test_cards_have_names_in_both_languages() -> None:
    french = catalogue(GAME.description.package, "fr")
    cards = [piece for piece in GAME.description.pieces if piece.kind == "card"]
    names = {piece.number: (str(piece.name), piece.name.text(french)) for piece in cards}
    assert names[0] == ("dogs, 1 step", "chiens, 1 case")
    assert names[2] == ("bird", "oiseau")
    assert names[4] == ("opponent's cat falls", "un chat adverse tombe")
    assert names[5] == ("own cat, 1 step", "un de ses chats, 1 case")
    assert names[22] == ("opponent's cat, 9 steps", "un chat adverse, 9 cases")
    assert names[23] == ("two own cats, 1 step", "deux de ses chats, 1 case")
    assert names[40] == ("two of the opponent's cats, 9 steps", "deux chats adverses, 9 cases")
    position = Table(options=holding(40)).position
    assert position.outcome_label(40) == "two of the opponent's cats, 9 steps"


def test_options_survive_conversion_to_a_message() -> None:
    deck = deck_of({0: 2})
    options = {"first_seat": 1, "forward_only": True, "dog_track": 12, "solidity": [1, 1, 2, 3, 4], "deck": deck}
    message = ChatPercheOptions()
    fill(message, CODEC.put_options, options)
    assert CODEC.read_options(Reader(message)) == options
    assert CODEC.read_options(Reader(ChatPercheOptions())) == {}
    position = GAME.new_game(2, options)
    assert position.options() == options
