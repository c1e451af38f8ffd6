"""Pairs of histories that a viewer cannot distinguish: the visible events are equal, but hidden information differs."""

import importlib
import random
from collections.abc import Iterator
from typing import NamedTuple

from games.building import phase, state_of

from chatiere.engine import EventLog, Position

from .support import Table, begin, liked_move, moves_of, random_likings, shown_to

# The number of moves for which an equivalent move is searched in the other history, and the number of moves tried
# there.
TRIED = 6
TRIED_THERE = 30


class Pair(NamedTuple):
    """Two positions after histories that the viewer cannot distinguish."""

    one: Position
    other: Position
    viewer: int | None


def open_facts(position: Position) -> tuple[object, ...]:
    """Return public facts that no event contains: the phase, the actor, and public parts of the state."""
    state = state_of(position)
    of_game = importlib.import_module(f"games.{position.game.name}.kinds").open_facts(state)
    return phase(position), position.current_player(), of_game


def followed(position: Position, move: int, viewer: int | None) -> tuple[Position, tuple[object, ...]]:
    """Return the position after a move, and everything that the viewer saw of the move."""
    events = EventLog()
    after = position.clone()
    after.apply(move, events)
    return after, (*shown_to(position.game, events, viewer), open_facts(after))


def play_on(pair: Pair, choices: random.Random, likings: list[float], liberty: float) -> Pair | None:
    """Make a move in each history that the viewer cannot distinguish. None if no tried move has an equivalent.

    `liberty` is the probability that other seats and chance make any equivalent move in the other history. The same
    move is tried last.
    """
    one, other, viewer = pair
    own = one.current_player() == viewer
    for _ in range(TRIED):
        move = liked_move(one, likings, choices)
        after, events = followed(one, move, viewer)
        possible = moves_of(other)
        there = [move] if own else choices.sample(possible, min(TRIED_THERE, len(possible)))
        if not own and move in possible:
            there = [found for found in there if found != move]
            there.insert(len(there) if choices.random() < liberty else 0, move)
        for other_move in there:
            other_after, other_events = followed(other, other_move, viewer)
            if other_events == events:
                return Pair(after, other_after, viewer)
    return None


def begun(table: Table, viewer: int | None, choices: random.Random, likings: list[float]) -> Pair:
    """Return the first position of a game twice, or a position and a world resampled from it for the viewer."""
    game, players = table
    position = begin(game, players, choices, sampled=False)
    if viewer is None or choices.random() < 0.4:
        return Pair(position, position.clone(), viewer)
    found = [position]
    while not position.is_terminal():
        position = position.child(liked_move(position, likings, choices))
        found.append(position)
    position = choices.choice(found)
    return Pair(position, position.resample(viewer, choices.getrandbits(64)), viewer)


def pairs(table: Table, viewer: int | None, choices: random.Random, count: int) -> Iterator[Pair]:
    """Yield at least `count` pairs with different hidden information.

    Each history continues as long as the viewer has two positions that it cannot distinguish.
    """
    found = 0
    while found < count:
        likings = random_likings(table[0], choices)
        pair: Pair | None = begun(table, viewer, choices, likings)
        liberty = choices.choice((0.02, 0.2, 0.9))
        while pair is not None:
            if pair.one != pair.other:
                found += 1
                yield pair
            if pair.one.is_terminal():
                break
            pair = play_on(pair, choices, likings, liberty)
