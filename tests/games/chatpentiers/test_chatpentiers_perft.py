"""The kernel recorded perft.json's counts (`position.perft(depth)`): the reference counts the same."""

from typing import Any

import pytest

from ..perft_file import read
from .reference import Game

# Every sequence of the reference is played from the beginning of the game.
ENTRIES = [entry for entry in read("chatpentiers") if entry["count"] * len(entry["moves"]) <= 20_000]


def test_the_reference_counts_at_most_of_the_positions() -> None:
    assert len(ENTRIES) >= 25


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_the_reference_counts_the_same(entry: dict[str, Any]) -> None:
    assert Game.perft(entry["players"], entry["options"], entry["moves"], entry["depth"]) == entry["count"]
