"""Counts of the kinds of events in games, including the variants that the rules pages distinguish."""

import importlib
from collections.abc import Mapping
from typing import Any

from games.script import Happening, happenings

from chatiere.engine import EventLog, Game, Position

# The property of a test's report that contains a game's name and counts. The sums are printed at the end of a test run.
EVENTS = "kinds of events"
# The number of occurrences below which a kind is rare.
OFTEN = 10


def kinds_module(game: Game) -> Any:
    """Return the module with a game's kinds of events."""
    return importlib.import_module(f"games.{game.name}.kinds")


def kinds_of(before: Position, happened: list[Happening], after: Position) -> list[str]:
    """Return the kinds of events in a move."""
    return list(kinds_module(before.game).kinds_of(before, happened, after))


def kinds_after(position: Position, move: int) -> list[str]:
    """Return the kinds of the events that a move would cause."""
    events = EventLog()
    after = position.clone()
    after.apply(move, events)
    return kinds_of(position, happenings(position.game, events), after)


def report(game: Game, counts: Mapping[str, int]) -> str:
    """Return a sentence with the number of kinds that occurred, and the rare kinds, the rarest first."""
    kinds: tuple[str, ...] = kinds_module(game).KINDS
    rare = sorted((counts.get(kind, 0), kind) for kind in kinds if counts.get(kind, 0) < OFTEN)
    met = sum(counts.get(kind, 0) > 0 for kind in kinds)
    listed = "; ".join(f"{kind} {count}" for count, kind in rare) or "none"
    return f"{game.name}: {met} of {len(kinds)} kinds of events; met less than {OFTEN} times: {listed}"
