"""Any bytes from a client get a response or a clear refusal, and do not affect other clients."""

import random
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from chatiere import engine
from chatiere.engine import Game
from chatiere.engine.wire import fill
from chatiere.v1 import game_pb2, game_service_pb2

from .support import ALL_DOORS, Door, Running, code_of, new_game, raw, read_refusal, refusal

DOORS = ALL_DOORS

METHODS = [method.name for method in game_service_pb2.DESCRIPTOR.services_by_name["GameService"].methods]
STATE_METHODS = [name for name in METHODS if name not in ("ListGames", "GetRules", "NewGame")]


@pytest.fixture
def state(stub: Any, game: Game) -> game_pb2.State:
    """Return a state of a game."""
    return new_game(stub, game.name, game.max_players, seed=3).state


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_message_is_answered(server: Running, method: str) -> None:
    assert code_of(raw(server, method), b"") is (
        grpc.StatusCode.OK if method == "ListGames" else grpc.StatusCode.INVALID_ARGUMENT
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(b"\xff", id="half a tag"),
        pytest.param(b"\x0a\x7fabc", id="a length beyond the end"),
        pytest.param(b"\x0b" * 10_000, id="groups that never end"),
        pytest.param(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", id="a length of 2^63"),
    ],
)
def test_invalid_messages_are_refused(server: Running, method: str, request_bytes: bytes) -> None:
    refused = refusal(raw(server, method), request_bytes)
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_REQUEST")


def test_text_that_is_not_utf_8_is_refused(server: Running) -> None:
    assert code_of(raw(server, "NewGame"), b"\x0a\x01\xff") is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("method", STATE_METHODS)
def test_a_field_of_the_wrong_wire_type_is_not_read_as_a_state(server: Running, method: str) -> None:
    # Field 1 has a number instead of a message. Protobuf treats it as an unknown field.
    refused = refusal(raw(server, method), b"\x08\x01")
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MISSING_FIELD")


def test_every_truncation_of_a_request_is_answered(server: Running, state: game_pb2.State) -> None:
    whole = game_service_pb2.GetScoreRequest(state=state).SerializeToString()
    for length in range(len(whole)):
        code = code_of(raw(server, "GetScore"), whole[:length])
        assert code is grpc.StatusCode.INVALID_ARGUMENT, f"cut after {length} bytes"


def test_a_state_with_fields_of_a_later_version_is_read(server: Running, stub: Any, state: game_pb2.State) -> None:
    """Unknown fields are ignored, as in protobuf."""
    request = game_service_pb2.GetScoreRequest(state=state)
    with_unknown = request.SerializeToString() + b"\xf8\x3f\x01"
    assert raw(server, "GetScore")(with_unknown) == stub.GetScore(request).SerializeToString()


def test_a_game_of_a_later_version_is_refused_by_name(server: Running) -> None:
    # State { 100: {} }
    refused = refusal(raw(server, "GetScore"), b"\x0a\x03\xa2\x06\x00")
    assert refused.reason == "UNKNOWN_GAME"
    assert refused.field == "state"


def test_a_hundred_megabytes_are_refused_without_affecting_other_clients(
    server: Running, stub: Any, door: Door
) -> None:
    before = stub.ListGames.future(game_service_pb2.ListGamesRequest())
    huge = raw(server, "NewGame").future(b"\x0a" + bytes(100_000_000))
    during = [stub.ListGames.future(game_service_pb2.ListGamesRequest()) for _ in range(8)]
    assert huge.exception().code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    # grpcio refuses the request before the service receives it.
    assert read_refusal(huge.exception()).reason == ("" if door == "grpcio" else "LIMIT_EXCEEDED")
    assert all(call.result().games for call in [before, *during])


