"""Observations agree with each game's description. A second, slow and simple implementation checks each part.

games/<game>/plain_observation.py uses only the information shown to a seat: its view and its events.
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

# These tests run mostly Python. All compiled code that they run is also run under the sanitizers by other tests.
pytestmark = pytest.mark.release_only

# The number of positions for each number of players.
POSITIONS = 600


def watched(position: Position, moves: Callable[[Position], int | None]) -> Iterator[Position]:
    """Play a game to its end. Check each seat's observation at every position."""
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


def test_observations_of_random_games_match_their_description(table: Table) -> None:
    game, players = table
    choices = random.Random(f"observations {game.name} {players}")
    seen = 0
    while seen < POSITIONS:
        likings = random_likings(game, choices)

        def move(position: Position, likings: list[float] = likings) -> int | None:
            return None if position.is_terminal() else liked_move(position, likings, choices)

        seen += sum(1 for _ in watched(begin(game, players, choices, sampled=False), move))


@every_trace
def test_observations_of_the_sample_games_match_their_description(game: Game, path: Path) -> None:
    first, steps = lines_of(path)
    moves = iter(step.get("move") for step in steps)
    for _ in watched(game.new_game(first["players"], first["options"]), lambda _: next(moves)):
        pass
