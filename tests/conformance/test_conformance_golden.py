"""Every game plays as recorded: readable playthroughs and pinned games.

The playthrough with the smallest number of players is readable text. The other playthroughs are compressed. A failed
test prints the first line that changed, before and after.

After an intended change to the rules, the labels or the packed form, record them again and review the difference:
`CHATIERE_UPDATE_GOLDEN=1 python -m pytest tests/conformance/test_conformance_golden.py`.
"""

import gzip
import json
import os
import random
from itertools import zip_longest
from pathlib import Path
from typing import Any

from chatiere import engine
from chatiere.engine import Game

from .playthrough import GAMES, signature, text
from .support import Table, random_options

UPDATE = "CHATIERE_UPDATE_GOLDEN" in os.environ


def golden_path(game: Game, players: int) -> Path:
    """Return the file of a playthrough: text for the smallest number of players, otherwise compressed."""
    suffix = "txt" if players == game.min_players else "txt.gz"
    return GAMES / game.name / "golden" / f"{players}p.{suffix}"


def recorded(path: Path) -> str:
    """Return the text of a recorded playthrough."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def first_difference(before: str, after: str) -> str:
    """Return the first line that differs, with its number, before and after. Return "" if all lines are equal."""
    lines = zip_longest(before.splitlines(), after.splitlines())
    changed = ((number, old, new) for number, (old, new) in enumerate(lines, 1) if old != new)
    return next((f"line {number} changed\n- {old}\n+ {new}" for number, old, new in changed), "")


def test_every_game_has_one_playthrough_for_each_number_of_players() -> None:
    for game in engine.games():
        expected = {golden_path(game, players) for players in range(game.min_players, game.max_players + 1)}
        assert set((GAMES / game.name / "golden").iterdir()) == expected


def test_the_playthrough_is_the_recorded_one(table: Table) -> None:
    game, players = table
    path = golden_path(game, players)
    played = text(game, players)
    if UPDATE and not (path.exists() and recorded(path) == played):
        path.parent.mkdir(exist_ok=True)
        data = played.encode()
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    assert not first_difference(recorded(path), played), path.name


def games_to_pin(game: Game) -> list[tuple[int, dict[str, Any], int]]:
    """Choose the games to pin: all numbers of players, with default and other options. Some seeds use all 64 bits."""
    choices = random.Random(2024)
    return [
        (players, options, seed)
        for players in range(game.min_players, game.max_players + 1)
        for options, seed in (
            ({}, 0),
            ({}, 2**64 - 1),
            (random_options(game, players, choices), choices.getrandbits(64)),
            (random_options(game, players, choices), choices.getrandbits(64)),
        )
    ]


def test_the_same_seed_gives_the_recorded_game(game: Game) -> None:
    path = GAMES / game.name / "pinned_games.json"
    if UPDATE:
        games = games_to_pin(game)
        if path.exists():
            # Keep the same games, so that differences come from changes to the engine.
            games = [(entry["players"], entry["options"], entry["seed"]) for entry in json.loads(path.read_text())]
        written = [signature(game, *each) for each in games]
        path.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    pinned = json.loads(path.read_text(encoding="utf-8"))
    assert {entry["players"] for entry in pinned} == set(range(game.min_players, game.max_players + 1))
    for entry in pinned:
        assert signature(game, entry["players"], entry["options"], entry["seed"]) == entry
