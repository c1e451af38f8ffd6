"""A network is trained briefly, and plays."""

import tempfile
from pathlib import Path

from chatiere.command import main

with tempfile.TemporaryDirectory() as folder:
    sizes = ["--decisions", "2000", "--games", "16", "--measure-games", "10"]
    main(["train", "--game", "discat", *sizes, "--output", folder], standalone_mode=False)
    bots = f"net:{Path(folder) / 'network.net'},random"
    main(["selfplay", "--game", "discat", "--games", "10", "--bots", bots], standalone_mode=False)
