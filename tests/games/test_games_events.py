"""Labels of events, as listed in the games' events.py."""

from importlib import import_module
from typing import Any

import pytest
from tools.over import over_games

from chatiere import engine
from chatiere.engine import Event, Game

from .building import event_kinds, event_of, label_of

GAMES = engine.games()
TABLES: dict[str, Any] = {game.name: import_module(f".{game.name}.events", __package__) for game in GAMES}


def rows(table: str) -> list[Any]:
    return [
        pytest.param(game, event, label, id=f"{game.name}: {label}")
        for game in GAMES
        for event, label in getattr(TABLES[game.name], table)
    ]


@pytest.mark.parametrize(("game", "event", "label"), rows("LABELS"))
def test_labels_of_events(game: Game, event: Event, label: str) -> None:
    assert label_of(game, event, whole=True) == label
    if event.seen_by is None:
        assert label_of(game, event, whole=False) == label


@over_games
def test_every_kind_of_event_is_tested(game: Game) -> None:
    table = TABLES[game.name]
    assert {event.kind for event, _ in table.LABELS} == event_kinds(game)
    hidden = {event.kind for event, _ in table.LABELS if event.seen_by is not None}
    assert {event.kind for event, _ in table.HIDDEN} == hidden


@pytest.mark.parametrize(("game", "event", "label"), rows("HIDDEN"))
def test_labels_do_not_contain_hidden_values(game: Game, event: Event, label: str) -> None:
    assert label_of(game, event, whole=False) == label
    seen = {whole: {field.name for field, _ in event_of(game, event, whole)[1].ListFields()} for whole in (True, False)}
    assert seen[True] - seen[False] == {TABLES[game.name].HIDDEN_FIELD}
