"""examples/to_minari.py converts a data set of self-play. The episodes are those of SeatEnv."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from pyarrow import parquet

from chatiere import engine
from chatiere.command import main

PROGRAM = Path(__file__).parents[4] / "examples" / "to_minari.py"

with tempfile.TemporaryDirectory() as folder:
    os.environ["MINARI_DATASETS_PATH"] = folder
    import minari

    games = f"{folder}/games"
    asked = f"selfplay --game discat --games 20 --bots random,largest --shard 8 --output {games}"
    main(asked.split(), standalone_mode=False)
    for name, *options in (["mixed"], ["largest", "--bot=1"]):
        subprocess.run([sys.executable, PROGRAM, games, f"chatiere/discat/{name}-v0", *options], check=True)
    largest = minari.load_dataset("chatiere/discat/largest-v0")
    assert largest.total_episodes == 20
    mixed = minari.load_dataset("chatiere/discat/mixed-v0")
    env = mixed.recover_environment()
    assert env.spec is not None
    assert env.spec.id == "chatiere/discat-v1"
    assert (mixed.observation_space, mixed.action_space) == (env.observation_space, env.action_space)
    rows = parquet.read_table(f"{games}/games").to_pylist()
    assert (mixed.total_episodes, mixed.total_steps) == (40, len(rows))
    actions = engine.game("discat").num_distinct_actions
    for episode in mixed.iterate_episodes():
        own = [row for row in rows if (row["game"], row["actor"]) == divmod(episode.id, 2)]
        assert episode.actions.tolist() == [row["action"] for row in own]
        assert episode.observations[:-1].tolist() == [row["observation"] for row in own]
        assert episode.observations[-1].tolist() == own[-1]["final_observation"]
        assert episode.rewards.tolist() == [0] * (len(own) - 1) + [own[-1]["return"]]
        assert episode.terminations.tolist() == [False] * (len(own) - 1) + [True]
        assert not episode.truncations.any()
        mask = episode.infos["action_mask"]
        assert [np.flatnonzero(row).tolist() for row in mask] == [*(row["legal_ids"] for row in own), []]
        assert mask.shape == (len(own) + 1, actions)
