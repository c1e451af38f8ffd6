"""Observations are what each game's description says, part by part, by a second, slow and simple implementation.

It is in games/<game>/plain_observation.py, and knows only what a seat is shown: its view, and the events that it was
told.
"""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from games.building import event_of
from games.plain import check_observation

from chatiere.engine import EventLog, Game, Position

from .support import Table, begin, liked_move, may_see_whole, random_likings
from .test_conformance_traces import every_trace, lines_of

# Much Python, and nothing for the sanitizers that other tests do not run.
pytestmark = pytest.mark.release_only

# Whole games of each number of players.
POSITIONS = 600


def watched(position: Position, moves: Callable[[Position], int | None]) -> Iterator[Position]:
    """Play a game to its end, checking each seat's observation at every position."""
    seen_by_seat: list[list[Any]] = [[] for _ in range(position.num_players())]
    while True:
        for seat, seen in enumerate(seen_by_seat):
            check_observation(position, seat, seen)
        yield position
        if (move := moves(position)) is None:
            return
        events = EventLog()
        position.apply(move, events)
        for event in events:
            messages = [event_of(position.game, event, whole)[1] for whole in (False, True)]
            for seat, seen in enumerate(seen_by_seat):
                seen.append(messages[may_see_whole(event, seat)])


def test_observations_of_random_games_are_what_their_parts_say(table: Table) -> None:
    game, players = table
    choices = random.Random(f"observations {game.name} {players}")
    seen = 0
    while seen < POSITIONS:
        likings = random_likings(game, choices)

        def move(position: Position, likings: list[float] = likings) -> int | None:
            return None if position.is_terminal() else liked_move(position, likings, choices)

        seen += sum(1 for _ in watched(begin(game, players, choices, sampled=False), move))


@every_trace
def test_observations_of_the_sample_games_are_what_their_parts_say(game: Game, path: Path) -> None:
    first, steps = lines_of(path)
    moves = iter(step.get("move") for step in steps)
    for _ in watched(game.new_game(first["players"], first["options"]), lambda _: next(moves)):
        pass
