"""Every game: the battery's random games have only known kinds of events. The kinds are counted."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from games.script import happenings

from chatiere.engine import EventLog

from .counting import EVENTS, kinds_module, kinds_of
from .support import Table, begin, liked_move, random_likings

GAMES = 6


def test_random_games_have_only_known_kinds_of_events(
    table: Table, record_property: Callable[[str, Any], None]
) -> None:
    game, players = table
    choices = random.Random(f"kinds {game.name} {players}")
    met: Counter[str] = Counter()
    for _ in range(GAMES):
        position = begin(game, players, choices, sampled=False)
        likings = random_likings(game, choices)
        while not position.is_terminal():
            before, events = position.clone(), EventLog()
            position.apply(liked_move(position, likings, choices), events)
            met.update(kinds_of(before, happenings(game, events), position))
    record_property(EVENTS, [game.name, dict(met)])
    kinds = kinds_module(game).KINDS
    assert len(set(kinds)) == len(kinds)
    assert met.keys() <= set(kinds), met.keys() - set(kinds)
    assert len(met) > len(kinds) // 4
