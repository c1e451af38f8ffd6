"""Every game: states, actions, options and events are unchanged after conversions between packed and typed form."""

import pickle
import random
from itertools import pairwise
from typing import Any

import pytest
from games.building import message, state_of, view_of
from google.protobuf import json_format

from chatiere import engine
from chatiere.engine import Event, EventLog, Game, Position
from chatiere.engine.wire import Reader, fill
from chatiere.v1 import game_pb2

from .support import (
    Table,
    body_of,
    may_see_whole,
    messages_of,
    moves_of,
    positions,
    random_options,
    shown,
    thinned,
    whole_state,
)


def travelled(sent: Any) -> list[Any]:
    """Return a message as received in each of protobuf's two formats."""
    return [
        type(sent).FromString(sent.SerializeToString()),
        json_format.Parse(json_format.MessageToJson(sent), type(sent)()),
    ]


def test_packed_states_survive_a_round_trip(table: Table) -> None:
    game, _ = table
    for position in positions(table):
        packed = position.pack()
        assert len(packed) == game.packed_size
        for copy in (game.unpack(packed), game.unpack(bytearray(packed)), pickle.loads(pickle.dumps(position))):
            assert copy == position
            assert hash(copy) == hash(position)
            assert copy.pack() == packed
            assert copy.random_stream() == position.random_stream()
            assert copy.legal_actions() == position.legal_actions()


def test_copies_continue_identically(table: Table) -> None:
    for position in thinned(positions(table), 60):
        copy = table[0].unpack(position.pack())
        for move in moves_of(position)[:3]:
            assert copy.child(move) == position.child(move)


def test_different_positions_differ(table: Table) -> None:
    seen = positions(table, False, games=1)
    assert len({position.pack() for position in seen}) == len(set(seen)) == len(seen)
    assert all(one != other for one, other in pairwise(seen))
    packed: object = seen[0].pack()
    assert seen[0] != packed


def test_typed_states_survive_a_round_trip(table: Table) -> None:
    game, _ = table
    codec = engine.codec(game.name)
    for position in thinned(positions(table), 120):
        state = game_pb2.State()
        fill(getattr(state, game.name), codec.put_state, position)
        assert state.WhichOneof("game") == game.name
        for copy in travelled(state):
            body = codec.read_state(Reader(getattr(copy, game.name)), game.rules_version)
            assert game.position(body, position.random_stream(), position.ply()) == position


def test_typed_actions_and_ids_are_equivalent(table: Table) -> None:
    game, _ = table
    codec = engine.codec(game.name)
    for position in thinned(tuple(p for p in positions(table) if p.legal_actions()), 120):
        typed = set()
        for action in position.legal_actions():
            filled = game_pb2.Action(id=action)
            fill(getattr(filled, game.name), codec.put_action, position, action)
            assert filled.WhichOneof("game") == game.name
            for copy in travelled(filled):
                assert codec.read_action(Reader(getattr(copy, game.name)), position) == action
            typed.add(getattr(filled, game.name).SerializeToString(deterministic=True))
        assert len(typed) == len(position.legal_actions())


def test_a_typed_action_and_its_id_have_the_same_kind(table: Table) -> None:
    game, _ = table
    codec = engine.codec(game.name)
    for position in thinned(positions(table), 120):
        for action in position.legal_actions():
            filled = message(game, "Action")
            fill(filled, codec.put_action, position, action)
            (oneof,) = filled.DESCRIPTOR.oneofs
            (kind,) = [k for k in game.description.action_kinds if k.first_id <= action <= k.last_id]
            assert filled.WhichOneof(oneof.name) == kind.name


def test_an_action_without_a_kind_is_refused() -> None:
    for game in engine.games():
        position = next(p for p in positions((game, game.min_players)) if p.legal_actions())
        with pytest.raises(engine.EngineError) as caught:
            engine.codec(game.name).read_action(Reader(message(game, "Action")), position)
        assert caught.value.reason is engine.Reason.INVALID_ACTION


def test_a_state_of_other_rules_is_refused() -> None:
    for game in engine.games():
        state = whole_state(game.new_game(game.min_players))
        for state.rules_version in (0, game.rules_version + 1, 2**31 - 1):
            with pytest.raises(engine.EngineError) as caught:
                messages_of(game).read_state(Reader(state))
            assert caught.value.reason is engine.Reason.UNSUPPORTED_RULES_VERSION
            assert caught.value.field == "rules_version"


def test_an_action_that_lacks_a_field_is_refused_with_its_path(table: Table) -> None:
    """An absent field is not read as zero."""
    game, _ = table
    codec = engine.codec(game.name)
    lacking = set()
    for position in thinned(positions(table), 120):
        for action in position.legal_actions():
            whole = message(game, "Action")
            fill(whole, codec.put_action, position, action)
            kind = whole.WhichOneof("action")
            for field in getattr(whole, kind).DESCRIPTOR.fields:
                if (kind, field.name) in lacking:
                    continue
                lacking.add((kind, field.name))
                getattr(whole, kind).ClearField(field.name)
                with pytest.raises(engine.EngineError) as refused:
                    codec.read_action(Reader(whole), position)
                assert refused.value.reason is engine.Reason.INVALID_ACTION
                assert refused.value.field == f"{kind}.{field.name}"
                break
    assert lacking


