"""Batches as lists of items, and their comparison with Position."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from chatiere.engine import CHANCE_PLAYER, INVALID_PLAYER, EngineError, Position, Reason
from chatiere.engine.core.batch import Table as BatchTable
from chatiere.engine.core.columns import Columns, FaultColumns, PositionColumns

ALL = Columns(legal=True, scores=True, observations=True)


@dataclass
class Item:
    """The values of one item in the columns of Positions."""

    state: bytes
    actor: int
    legal_ids: list[int]
    weights: list[int] | None
    totals: list[int]
    returns: list[float]
    final: int
    observation: list[int]


def items_of(table: BatchTable, positions: PositionColumns) -> list[Item]:
    """Return all items of a batch that has all its columns."""
    game, players = table.game, table.players
    states = np.frombuffer(positions.states, "u1").reshape(-1, game.packed_size)
    offsets = np.frombuffer(positions.legal_offsets, "<u4")
    ids = np.frombuffer(positions.legal_ids, "<u2")
    weights = np.frombuffer(positions.weights, "<u4")
    totals = np.frombuffer(positions.totals, "<i4").reshape(-1, players)
    returns = np.frombuffer(positions.returns, "<f4").reshape(-1, players)
    observations = np.frombuffer(positions.observations, "u1").reshape(-1, game.observation_length)
    actors, final = np.frombuffer(positions.actors, "i1"), np.frombuffer(positions.final, "u1")
    assert len(offsets) == len(states) + 1 == len(actors) + 1 == len(final) + 1
    assert len(totals) == len(returns) == len(observations) == len(states)
    assert offsets[0] == 0
    assert offsets[-1] == len(ids)
    assert len(weights) == (len(ids) if CHANCE_PLAYER in actors else 0)
    return [
        Item(
            state=states[i].tobytes(),
            actor=int(actors[i]),
            legal_ids=ids[offsets[i] : offsets[i + 1]].tolist(),
            weights=weights[offsets[i] : offsets[i + 1]].tolist() if len(weights) else None,
            totals=totals[i].tolist(),
            returns=returns[i].tolist(),
            final=int(final[i]),
            observation=observations[i].tolist(),
        )
        for i in range(len(states))
    ]


def observation_of(position: Position, seat: int) -> list[int]:
    """Return a seat's observation as numbers."""
    return list(np.frombuffer(position.observation(seat), "u1").tolist())


def float32(values: list[float]) -> list[float]:
    """Round numbers to 32 bits."""
    return list(np.array(values, "<f4").tolist())


def check_item(item: Item, position: Position, ended: Position | None = None) -> None:
    """Assert that an item agrees with a position. `ended` is the end of the previous game if a new game began."""
    scored = ended or position
    actor = position.current_player()
    outcomes = position.chance_outcomes()
    assert item.state == position.pack()
    assert item.actor == actor
    assert item.legal_ids == (position.legal_actions() or [outcome for outcome, _ in outcomes])
    if item.weights is not None:
        assert item.weights == ([weight for _, weight in outcomes] or [1] * len(item.legal_ids))
    assert item.totals == scored.totals()
    assert item.returns == float32(scored.returns())
    assert item.final == scored.is_terminal()
    length = position.game.observation_length
    assert item.observation == (observation_of(position, actor) if actor >= 0 else [0] * length)


def check_broken_item(item: Item, table: BatchTable, state: bytes) -> None:
    """Assert that an item reports only that its state is invalid, and returns the state unchanged."""
    length = table.game.observation_length
    zeros = [0] * table.players
    assert item.weights in (None, [])
    assert (item.state, item.actor, item.legal_ids, item.final) == (state, INVALID_PLAYER, [], 0)
    assert (item.totals, item.returns, item.observation) == (zeros, zeros, [0] * length)


def column(values: Any, dtype: str) -> bytes:
    """Return numbers as a column."""
    return bytes(np.array(values, dtype).tobytes())


def refusal(table: BatchTable, state: bytes, ask: Any) -> EngineError | None:
    """Return the error that Position raises for an item: for its state, its number of players, or the operation."""
    try:
        position = table.game.unpack(state)
        if position.num_players() != table.players:
            return EngineError(Reason.INVALID_PLAYERS, "", field="states")
        ask(position)
    except EngineError as error:
        return error
    return None


def check_faults(faults: FaultColumns, expected: list[EngineError | None]) -> None:
    """Assert that each item has the expected fault. The first 20 faults must have Position's messages."""
    failed = [(item, error) for item, error in enumerate(expected) if error is not None]
    if not failed:
        assert faults == FaultColumns(b"", ())
        return
    assert list(faults.reasons) == [0 if error is None else error.reason.number for error in expected]
    assert [fault.item for fault in faults.items] == [item for item, _ in failed[:20]]
    for fault, (_, error) in zip(faults.items, failed, strict=False):
        assert (fault.reason, fault.rule) == (error.reason, error.rule)
        assert fault.message
        assert fault.message == error.message or error.reason is Reason.INVALID_PLAYERS
        assert fault.field.split(".")[0] in ("states", "moves", "seats")
