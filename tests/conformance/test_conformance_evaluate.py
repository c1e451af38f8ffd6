"""Every game: an evaluation is the result of playouts in resampled worlds, and uses only the actor's information."""

import random
from itertools import pairwise

import numpy as np
import pytest

from chatiere.engine import INVALID_PLAYER, Position
from chatiere.engine.core.batch import Table as BatchTable
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.columns import EvaluationColumns

from .batches import check_faults, refusal
from .documented_stream import DocumentedStream
from .support import Table, body_of, positions, thinned
from .test_conformance_mutations import mutated


@pytest.fixture
def batch_table(table: Table) -> BatchTable:
    return BatchTable(*table)


def decisions(table: Table, count: int) -> list[Position]:
    return list(thinned(tuple(position for position in positions(table) if position.legal_actions()), count))


def items_of(found: EvaluationColumns) -> list[tuple[int, list[int], list[float], list[int]]]:
    """Return actor, legal ids, mean returns and counts of each item."""
    offsets = np.frombuffer(found.legal_offsets, "<u4")
    ids, counts = np.frombuffer(found.legal_ids, "<u2"), np.frombuffer(found.counts, "<u4")
    means = np.frombuffer(found.mean_returns, "<f8")
    actors = np.frombuffer(found.actors, "i1").tolist()
    assert (len(offsets), offsets[0], offsets[-1]) == (len(actors) + 1, 0, len(ids))
    assert len(ids) == len(counts) == len(means)
    return [
        (actor, ids[a:b].tolist(), means[a:b].tolist(), counts[a:b].tolist())
        for actor, (a, b) in zip(actors, pairwise(offsets), strict=True)
    ]


def worlds_of(position: Position, count: int, seed: int, game_number: int) -> list[tuple[int, Position]]:
    """Return the worlds resampled for the acting seat (without the streams), and the seed of each world."""
    stream = DocumentedStream(seed, game_number)
    seeds = [stream.word() for _ in range(count)]
    drawn = [position.resample(position.current_player(), each) for each in seeds]
    return [(each, position.game.position(body_of(world))) for each, world in zip(seeds, drawn, strict=True)]


def mean_return(worlds: list[tuple[int, Position]], action: int, playouts: int) -> float:
    """Return the acting seat's mean return after an action, computed by single playouts."""
    returns = []
    for seed, world in worlds:
        child = world.child(action)
        for number in range(playouts):
            played = child.clone()
            played.playout(seed, 1 + number)
            returns.append(played.returns()[world.current_player()])
    return sum(returns) / len(returns)


def ask(position: Position) -> None:
    """Check that a position can be evaluated. Raises EngineError."""
    position.require_decision()
    position.resample(position.current_player(), 1)


def test_evaluations_equal_playouts_in_worlds(table: Table, batch_table: BatchTable) -> None:
    # The batch has sampled and explicit chance, decisions, other states, and invalid states.
    choices = random.Random("evaluations")
    states = [position.pack() for position in thinned(positions(table), 24)]
    states += [bytes(len(states[0])), states[0][:1] + b"\xff" + states[0][2:]]
    choices.shuffle(states)
    seed, first, worlds, playouts = choices.getrandbits(64), 2**64 - 10, 3, 2
    found, faults = batch_table.evaluate(b"".join(states), worlds, playouts, seed=seed, first_game_number=first)
    expected = [refusal(batch_table, state, ask) for state in states]
    check_faults(faults, expected)
    compared = 0
    for i, (state, error, item) in enumerate(zip(states, expected, items_of(found), strict=True)):
        actor, ids, means, counts = item
        if error is not None:
            assert item in ((actor, [], [], []), (actor, ids, [0.0] * len(ids), [0] * len(ids)))
            broken = refusal(batch_table, state, lambda position: None) is not None
            assert actor == (INVALID_PLAYER if broken else table[0].unpack(state).current_player())
            continue
        position = table[0].unpack(state)
        assert (actor, ids) == (position.current_player(), position.legal_actions())
        assert counts == [worlds * playouts] * len(ids)
        drawn = worlds_of(position, worlds, seed, (first + i) % 2**64)
        for place in choices.sample(range(len(ids)), min(len(ids), 12)):
            assert means[place] == pytest.approx(mean_return(drawn, ids[place], playouts), abs=1e-12)
            compared += 1
    assert compared > 20


def test_states_that_the_seat_cannot_distinguish_have_the_same_evaluation(
    table: Table, batch_table: BatchTable
) -> None:
    varied = 0
    for position in decisions(table, 25):
        seat = position.current_player()
        alike = [position, *(position.resample(seat, seed) for seed in (1, 2, 2**64 - 1))]
        varied += len({body_of(each) for each in alike}) > 1
        found = {batch_table.evaluate(each.pack(), 2, 2, seed=3, first_game_number=4) for each in alike}
        assert len(found) == 1, (position, seat)
    assert varied > 5


def test_an_item_depends_only_on_its_own_game_number(table: Table, batch_table: BatchTable) -> None:
    some = decisions(table, 12)
    together, _ = batch_table.evaluate(b"".join(position.pack() for position in some), 2, 1, seed=5)
    alone = [
        items_of(batch_table.evaluate(position.pack(), 2, 1, seed=5, first_game_number=number)[0])[0]
        for number, position in enumerate(some)
    ]
    assert items_of(together) == alone
    other, _ = batch_table.evaluate(b"".join(position.pack() for position in some), 2, 1, seed=6)
    assert items_of(other) != alone


def test_all_moves_of_an_evaluation_are_counted(table: Table, batch_table: BatchTable) -> None:
    position = decisions(table, 5)[2]
    cancellation = Cancellation()
    batch_table.evaluate(position.pack(), 2, 3, seed=5, cancellation=cancellation)
    moves = 0
    for seed, world in worlds_of(position, 2, 5, 0):
        for action in position.legal_actions():
            child = world.child(action)
            moves += 1 + sum(child.clone().playout(seed, 1 + number) for number in range(3))
    assert cancellation.moves == moves


def test_mutated_states_are_refused_or_evaluated(table: Table, batch_table: BatchTable) -> None:
    game, players = table
    choices = random.Random(f"{game.name} {players} evaluate")
    sources = [position.pack() for position in positions(table, games=4)]
    states: list[bytes] = []
    while len(states) < 600:
        state = mutated(choices.choice(sources), choices.choice(sources), choices)
        if len(state) == game.packed_size:
            states.append(state)
    found, faults = batch_table.evaluate(b"".join(states), 1, 1, seed=1)
    expected = [refusal(batch_table, state, ask) for state in states]
    check_faults(faults, expected)
    items = items_of(found)
    assert all(counts == [0] * len(ids) for (_, ids, _, counts), error in zip(items, expected, strict=True) if error)
    evaluated = [item for item, error in zip(items, expected, strict=True) if error is None]
    assert all(counts == [1] * len(ids) and ids for _, ids, _, counts in evaluated)
    assert evaluated
