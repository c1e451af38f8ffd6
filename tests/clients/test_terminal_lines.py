"""A match as lines for a terminal."""

import click
import pytest
from tools.over import over_names

from chatiere import bots, engine
from chatiere.clients import Client, begin, play
from chatiere.terminal import lines as module
from chatiere.terminal.lines import narrate


def narrated(client: Client, name: str) -> tuple[list[str], list[str], list[str]]:
    """Return the lines of a match with the most players, and the labels of the events at its start and of its moves."""
    players = engine.game(name).max_players
    info = next(info for info in client.list_games() if info.name == name)
    beginning = begin(client, name, players, seed=1)
    names = [f"bot{seat}" for seat in range(players)]
    seated = [bots.get("random", name, players)] * players
    steps = list(play(client, beginning, seated, seed=1))
    lines = [click.unstyle(line) for line in narrate(info, names, beginning, steps)]
    return (
        lines,
        [event.label for event in beginning.events],
        [event.label for step in steps for event in step.after.events],
    )


def in_order(wanted: list[str], lines: list[str]) -> bool:
    rest = iter(lines)
    return all(any(line == f"  {label}" for line in rest) for label in wanted)


@over_names
def test_every_event_of_a_move_is_shown_in_order(client: Client, name: str) -> None:
    lines, _, events = narrated(client, name)
    assert in_order(events, lines)


@over_names
def test_a_game_without_a_drawing_is_shown_by_its_events_and_scores(
    client: Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DRAWINGS", {})
    lines, beginning, events = narrated(client, name)
    assert in_order([*beginning, *events], lines)
    assert lines[-1].endswith(" won.")


@over_names
def test_the_mover_and_the_result_are_shown(client: Client, name: str) -> None:
    players = engine.game(name).max_players
    position = engine.game(name).new_game(players, seed=1)
    lines, _, _ = narrated(client, name)
    first = next(line for line in lines if line.startswith("Move 1: "))
    scores = " ".join(map(str, position.totals()))
    seat = position.current_player()
    assert first == f"Move 1: seat {seat} (bot{seat})   scores {scores}"
    result = lines[lines.index("Result") + 1 : -1]
    assert len(result) == players
    assert [line.split(".")[0].strip() for line in result] == sorted(line.split(".")[0].strip() for line in result)
    assert sum(f"seat {seat} (bot{seat})" in line for seat in range(players) for line in result) == players