def test_states_with_huge_lists_are_refused(stub: Any, game: Game, state: game_pb2.State) -> None:
    """In one list of the state after another, the items are repeated up to the limit of size."""
    inner = getattr(state, game.name)
    lists = [field for field in inner.DESCRIPTOR.fields if field.is_repeated]
    assert lists
    for field in lists:
        changed = game_pb2.State()
        changed.CopyFrom(state)
        values = getattr(getattr(changed, game.name), field.name)
        if field.message_type:
            first = values[0] if values else values.add()
            values.extend([first] * (60_000 // (first.ByteSize() + 4)))
        else:
            values.extend([1] * 60_000)
        refused = refusal(stub.GetScore, game_service_pb2.GetScoreRequest(state=changed))
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_STATE")
        assert refused.field.startswith(f"state.{game.name}.")


def test_thousands_of_viewers_are_refused(stub: Any, state: game_pb2.State) -> None:
    request = game_service_pb2.ApplyRequest(state=state, include=game_pb2.Include(viewers=[0] * 60_000))
    refused = refusal(stub.Apply, request)
    assert (refused.reason, refused.field) == ("INVALID_SEAT", "include.viewers[1]")


def test_a_stream_at_its_last_word_can_continue(stub: Any, game: Game, state: game_pb2.State) -> None:
    state.stream.seed = state.stream.game_number = state.stream.drawn = 2**64 - 1
    listed = stub.ListLegalActions(game_service_pb2.ListLegalActionsRequest(state=state))
    for action in listed.legal_actions:
        request = game_service_pb2.ApplyRequest(state=state, action=action)
        assert code_of(stub.Apply, request) is grpc.StatusCode.OK


# Random changes to reachable states

NUMBERS = st.one_of(st.integers(0, 100), st.sampled_from([127, 128, 255, 256, 2**31 - 1, 2**31, 2**32 - 1]))


def reached_states() -> list[game_pb2.State]:
    """Return states from all stages of games, for every game, number of players and kind of chance."""
    states = []
    for game in engine.games():
        codec = engine.codec(game.name)
        for players in range(game.min_players, game.max_players + 1):
            for seed in None, players:
                choices = random.Random(players)
                position = game.new_game(players, seed=seed)
                while True:
                    state = game_pb2.State(rules_version=game.rules_version)
                    stream = position.random_stream()
                    if stream is not None:
                        state.stream.seed, state.stream.game_number, state.stream.drawn = stream
                    fill(getattr(state, game.name), codec.put_state, position)
                    states.append(state)
                    if position.is_terminal():
                        break
                    moves = position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()]
                    position.apply(choices.choice(moves))
    return states


STATES = reached_states()


def change_somewhere(message: Message, data: st.DataObject) -> None:
    """Change one thing anywhere in a message: a number, the length or order of a list, or the presence of a field."""
    fields = message.DESCRIPTOR.fields_by_name
    if not fields:
        return
    field = fields[data.draw(st.sampled_from(sorted(fields)), "field")]
    if field.is_repeated:
        change_list(getattr(message, field.name), field, data)
    elif field.message_type is None:
        setattr(message, field.name, value_for(field, data))
    elif message.HasField(field.name) and data.draw(st.integers(0, 9), "keep"):
        change_somewhere(getattr(message, field.name), data)
    elif message.HasField(field.name):
        message.ClearField(field.name)
    else:
        getattr(message, field.name).SetInParent()


def change_list(values: Any, field: Any, data: st.DataObject) -> None:
    how = data.draw(st.sampled_from(["inside", "inside", "inside", "add", "remove", "repeat", "clear"]), "how")
    if how == "clear":
        del values[:]
    elif how == "add" and field.message_type is None:
        values.append(value_for(field, data))
    elif how == "add":
        values.add()
    elif values:
        place = data.draw(st.integers(0, len(values) - 1), "place")
        if how == "remove":
            del values[place]
        elif how == "repeat":
            values.extend([values[place]])
        elif field.message_type is not None:
            change_somewhere(values[place], data)
        else:
            values[place] = value_for(field, data)


def value_for(field: Any, data: st.DataObject) -> int | bool | str:
    number: int = data.draw(NUMBERS, field.name)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return str(number)
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return bool(number % 2)
    if field.cpp_type in (FieldDescriptor.CPPTYPE_ENUM, FieldDescriptor.CPPTYPE_INT32):
        return number - 2**32 if number >= 2**31 else number
    return number


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_altered_states_are_answered_or_refused(server: Running, data: st.DataObject) -> None:
    stub = server.stub
    state = game_pb2.State()
    state.CopyFrom(data.draw(st.sampled_from(STATES), "state"))
    for _ in range(data.draw(st.integers(1, 3), "changes")):
        change_somewhere(state, data)
    seat = data.draw(st.integers(0, 6), "seat")
    action = data.draw(st.integers(0, 200), "action")
    calls = [
        (stub.ListLegalActions, game_service_pb2.ListLegalActionsRequest(state=state)),
        (
            stub.GetPosition,
            game_service_pb2.GetPositionRequest(
                state=state, include=game_pb2.Include(legal_actions=True, score=True, viewers=[0, 1], spectator=True)
            ),
        ),
        (stub.GetScore, game_service_pb2.GetScoreRequest(state=state)),
        (stub.GetView, game_service_pb2.GetViewRequest(state=state)),
        (stub.GetView, game_service_pb2.GetViewRequest(state=state, seat=seat)),
        (stub.Resample, game_service_pb2.ResampleRequest(state=state, seat=seat)),
        (stub.Apply, game_service_pb2.ApplyRequest(state=state, outcome=action)),
        (stub.Apply, game_service_pb2.ApplyRequest(state=state, action=game_pb2.Action(id=action))),
    ]
    if code_of(*calls[0]) is grpc.StatusCode.OK:
        listed = calls[0][0](calls[0][1])
        include = game_pb2.Include(legal_actions=True, score=True, viewers=[0, 1], spectator=True)
        for each in listed.legal_actions:
            calls.append((stub.Apply, game_service_pb2.ApplyRequest(state=state, action=each, include=include)))
        for each in listed.chance_outcomes:
            calls.append(
                (stub.Apply, game_service_pb2.ApplyRequest(state=state, outcome=each.outcome, include=include))
            )
    for call, request in calls:
        assert code_of(call, request) in (grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_altered_actions_are_answered_or_refused(server: Running, data: st.DataObject) -> None:
    state = data.draw(st.sampled_from(STATES), "state")
    listed = server.stub.ListLegalActions(game_service_pb2.ListLegalActionsRequest(state=state))
    if listed.legal_actions:
        action = game_pb2.Action()
        action.CopyFrom(data.draw(st.sampled_from(list(listed.legal_actions)), "action"))
        for _ in range(data.draw(st.integers(1, 3), "changes")):
            change_somewhere(action, data)
        code = code_of(server.stub.Apply, game_service_pb2.ApplyRequest(state=state, action=action))
        assert code in (grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT)
