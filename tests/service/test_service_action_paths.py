"""Field paths in refusals of actions: they lead to the kind of a typed action, or to the part that a rule forbids."""

import random
from typing import Any

from games.played import played

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Game, Position, Reason
from chatiere.engine.wire import Reader, fill
from chatiere.service.calls.conversion import apply_action
from chatiere.v1 import game_pb2, game_service_pb2

from .support import has_path

# The maximum number of typed actions that are tried at each position.
TRIED = 25


def typed(position: Position, action: int) -> game_pb2.Action:
    """Return a legal action as a typed action without a dense id."""
    found = game_pb2.Action()
    fill(getattr(found, position.game.name), engine.codec(position.game.name).put_action, position, action)
    return found


def refused(action: game_pb2.Action, position: Position) -> EngineError | None:
    """Return the refusal of an action, or None if it is applied."""
    try:
        apply_action(Reader(action), position.clone(), EventLog())
    except EngineError as error:
        return error
    return None


def test_a_refused_typed_action_names_its_kind_and_the_forbidden_part(game: Game) -> None:
    choices = random.Random(game.name)
    positions = [position for position, _ in played(game, game.max_players) if not position.is_terminal()]
    actions = [typed(position, choices.choice(position.legal_actions())) for position in positions]
    parts = set()
    for position in positions:
        for action in choices.sample(actions, min(TRIED, len(actions))):
            error = refused(action, position)
            if error is None or error.reason is not Reason.ILLEGAL_ACTION:
                continue
            kind = getattr(action, game.name).WhichOneof("action")
            path, _, part = error.field.removeprefix(f"action.{game.name}.").partition(".")
            assert path == kind
            assert has_path(game_service_pb2.ApplyRequest.DESCRIPTOR, error.field)
            assert bool(error.parts) <= bool(part), f"{kind}: {error.message}"
            parts.add(part.partition("[")[0])
    assert "" in parts
    assert len(parts) > 1


def test_the_parts_of_faults_are_fields_of_actions(game: Game) -> None:
    action: Any = game_pb2.Action.DESCRIPTOR.fields_by_name[game.name].message_type
    fields: set[Any] = {field.name for kind in action.fields for field in kind.message_type.fields}
    parts = {part for fault in game.description.faults.values() for part in fault.parts}
    assert parts
    assert parts <= fields
