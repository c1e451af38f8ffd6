"""Every game: the number of sequences of moves from some positions is the number in its perft.json."""

from typing import Any

import pytest
from tools.over import over

from chatiere import engine
from chatiere.engine import Game, Position

from .support import moves_of, perft_entries, reference

ENTRIES = [(game, entry) for game in engine.games() for entry in perft_entries(game)]
NAMES = [f"{game.name}-{entry['players']}p-{len(entry['moves'])}-depth{entry['depth']}" for game, entry in ENTRIES]


def position_of(game: Game, entry: dict[str, Any]) -> Position:
    position = game.new_game(entry["players"], entry["options"])
    for move in entry["moves"]:
        position.apply(move)
    return position


def split(position: Position, entry: dict[str, Any]) -> str:
    """Describe where kernel and reference differ: the moves, or the number of sequences that start with each move."""
    players, options, before, depth = entry["players"], entry["options"], entry["moves"], entry["depth"] - 1
    counted = reference(position.game)
    moves, expected = set(moves_of(position)), set(counted.replay(players, options, before).question.moves)
    lines = [f"only the kernel: {move}" for move in sorted(moves - expected)]
    lines += [f"only the reference: {move}" for move in sorted(expected - moves)]
    for move in sorted(moves & expected):
        ours, theirs = position.child(move).perft(depth), counted.perft(players, options, [*before, move], depth)
        if ours != theirs:
            lines.append(f"{move}: kernel {ours}, reference {theirs}")
    return "\n".join(lines)


@over(("game", "entry"), ENTRIES, ids=NAMES)
def test_perft(game: Game, entry: dict[str, Any]) -> None:
    position = position_of(game, entry)
    count = position.perft(entry["depth"])
    if count != entry["count"]:
        pytest.fail(f"{count} sequences, not {entry['count']}\n{split(position, entry)}")


def test_there_are_many_sequences_from_all_parts_of_the_game(game: Game) -> None:
    entries = perft_entries(game)
    assert {entry["players"] for entry in entries} == set(range(game.min_players, game.max_players + 1))
    assert any(entry["options"] for entry in entries)
    assert sum(entry["count"] for entry in entries) > 50_000
    longest = max(len(entry["moves"]) for entry in entries)
    for part in range(2):
        assert any(part <= 2 * len(entry["moves"]) / (longest + 1) < part + 1 for entry in entries)
