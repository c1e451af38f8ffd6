"""All views have the same prompt for the current decision. A second, simple implementation checks this.

games/<game>/prompts.py uses only a spectator's view and the kinds of the legal actions.
"""

import importlib
from typing import Any

from games.building import message, view_of

from chatiere import engine
from chatiere.engine import Position
from chatiere.engine.wire import fill
from chatiere.v1 import game_pb2

from .support import Table, messages_of, positions, thinned

POSITIONS = 400


def views(position: Position) -> list[game_pb2.View]:
    """Return the views of all seats, and of a spectator."""
    put = messages_of(position.game).put_view
    return [fill(game_pb2.View(), put, position, seat) for seat in (None, *range(position.num_players()))]


def actions(position: Position) -> list[Any]:
    """Return the legal actions as messages of the game's own type."""
    codec = engine.codec(position.game.name)
    return [
        fill(message(position.game, "Action"), codec.put_action, position, action)
        for action in position.legal_actions()
    ]


def arguments(phrase: game_pb2.Phrase) -> dict[str, int]:
    """Return the arguments of a phrase that has no lists."""
    found = {}
    for argument in phrase.arguments:
        (found[argument.name],) = argument.numbers
    return found


def test_a_decision_has_the_same_prompt_for_all_viewers(table: Table) -> None:
    expected = importlib.import_module(f"games.{table[0].name}.prompts").prompt
    for position in thinned(positions(table), POSITIONS):
        for view in views(position):
            assert view.HasField("prompt") == (position.current_player() >= 0)
            if view.HasField("prompt"):
                key, found = expected(view_of(position, None), actions(position))
                assert (view.prompt.phrase.key, arguments(view.prompt.phrase)) == (f"prompt.{key}", found)


def test_prompts_do_not_distinguish_worlds(table: Table) -> None:
    _, players = table
    for number, position in enumerate(thinned(positions(table), 60)):
        for seat in range(players):
            drawn = position.resample(seat, number)
            assert [view.prompt for view in views(drawn)] == [view.prompt for view in views(position)]
