"""A small tournament, with ratings and a picture of them."""

import json
import tempfile
from pathlib import Path

from chatiere.command import main

with tempfile.TemporaryDirectory() as folder:
    bots = ["--game", "discat", "--bots", "random,largest", "--games", "20"]
    main(["arena", *bots, "--output", folder], standalone_mode=False)
    assert json.loads((Path(folder) / "arena.json").read_text())
    assert (Path(folder) / "arena.png").stat().st_size > 0
