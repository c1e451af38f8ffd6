"""The reference's counts equal those in perft.json. tests/conformance/test_conformance_perft.py tests the kernel's."""

from typing import Any

from tools.over import over

from ..perft_file import read
from .reference import Game

# The reference plays every sequence from the start of the game.
ENTRIES = [entry for entry in read("chatpentiers") if entry["count"] * len(entry["moves"]) <= 20_000]


def test_perft_has_at_least_25_positions() -> None:
    assert len(ENTRIES) >= 25


@over("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_the_reference_counts_the_same(entry: dict[str, Any]) -> None:
    assert Game.perft(entry["players"], entry["options"], entry["moves"], entry["depth"]) == entry["count"]
