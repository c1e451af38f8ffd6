"""Reproducible random games for tests of the printed pieces."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

from chatiere.engine import EventLog, Game, Position
from chatiere.engine.core.game_info import pieces_info
from chatiere.v1 import game_pb2


def details_of(game: Game) -> Any:
    """Return the game's own Pieces message."""
    return getattr(game_pb2.Pieces(**pieces_info(game)["piece_details"]), game.name)


def played(
    game: Game, players: int, options: Mapping[str, Any] | None = None, games: int = 1
) -> Iterator[tuple[Position, EventLog]]:
    """Yield the positions of random games with sampled chance, each with the events that led to it."""
    choices = random.Random(f"{game.name} {players}")
    for number in range(games):
        events = EventLog()
        position = game.new_game(players, options or {}, seed=7, game_number=number, events=events)
        yield position.clone(), events
        while not position.is_terminal():
            events = EventLog()
            position.apply(choices.choice(position.legal_actions()), events)
            yield position.clone(), events
