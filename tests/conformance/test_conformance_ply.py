"""Every game counts its decisions: a position, packed states in batches, and typed states agree on the ply."""

import random
import struct
from pathlib import Path

import numpy as np
import pytest

from chatiere.engine import EngineError, EventLog, Game, Reason
from chatiere.engine.core.batch import Table as BatchTable
from chatiere.engine.core.columns import Restart
from chatiere.engine.wire import Reader, fill
from chatiere.v1 import game_pb2

from .support import Table, messages_of, positions, random_game, random_move, thinned, whole_state
from .test_conformance_traces import every_trace, lines_of


def plies_of(states: bytes | memoryview, game: Game) -> list[int]:
    """Return the plies in the headers of packed states, at the place given in docs/batch.md."""
    return [
        ply for (ply,) in (struct.unpack_from("<I", states, at + 4) for at in range(0, len(states), game.packed_size))
    ]


@every_trace
def test_the_ply_counts_the_decisions_of_the_trace(game: Game, path: Path) -> None:
    first, steps = lines_of(path)
    position = game.new_game(first["players"], first["options"])
    table = BatchTable(game, first["players"])
    messages = messages_of(game)
    states = position.pack()
    decisions = 0
    for step in steps:
        assert position.ply() == decisions
        assert plies_of(states, game) == [decisions]
        state = whole_state(position)
        assert state.ply == decisions
        assert messages.read_state(Reader(state)) == position
        if "move" in step:
            decisions += step["actor"] >= 0
            position.apply(step["move"])
            states = bytes(table.step(states, [step["move"]])[0].states)
            assert states == position.pack()


def test_the_ply_counts_the_decisions_of_sampled_games(table: Table) -> None:
    choices = random.Random(4)
    for ply, position in enumerate(random_game(*table, choices, sampled=True)):
        assert position.ply() == ply
        assert game_pb2.State.FromString(whole_state(position).SerializeToString()).ply == ply


def test_copies_worlds_and_messages_have_the_same_ply(table: Table) -> None:
    game, players = table
    batch = BatchTable(*table)
    messages = messages_of(game)
    some = thinned(positions(table), 60)
    for position in some:
        ply = position.ply()
        assert position.clone().ply() == game.unpack(position.pack()).ply() == ply
        for seat in range(players):
            assert position.resample(seat, 3).ply() == ply
        for viewer in (0, None):
            assert fill(game_pb2.View(), messages.put_view, position, viewer).ply == ply
        wanted = Reader(game_pb2.Include())
        assert fill(game_pb2.Position(), messages.put_position, position, EventLog(), wanted).ply == ply
    states = b"".join(position.pack() for position in some)
    drawn, _ = batch.resample(states, bytes(len(some)), seed=5)
    assert plies_of(drawn, game) == [position.ply() for position in some]


def test_a_playout_continues_the_count(table: Table) -> None:
    for position in thinned(positions(table), 20):
        played = position.clone()
        decisions = played.playout(6)
        assert played.ply() == position.ply() + decisions


@pytest.mark.parametrize("sampled", [False, True])
def test_restarted_games_count_from_0(table: Table, sampled: bool) -> None:
    game, players = table
    batch = BatchTable(game, players)
    choices = random.Random(7)
    begun = batch.new_games(seeds=[1, 2, 3]) if sampled else batch.new_games(count=3)
    states = begun.states
    assert plies_of(states, game) == [0, 0, 0]
    plies, restarts = [0, 0, 0], 0
    while restarts < 2:
        before = [batch.position(states, item) for item in range(3)]
        moves = [random_move(position, choices) for position in before]
        found, faults = batch.step(states, np.array(moves, "<u2"), restart=Restart())
        assert not faults.items
        states = found.states
        restarts += sum(found.final)
        plies = [
            0 if final else ply + (position.current_player() >= 0)
            for ply, position, final in zip(plies, before, found.final, strict=True)
        ]
        assert plies_of(states, game) == plies


def test_a_typed_state_with_a_ply_that_no_game_reaches_is_refused(table: Table) -> None:
    game, players = table
    messages = messages_of(game)
    most = game.limits_of_any_options(players).max_game_length
    state = whole_state(game.new_game(players, seed=1))
    for ply in (0, 1, most):
        state.ply = ply
        assert messages.read_state(Reader(state)).ply() == ply
    for ply in (most + 1, 2**31, 2**32 - 1):
        state.ply = ply
        with pytest.raises(EngineError) as caught:
            messages.read_state(Reader(state))
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_STATE, "ply")
