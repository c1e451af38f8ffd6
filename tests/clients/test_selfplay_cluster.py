"""Self-play on a Ray cluster gives the games of a single process, even if nodes or workers die."""

import dataclasses
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
import ray.data
from pyarrow import parquet
from ray.cloudpickle import register_pickle_by_value
from ray.cluster_utils import Cluster

from chatiere import engine
from chatiere.selfplay.cluster import TaskError, cluster, play_on_ray
from chatiere.selfplay.dataset import DataSet, Recipe
from chatiere.selfplay.shard_file import GameRange
from chatiere.selfplay.shards import ShardPlayer

pytestmark = pytest.mark.cluster

GAME = engine.games()[0]
RECIPE = Recipe(GAME.name, GAME.min_players, 60, ("random",), seed=5, games_per_shard=5)
STORE = 80 * 2**20


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    """Start a cluster of one node that plays one range at a time, and connect to it."""
    # Nodes cannot import this module.
    register_pickle_by_value(sys.modules[__name__])
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": STORE})
    try:
        with cluster(started.address):
            yield started
    finally:
        started.shutdown()


def in_one_process(directory: Path) -> str:
    data_set = DataSet(directory, RECIPE)
    for games in data_set.missing():
        data_set.add(games, ShardPlayer(RECIPE).play(games))
    return data_set.finish()


def on_ray(directory: Path, play: Callable[[GameRange], bytes]) -> str:
    data_set = DataSet(directory, RECIPE)
    for games, shard in play_on_ray(play, data_set.missing()):
        data_set.add(games, shard)
    return data_set.finish()


class Meeting:
    """A player that, on one node, plays once it may begin. On any other node, it writes the node's id and blocks."""

    def __init__(self, directory: Path, node: str) -> None:
        self._directory = directory
        self._node = node

    def __call__(self, games: GameRange) -> bytes:
        here = ray.get_runtime_context().get_node_id()
        if here != self._node:
            (self._directory / "here").write_text(here)
            signal.pause()
        # This blocks until the pipe is opened for writing.
        (self._directory / "begin").open().close()
        return ShardPlayer(RECIPE).play(games)


# Ray Data sets some of its own options that it calls deprecated.
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context")
@pytest.mark.usefixtures("nodes")
def test_ray_data_reads_it(tmp_path: Path) -> None:
    # This test runs before tests in which nodes die, because Ray assigns work to a dead node until it detects its
    # death.
    in_one_process(tmp_path)
    read = ray.data.read_parquet(str(tmp_path / "games")).take_all()
    rows = parquet.read_table(tmp_path / "games").to_pylist()
    for row, expected in zip(sorted(read, key=lambda row: (row["game"], row["ply"])), rows, strict=True):
        for key in ("game", "ply", "actor", "bot", "observation", "legal_ids", "action", "value", "return"):
            assert row[key] == expected[key]


def test_a_node_that_is_killed_costs_only_its_tasks(nodes: Cluster, tmp_path: Path) -> None:
    doomed = nodes.add_node(num_cpus=1, object_store_memory=STORE)
    for name in ("here", "begin"):
        os.mkfifo(tmp_path / name)
    held = []

    def kill() -> None:
        assert (tmp_path / "here").read_text() == doomed.node_id
        nodes.remove_node(doomed, allow_graceful=False)
        held.append((tmp_path / "begin").open("w"))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    head: Any = nodes.head_node
    hashed = on_ray(tmp_path / "ray", Meeting(tmp_path, head.node_id))
    killer.join()
    for file in held:
        file.close()
    assert not nodes.worker_nodes
    assert hashed == in_one_process(tmp_path / "one")
    same = [(tmp_path / name / "manifest.json").read_bytes() for name in ("ray", "one")]
    assert same[0] == same[1]


class First:
    """A player that calls a function when it first plays the first games, and otherwise only plays."""

    def __init__(self, directory: Path, act: Callable[[], None]) -> None:
        self._mark = directory / "mark"
        self._act = act

    def __call__(self, games: GameRange) -> bytes:
        if games.first == 0 and not self._mark.exists():
            self._mark.touch()
            self._act()
        return ShardPlayer(RECIPE).play(games)


def kill_worker() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def raise_error() -> None:
    raise MemoryError("no room on the sofa")


@pytest.mark.usefixtures("nodes")
def test_a_range_is_played_again(tmp_path: Path, address: str) -> None:
    expected = in_one_process(tmp_path / "one")
    plays: tuple[Callable[[GameRange], bytes], ...] = (
        First(tmp_path, kill_worker),
        First(tmp_path, raise_error),
        ShardPlayer(RECIPE, address, batch=2).play,
    )
    for number, play in enumerate(plays):
        (tmp_path / "mark").unlink(missing_ok=True)
        assert on_ray(tmp_path / str(number), play) == expected


@pytest.mark.usefixtures("nodes")
def test_a_bot_in_a_file_is_sent_to_the_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot is created here, so that nodes need neither its file nor the data that it read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weights.txt").write_text("1")
    code = """\
from pathlib import Path

from chatiere.bots import Bot


class Agent(Bot):
    is_reproducible = True

    def __init__(self, weights):
        self.place = int(Path(weights).read_text())

    def choose(self, decisions):
        return decisions.legal_ids[decisions.legal_offsets[1:] - self.place]
"""
    (tmp_path / "mybot.py").write_text(code)
    recipe = dataclasses.replace(RECIPE, bots=("mybot.py:Agent:weights=weights.txt", "random"))
    here, player = ShardPlayer(recipe).play(recipe.shards()[0]), ShardPlayer(recipe)
    for name in ("mybot.py", "weights.txt"):
        (tmp_path / name).unlink()
    played = dict(play_on_ray(player.play, recipe.shards()))
    assert len(played) == 12
    assert played[recipe.shards()[0]] == here


def dies(games: GameRange) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def raises(games: GameRange) -> bytes:
    raise MemoryError(f"no room for {games}")


@pytest.mark.usefixtures("nodes")
@pytest.mark.parametrize(
    ("play", "message"),
    [(dies, "WorkerCrashedError: "), (raises, "MemoryError: no room for games 10 to 14")],
)
def test_a_range_that_fails_repeatedly_is_named(play: Callable[[GameRange], bytes], message: str) -> None:
    with pytest.raises(TaskError, match=f"games 10 to 14 failed 4 times, at last with: {message}"):
        list(play_on_ray(play, [GameRange(10, 5)]))


def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'chatiere\[ray\]'"), cluster("local"):
        pass


@pytest.mark.parametrize("wrong", ["", "nonsense", "host:", ":1", "host:port", "host:65536", "ray://host"])
def test_an_invalid_address_is_refused(wrong: str) -> None:
    with pytest.raises(ConnectionError, match=r"HOST:PORT, .* auto or local, not"), cluster(wrong):
        pass


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_without_a_cluster_at_an_address_the_error_names_it(scheme: str) -> None:
    with socket.socket() as taken:
        # The socket is bound, but does not listen.
        taken.bind(("127.0.0.1", 0))
        nobody = f"{scheme}127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConnectionError, match=f"no Ray cluster responds at {nobody}: "), cluster(nobody):
            pass
