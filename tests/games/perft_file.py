"""A game's perft.json: the number of move sequences from some of the game's positions.

Each entry has `players`, `options`, the `moves` (ids and outcomes) from the start to the position, a `depth` and the
`count` of sequences of `depth` moves. It can have a `name`.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def _path(game: str) -> Path:
    return Path(__file__).with_name(game) / "perft.json"


def read(game: str) -> list[dict[str, Any]]:
    """Return the entries of a game."""
    positions: list[dict[str, Any]] = json.loads(_path(game).read_text(encoding="utf-8"))["positions"]
    return positions


def write(game: str, entries: Sequence[dict[str, Any]]) -> None:
    """Write entries. They must have been counted by the game's reference, not by the kernel."""
    provenance = json.dumps(
        f"Counted by tests/games/{game}/reference.py, which shares nothing with the engine; explicit chance, outcomes "
        "count as moves, whatever their weight. `moves` lead from the beginning to the position."
    )
    lines = ",\n".join(map(json.dumps, entries))
    _path(game).write_text(f'{{"provenance": {provenance}, "positions": [\n{lines}\n]}}\n', encoding="utf-8")
