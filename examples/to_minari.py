"""Write a data set of `chatiere selfplay` as a data set of Minari, for offline reinforcement learning.

chatiere selfplay --game discat --games 1000 --bots random,largest --output games
python to_minari.py games chatiere/discat/mixed-v0

An episode contains the decisions of one seat in one game, as in SeatEnv. `infos["action_mask"]` has the legal actions.
Needs chatiere[data], chatiere[gymnasium], minari[hdf5] and Pillow, which Minari imports.
"""

import argparse
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import gymnasium
import minari
import numpy as np
from minari.data_collector import EpisodeBuffer
from pyarrow import parquet

from chatiere import engine

COLUMNS = ["game", "actor", "bot", "observation", "legal_ids", "action", "return", "final_observation"]


def episode(rows: list[dict[str, Any]], number: int, actions: int) -> EpisodeBuffer:
    """Return a seat's decisions as an episode. Its last observation is that of the end of the game."""
    last = len(rows) - 1
    mask = np.zeros((len(rows) + 1, actions), np.int8)
    for row, each in zip(mask, rows, strict=False):
        row[each["legal_ids"]] = 1
    return EpisodeBuffer(
        id=number,
        observations=np.array([*(each["observation"] for each in rows), rows[last]["final_observation"]], np.uint8),
        actions=np.array([each["action"] for each in rows], np.int64),
        rewards=[each["return"] if index == last else 0.0 for index, each in enumerate(rows)],
        terminations=[index == last for index in range(len(rows))],
        truncations=[False] * len(rows),
        infos={"action_mask": mask},
    )


def episodes(folder: Path, bot: int | None, actions: int) -> Iterator[EpisodeBuffer]:
    """Generate the episodes of all seats, or of the seats of one bot, one shard of games at a time."""
    number = 0
    for path in sorted((folder / "games").glob("*.parquet")):
        rows = parquet.read_table(path, columns=COLUMNS).to_pylist()
        rows.sort(key=lambda row: (row["game"], row["actor"]))
        for _, found in groupby(rows, lambda row: (row["game"], row["actor"])):
            of_seat = list(found)
            if bot is None or of_seat[0]["bot"] == bot:
                yield episode(of_seat, number, actions)
                number += 1


def main() -> None:
    """Write the data set."""
    parser = argparse.ArgumentParser(description="Write a data set of `chatiere selfplay` as a data set of Minari.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("dataset_id", help="such as chatiere/discat/mixed-v0")
    parser.add_argument("--bot", type=int, help="only the decisions of this bot: its index in manifest.json")
    given = parser.parse_args()
    manifest = json.loads((given.folder / "manifest.json").read_text("utf-8"))
    game = engine.game(manifest["game"])
    players = "all bots" if given.bot is None else manifest["bots"][given.bot]
    written = minari.create_dataset_from_buffers(
        given.dataset_id,
        episodes(given.folder, given.bot, game.num_distinct_actions),
        env=gymnasium.make(
            f"chatiere.envs.gymnasium:chatiere/{game.name}-v{manifest['rules_version']}",
            players=manifest["players"],
            options=manifest["options"],
        ),
        algorithm_name=f"{players} of {', '.join(manifest['bots'])}",
        description=f"Self-play in {game.description.title}: {json.dumps(manifest)}",
        requirements=[f"chatiere=={manifest['package_version']}"],
        data_format="hdf5",
    )
    print(f"{written.total_episodes} episodes, {written.total_steps} decisions")


if __name__ == "__main__":
    main()