def test_numbers_of_actions_options_and_events_have_presence(game: Game) -> None:
    kinds: list[Any] = [
        whole.DESCRIPTOR.fields_by_name[game.name].message_type
        for whole in (game_pb2.Action, game_pb2.Options, game_pb2.Event)
    ]
    action, options, event = kinds
    for kind in (*(field.message_type for field in action.fields), options, event):
        for field in kind.fields:
            # The kind of an event is always set.
            assert field.has_presence or field.is_repeated or field.name == "kind", field.full_name


def test_no_seat_is_active_before_chance_has_chosen_the_first_seat(table: Table) -> None:
    game, players = table
    codec = engine.codec(game.name)
    beginning = game.new_game(players)
    assert not view_of(beginning, None).HasField("active_seat")
    for position in [beginning, *thinned(positions(table), 30)]:
        whole = state_of(position)
        # In each game, the first phase is FIRST_SEAT, because zero is not used.
        has_begun = whole.phase > 1
        for name in {"active_seat", "leader"} & set(whole.DESCRIPTOR.fields_by_name):
            for seen in (whole, view_of(position, 0), view_of(position, None)):
                assert seen.HasField(name) == has_begun
            changed = state_of(position)
            if has_begun:
                changed.ClearField(name)
            else:
                setattr(changed, name, 0)
            with pytest.raises(engine.EngineError) as refused:
                codec.read_state(Reader(changed), game.rules_version)
            assert (refused.value.reason, refused.value.field) == (engine.Reason.INVALID_STATE, name)


def test_states_and_views_contain_options_even_if_all_are_default(table: Table) -> None:
    game, players = table
    position = game.new_game(players)
    assert state_of(position).HasField("options")
    assert view_of(position, 0).HasField("options")


def test_options_survive_a_round_trip(table: Table) -> None:
    game, players = table
    codec = engine.codec(game.name)
    choices = random.Random(1)
    for options in [{}, *(random_options(game, players, choices) for _ in range(100))]:
        filled = game_pb2.Options()
        getattr(filled, game.name).SetInParent()
        fill(getattr(filled, game.name), codec.put_options, options)
        assert filled.WhichOneof("game") == game.name
        for copy in travelled(filled):
            assert codec.read_options(Reader(getattr(copy, game.name))) == options
        position = game.new_game(players, options)
        # A field with its default value may be absent afterwards, and an unordered list may be sorted.
        for name, value in position.options().items():
            assert value == options[name] or value == sorted(options[name])
        assert game.new_game(players, position.options()) == position


def test_options_are_kept_throughout_a_game(table: Table) -> None:
    game, players = table
    choices = random.Random(2)
    for seed in range(10):
        position = game.new_game(players, random_options(game, players, choices), seed=seed)
        options = position.options()
        position.playout(seed)
        assert position.options() == options


def test_labels_exist_and_distinguish_moves(table: Table) -> None:
    for position in thinned(positions(table), 120):
        if position.legal_actions():
            labels = [position.action_label(action) for action in position.legal_actions()]
        else:
            labels = [position.outcome_label(outcome) for outcome, _ in position.chance_outcomes()]
        assert all(label and label == label.strip() for label in labels)
        assert len(set(labels)) == len(labels)


def events_of(table: Table) -> list[tuple[Position, Event]]:
    """Return the events of random games, each with the position before it."""
    found = []
    for position in thinned(positions(table), 120):
        for move in moves_of(position)[:3]:
            events = EventLog()
            position.clone().apply(move, events)
            found += [(position, event) for event in events]
    return found


def test_events_name_existing_seats(table: Table) -> None:
    game, players = table
    seats = range(players)
    found = events_of(table)
    assert found
    for _, event in found:
        assert event.seat is None or event.seat in seats
        assert event.seen_by is None or event.seen_by <= set(seats)
        for whole in (True, False):
            filled, label = shown(game, event, whole)
            assert filled
            assert label == label.strip() != ""


def test_an_event_shows_no_hidden_values(table: Table) -> None:
    game, _ = table
    for _, event in events_of(table):
        # Change the values, if there are any.
        other = event._replace(values=tuple(value - 1 if value else 1 for value in event.values))
        if event.values:
            assert shown(game, event, whole=True) != shown(game, other, whole=True)
        if event.seen_by is not None:
            assert shown(game, event, whole=False) == shown(game, other, whole=False)
            assert not may_see_whole(event, None)


def test_a_new_game_has_events(table: Table) -> None:
    game, players = table
    events = EventLog()
    sampled = game.new_game(players, seed=3, events=events)
    assert bool(events) == (game.new_game(players).is_chance_node())
    assert sampled == game.new_game(players, seed=3)


def test_the_score_has_a_breakdown_at_any_time(table: Table) -> None:
    game, _ = table
    for position in thinned(positions(table), 120):
        filled = game_pb2.ScoreDetail()
        fill(getattr(filled, game.name), engine.codec(game.name).put_score, position)
        assert filled.WhichOneof("game") == game.name
        assert filled.ByteSize() > 0


def test_a_body_of_a_wrong_size_is_refused(game: Game) -> None:
    body = body_of(game.new_game(game.min_players))
    assert game.position(body) == game.new_game(game.min_players)
    for wrong in (b"", body[:-1], body + b"\0"):
        with pytest.raises(engine.EngineError) as caught:
            game.position(wrong)
        assert caught.value.reason is engine.Reason.INVALID_STATE


def test_an_empty_message_is_refused(game: Game) -> None:
    with pytest.raises(engine.EngineError) as caught:
        engine.codec(game.name).read_state(Reader(message(game, "State")), game.rules_version)
    assert caught.value.reason is engine.Reason.INVALID_STATE
    assert caught.value.field
