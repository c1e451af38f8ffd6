"""Every game plays as recorded: readable playthroughs and pinned games.

After an intended change of the rules or of the packed form, record them again and read the difference:
`CHATIERE_UPDATE_GOLDEN=1 python -m pytest tests/conformance/test_conformance_golden.py`.
"""

import json
import os
import random
from typing import Any

from chatiere import engine
from chatiere.engine import Game

from .playthrough import GAMES, signature, text
from .support import Table, random_options

UPDATE = "CHATIERE_UPDATE_GOLDEN" in os.environ


def test_every_game_has_a_playthrough_for_each_number_of_players_and_no_more() -> None:
    for game in engine.games():
        expected = [f"{players}p.txt" for players in range(game.min_players, game.max_players + 1)]
        assert sorted(path.name for path in (GAMES / game.name / "golden").iterdir()) == expected


def test_the_playthrough_is_the_one_written_down(table: Table) -> None:
    game, players = table
    path = GAMES / game.name / "golden" / f"{players}p.txt"
    played = text(game, players)
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(played, encoding="utf-8")
    assert played.splitlines() == path.read_text(encoding="utf-8").splitlines()


def games_to_pin(game: Game) -> list[tuple[int, dict[str, Any], int]]:
    """Choose the games to pin: all numbers of players, with default and other options; some seeds use all 64 bits."""
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


def test_the_same_seed_gives_the_same_game_as_ever(game: Game) -> None:
    path = GAMES / game.name / "pinned_games.json"
    if UPDATE:
        games = games_to_pin(game)
        if path.exists():
            # Keep the same games, so that differences show what has changed.
            games = [(entry["players"], entry["options"], entry["seed"]) for entry in json.loads(path.read_text())]
        written = [signature(game, *each) for each in games]
        path.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    pinned = json.loads(path.read_text(encoding="utf-8"))
    assert {entry["players"] for entry in pinned} == set(range(game.min_players, game.max_players + 1))
    for entry in pinned:
        assert signature(game, entry["players"], entry["options"], entry["seed"]) == entry
