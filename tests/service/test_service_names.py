"""Names of players, given by `Include.seat_names`: they are in every label, and not in any other field."""

import re
from typing import Any

import grpc
import pytest

from chatiere.engine import Game
from chatiere.service.base.names import is_visible
from chatiere.v1 import game_pb2, table_service_pb2
from chatiere.v1 import game_service_pb2 as pb

from .support import ALL_DOORS, Running, refusal

DOORS = ALL_DOORS
NAMES = ["Zoé", "D'Artagnan", "Łucja 3", "李小龍", "Noël", "x" * 40]


def named(label: str) -> str:
    """Return an English or French label with names instead of numbers."""
    return re.sub(r"(?:seat|siège) (\d)", lambda found: NAMES[int(found[1])], label)


def labelled(position: game_pb2.Position) -> list[Any]:
    """Return the parts of a position that have labels."""
    found = [*position.events, *position.legal_actions, *position.chance_outcomes]
    for update in position.updates:
        found += [*update.events, *update.legal_actions]
        if update.view.HasField("prompt"):
            found.append(update.view.prompt)
    return found


def include(players: int, names: list[str]) -> game_pb2.Include:
    return game_pb2.Include(legal_actions=True, viewers=range(players), spectator=True, seat_names=names[:players])


@pytest.mark.parametrize("language", ["en", "fr"])
def test_labels_have_the_names(server: Running, game: Game, language: str) -> None:
    players = game.max_players
    asking = (("accept-language", language),)
    request = pb.NewGameRequest(game=game.name, players=players, seed=3, include=include(players, NAMES))
    named_position = server.stub.NewGame(request, metadata=asking).position
    request.include.CopyFrom(include(players, []))
    plain = server.stub.NewGame(request, metadata=asking).position
    differences = 0
    for _ in range(30):
        for one, other in zip(labelled(named_position), labelled(plain), strict=True):
            assert one.label == named(other.label)
            differences += one.label != other.label
            # All other fields are the same as without names.
            one.label = other.label
        assert named_position == plain
        assert not any(name.encode() in named_position.SerializeToString() for name in NAMES)
        if not plain.legal_actions:
            break
        action = plain.legal_actions[len(plain.legal_actions) // 2]
        apply = pb.ApplyRequest(state=plain.state, action=game_pb2.Action(id=action.id))
        apply.include.CopyFrom(include(players, NAMES))
        named_position = server.stub.Apply(apply, metadata=asking).position
        apply.include.CopyFrom(include(players, []))
        plain = server.stub.Apply(apply, metadata=asking).position
    assert differences > players


def test_explicit_chance_and_positions_have_the_names(server: Running, game: Game) -> None:
    players = game.min_players
    request = pb.NewGameRequest(game=game.name, players=players, explicit_chance=True)
    request.include.CopyFrom(include(players, NAMES))
    position = server.stub.NewGame(request).position
    assert position.chance_outcomes[0].label.startswith(NAMES[0])
    found = server.stub.GetPosition(pb.GetPositionRequest(state=position.state, include=request.include)).position
    assert list(found.chance_outcomes) == list(position.chance_outcomes)


@pytest.mark.parametrize(
    ("names", "place"),
    [
        (["Ann"], ""),
        (["Ann", "Bob", "Cat"], ""),
        (["Ann", ""], "[1]"),
        (["x" * 41, "Bob"], "[0]"),
        (["Ann\n", "Bob"], "[0]"),
        (["Ann", "\u202eBob"], "[1]"),
        (["\u3164\u2800\u115f\u1160\uffa0\u034f", "Bob"], "[0]"),
        (["Ann", "Bob"] * 5_000, ""),
    ],
)
def test_other_names_are_refused_and_not_repeated(server: Running, names: list[str], place: str) -> None:
    request = pb.NewGameRequest(game="discat", players=2, seed=1, include=game_pb2.Include(seat_names=names))
    refused = refusal(server.stub.NewGame, request)
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert (refused.reason, refused.field) == ("INVALID_SEAT", f"include.seat_names{place}")
    assert not any(name and name in refused.message for name in names)


@pytest.mark.parametrize("blank", "\u3164\u2800\u115f\u1160\uffa0\u034f\u0301\ufe0f\u17b4\U0001d159\U000e0100 ")
def test_a_name_has_a_character_that_can_be_seen(blank: str) -> None:
    assert not is_visible(blank * 3)
    assert is_visible(blank + "é") == blank.isprintable()


@pytest.mark.parametrize("name", ["x", "7", "-", "€", "猫", "한", "\U0001f431", "e\u0301", "\u0ba8\u0bbf", "☺\ufe0f"])
def test_a_name_may_have_any_script(name: str) -> None:
    assert is_visible(name)


def test_calls_of_sealed_tables_accept_no_names() -> None:
    waiting = [
        message
        for method in table_service_pb2.DESCRIPTOR.services_by_name["TableService"].methods
        for message in (method.input_type, method.output_type)
    ]
    known = set()
    while waiting:
        message = waiting.pop()
        if message.full_name not in known:
            known.add(message.full_name)
            waiting.extend(field.message_type for field in message.fields if field.message_type)
    assert "chatiere.v1.View" in known
    assert game_pb2.Include.DESCRIPTOR.full_name not in known


def test_labels_and_phrases_are_left_out_on_request(server: Running, game: Game) -> None:
    players = game.min_players
    request = pb.NewGameRequest(game=game.name, players=players, seed=3, include=include(players, []))
    full = server.stub.NewGame(request).position
    for labels, phrases in ((True, False), (False, True), (True, True)):
        request.include.omit_labels, request.include.omit_phrases = labels, phrases
        found = server.stub.NewGame(request).position
        expected = game_pb2.Position.FromString(full.SerializeToString())
        for each in labelled(expected):
            for field in ["label"] * labels + ["phrase"] * phrases:
                assert each.HasField("phrase") if field == "phrase" else each.label
                each.ClearField(field)
        assert found == expected
        assert found.ByteSize() < full.ByteSize()
        moved = pb.ApplyRequest(state=full.state, action=full.legal_actions[0], include=request.include)
        for each in labelled(server.stub.Apply(moved).position):
            assert (each.label == "", each.HasField("phrase")) == (labels, not phrases)
