"""Every game replays the sample games of an independent implementation exactly (tests/data/traces/README.md)."""

import json
from pathlib import Path
from typing import Any

from games.script import move_both
from tools.over import over

from chatiere import engine
from chatiere.engine import CHANCE_PLAYER, TERMINAL_PLAYER, Game, Position

from .support import reference

TRACES = Path(__file__).parents[1] / "data" / "traces"
FILES = [(game, path) for game in engine.games() for path in sorted((TRACES / game.name).glob("*.jsonl"))]
# The actor in a trace when the game is over.
OVER = -2
every_trace = over(("game", "path"), FILES, ids=[f"{game.name}-{path.stem}" for game, path in FILES])


def lines_of(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the first line of a trace, and its steps."""
    first, *steps = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    assert steps[-1]["actor"] == OVER
    steps[-1]["actor"] = TERMINAL_PLAYER
    return first, steps


def step_at(position: Position) -> dict[str, Any]:
    """Return the facts about a position from the kernel, in the form of a trace."""
    actor = position.current_player()
    if actor == CHANCE_PLAYER:
        return {"actor": actor, "outcomes": [list(pair) for pair in position.chance_outcomes()]}
    step = {"actor": actor, "totals": position.totals()}
    return step | ({"winners": position.winners()} if position.is_terminal() else {"legal": position.legal_actions()})


def reference_step(script: Any) -> dict[str, Any]:
    """Return the facts about a position from the reference, in the form of a trace."""
    question = script.question
    if question.actor == CHANCE_PLAYER:
        return {"actor": CHANCE_PLAYER, "outcomes": [list(pair) for pair in question.outcomes]}
    step = {"actor": question.actor, "totals": script.totals()}
    over = question.actor == TERMINAL_PLAYER
    return step | ({"winners": script.winners()} if over else {"legal": list(question.moves)})


def test_there_are_traces_for_each_number_of_players_and_with_options(game: Game) -> None:
    names = [path.name for known, path in FILES if known is game]
    for players in range(game.min_players, game.max_players + 1):
        assert any(name.startswith(f"{players}p-") for name in names)
    assert any("options" in name for name in names)


@every_trace
def test_the_trace_replays(game: Game, path: Path) -> None:
    first, steps = lines_of(path)
    assert first["game"] == game.name
    position = game.new_game(first["players"], first["options"])
    for number, step in enumerate(steps, 2):
        move = step.pop("move", None)
        assert step_at(position) == step, f"line {number}"
        if move is not None:
            position.apply(move)


@every_trace
def test_the_reference_agrees_with_the_trace(game: Game, path: Path) -> None:
    first, steps = lines_of(path)
    script = reference(game)(first["players"], first["options"])
    for number, step in enumerate(steps, 2):
        move = step.pop("move", None)
        assert reference_step(script) == step, f"line {number}"
        if move is not None:
            script.move(move)


@every_trace
def test_kernel_and_reference_have_the_same_events(game: Game, path: Path) -> None:
    first, steps = lines_of(path)
    position = game.new_game(first["players"], first["options"])
    script = reference(game)(first["players"], first["options"])
    for step in steps[:-1]:
        move_both(position, script, step["move"])
