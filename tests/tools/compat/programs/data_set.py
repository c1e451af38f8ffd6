"""Write and read a small data set of self-play."""

import tempfile
from pathlib import Path

import pyarrow.parquet

from chatiere.command import main

with tempfile.TemporaryDirectory() as folder:
    games = ["--game", "discat", "--games", "20", "--bots", "random,largest"]
    main(["selfplay", *games, "--output", folder], standalone_mode=False)
    table = pyarrow.parquet.read_table(Path(folder) / "games")
    assert len(set(table["game"].to_pylist())) == 20
