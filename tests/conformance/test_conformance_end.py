"""Every finished game has a reason for its end: a number that depends only on the state, and a message."""

import random
from typing import Any

import pytest
from games.building import message

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Game, Position, Reason
from chatiere.engine.wire import Reader, fill
from chatiere.v1 import game_pb2

from .support import Table, messages_of, positions, random_game, thinned, typed_state, whole_state


def ended(table: Table, games: int = 6) -> list[Position]:
    """Return the last positions of random games."""
    choices = random.Random(f"{table[0].name} {table[1]} ends")
    return [list(random_game(*table, choices, sampled=number % 2 == 0))[-1] for number in range(games)]


def test_the_ends_are_the_same_in_kernel_and_messages(game: Game) -> None:
    kinds = message(game, "End").DESCRIPTOR.fields_by_name["kind"].enum_type.values
    names = {value.number: value.name.partition("_END_KIND_")[2].lower() for value in kinds}
    assert names.pop(0) == "unspecified"
    assert names == dict(game.description.ends)


def test_a_game_has_an_end_when_it_is_over(table: Table) -> None:
    game, _ = table
    for position in (*positions(table), *ended(table)):
        assert (position.end() is not None) == position.is_terminal()
        assert position.end() is None or position.end() in game.description.ends
        assert (position.ended_by() is not None) == position.is_terminal()
        state = typed_state(position)
        assert state.HasField("end") == position.is_terminal()
        if position.is_terminal():
            assert (state.end.kind, state.end.seat) == (position.end(), position.ended_by())
            # All fields are present, because no value of an end is a default that protobuf omits.
            assert [field.name for field, _ in state.end.ListFields()] == [
                field.name for field in state.end.DESCRIPTOR.fields
            ]


def test_all_views_and_positions_contain_the_end(table: Table) -> None:
    game, players = table
    messages = messages_of(game)
    for position in (*thinned(positions(table), 20), *ended(table)):
        filled: list[Any] = [
            fill(game_pb2.View(), messages.put_view, position, seat) for seat in (*range(players), None)
        ]
        wanted = Reader(game_pb2.Include())
        filled.append(fill(game_pb2.Position(), messages.put_position, position, EventLog(), wanted))
        for each in filled:
            assert each.HasField("end") == position.is_terminal()
            if position.is_terminal():
                assert each.end.WhichOneof("game") == game.name
                assert getattr(each.end, game.name) == typed_state(position).end


def test_a_typed_state_can_leave_out_its_end_or_parts_of_it(table: Table) -> None:
    game, _ = table
    messages = messages_of(game)
    for position in ended(table):
        whole = whole_state(position)
        assert messages.read_state(Reader(whole)) == position
        for field, _ in getattr(whole, game.name).end.ListFields():
            state = whole_state(position)
            getattr(state, game.name).end.ClearField(field.name)
            assert messages.read_state(Reader(state)) == position
        getattr(whole, game.name).ClearField("end")
        assert messages.read_state(Reader(whole)) == position


def test_an_end_that_does_not_follow_from_the_state_is_refused(table: Table) -> None:
    game, players = table
    messages = messages_of(game)
    for position in ended(table):
        whole = whole_state(position)
        for field, right in getattr(whole, game.name).end.ListFields():
            # Also try a large number, because protobuf's messages accept any 32-bit number for an enum.
            for wrong in {*range(0 if field.has_presence else 1, 4), players, 2**31 - 1} - {right}:
                state = whole_state(position)
                setattr(getattr(state, game.name).end, field.name, wrong)
                with pytest.raises(EngineError) as caught:
                    messages.read_state(Reader(state))
                assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, f"{game.name}.end")


def test_a_game_in_progress_has_no_end(table: Table) -> None:
    game, _ = table
    messages = messages_of(game)
    for position in thinned(positions(table), 20):
        if position.is_terminal():
            continue
        for field, number in ((None, 0), ("kind", 1), ("seat", 0)):
            state = whole_state(position)
            getattr(state, game.name).end.SetInParent()
            if field:
                setattr(getattr(state, game.name).end, field, number)
            with pytest.raises(EngineError) as caught:
                messages.read_state(Reader(state))
            assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, f"{game.name}.end")


def test_the_end_is_not_part_of_the_body(table: Table) -> None:
    codec = engine.codec(table[0].name)
    for position in ended(table, 2):
        state = typed_state(position)
        body = codec.read_state(Reader(state), position.rules_version())
        state.ClearField("end")
        assert codec.read_state(Reader(state), position.rules_version()) == body
