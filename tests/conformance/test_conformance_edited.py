"""Every game: the kernel and the reference agree after states that random play rarely reaches.

These states are edited valid states: cards are collected, moved or removed, options are changed, or last turns begin.
"""

import importlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from games.building import read, state_of
from games.script import OVER, Script, move_both, same

from chatiere.engine import EngineError, Game, Position, Reason

from .counting import EVENTS, OFTEN, kinds_module, kinds_of
from .style import Style
from .support import Table, positions

# The maximum number of moves from an edited state, and the proportion of moves that search for rare kinds of events.
MOVES = 50
CURIOSITY = 0.3

Record = Callable[[str, Any], None]


class Both(NamedTuple):
    """A position, and the reference implementation in the same state."""

    position: Position
    reference: Script


def edits_of(game: Game) -> Any:
    """Return the module with a game's edits."""
    return importlib.import_module(f"games.{game.name}.edits")


def edited(table: Table, choices: random.Random) -> Iterator[Both]:
    """Yield edited states that the kernel accepts, without end."""
    edits = edits_of(table[0])
    sources = [position for position in positions(table, False, games=4) if not position.is_terminal()]
    while True:
        state = state_of(choices.choice(sources))
        if edits.resumed(state) is None:
            continue
        changed = False
        for _ in range(choices.choice((1, 2, 4, 8))):
            tried = type(state)()
            tried.CopyFrom(state)
            edits.edit(tried, choices)
            try:
                read(tried)
            except EngineError as error:
                assert error.reason is Reason.INVALID_STATE
            else:
                changed |= tried != state
                state = tried
        if changed:
            yield Both(read(state), edits.resumed(state))


def test_kernel_and_reference_play_on_from_edited_states(table: Table, record_property: Record) -> None:
    game, players = table
    choices = random.Random(f"edited {game.name} {players}")
    states = edited(table, choices)
    count = edits_of(game).STATES
    kinds = kinds_module(game).KINDS
    met: Counter[str] = Counter()
    ended = moves = 0
    for _ in range(count):
        position, reference = next(states)
        style = Style(game, choices, CURIOSITY)
        for _ in range(MOVES):
            position.check()
            same(position, reference)
            if reference.question.actor == OVER:
                ended += 1
                break
            before = position.clone()
            move_both(position, reference, style.move(position, {kind for kind in kinds if met[kind] < OFTEN}))
            met.update(kinds_of(before, reference.happened, position))
            moves += 1
    record_property(EVENTS, [game.name, dict(met)])
    assert moves > 10 * count
    assert ended


def test_a_third_of_the_edits_give_different_valid_states(table: Table) -> None:
    edits = edits_of(table[0])
    choices = random.Random(f"edits {table}")
    sources = [position for position in positions(table, False, games=4) if edits.resumed(state_of(position))]
    sound = 0
    for _ in range(300):
        position = choices.choice(sources)
        state = state_of(position)
        edits.edit(state, choices)
        try:
            sound += read(state) != position
        except EngineError:
            continue
    assert sound > 100, sound
