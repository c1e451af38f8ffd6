"""chatiere train runs in separate processes, because JAX starts threads and warns if its process forks."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from chatiere import bots
from chatiere.bots import IntegerNetworkBot
from chatiere.bots.network_file import NetworkFile

pytestmark = pytest.mark.long

CHATIERE = str(Path(sys.executable).with_name("chatiere"))
ENVIRONMENT = os.environ | {
    "JAX_PLATFORMS": "cpu",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let runs share a compilation cache, so that JAX compiles once for all runs of the same size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENVIRONMENT, "JAX_COMPILATION_CACHE_DIR", str(tmp_path_factory.mktemp("compiled")))
        yield


def asked(output: Path, **options: object) -> list[str]:
    """Return the command line of a training run."""
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    return [CHATIERE, "train", *given, f"--output={output}"]


def train(output: Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(asked(output, **options), env=ENVIRONMENT, capture_output=True, text=True, check=False)


def points(lines: str) -> list[str]:
    """Return the points of a curve without their times."""
    return [line.split(" s, ")[1].strip() for line in lines.splitlines() if " s, " in line]


def test_a_network_learns_to_beat_random(tmp_path: Path) -> None:
    done = train(tmp_path / "run", game="discat", decisions=50_000, games=256, measure_games=100)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    *_, random, largest, flat, previous, written = lines
    assert written == f"written to {tmp_path / 'run'}"
    # This is the lower end of the interval for 400 games. The network wins nine games of ten.
    low = float(re.findall(r"([\d.]+)%", random)[1])
    assert low > 75
    assert " against random " in random
    assert " against largest " in largest
    assert " against flat:playouts=50 " in flat
    # The first measurement has no previous network.
    assert " against its previous network " in previous
    opponents = [re.findall(r" against (\S+) ", line)[0] for line in lines[:4]]
    assert opponents == ["random", "largest", "flat:playouts=50", "random"]
    path = tmp_path / "run/network.net"
    file = NetworkFile.read(path)
    assert (file.game.name, file.players) == ("discat", 2)
    assert imread(tmp_path / "run/curve.png").size
    card = (tmp_path / "run/card.md").read_text("utf-8")
    assert (
        "- Command: `chatiere train --game discat --players 2 --decisions 50000 --games 256 --measure-games 100 "
        "--seed 1`" in card
    )
    assert f"{path.stat().st_size:,} bytes" in card
    assert card.splitlines()[-2].count("|") == 6
    # A bot that is named as on a command line plays by the network.
    assert isinstance(bots.get(f"net:{path}", "discat", 2), IntegerNetworkBot)


def test_a_best_response_beats_a_weak_network(tmp_path: Path) -> None:
    untrained = tmp_path / "untrained/network.net"
    done = train(untrained.parent, game="discat", decisions=1, games=1, measure_games=1)
    assert done.returncode == 0, done.stderr
    response = {"game": "discat", "decisions": 20_000, "games": 128, "measure_games": 100, "against": untrained}
    done = train(tmp_path / "run", **response)
    assert done.returncode == 0, done.stderr
    first, *_, last = points(done.stdout)
    assert f" against {untrained} alone (" in last
    # The best response begins with the same weights, so it wins about half of the games.
    (_, low, high), (_, least, _) = (map(float, re.findall(r"([\d.]+)%", point)) for point in (first, last))
    assert low < 50 < high
    assert least > 60
    card = (tmp_path / "run/card.md").read_text("utf-8")
    assert f" games against {untrained} alone\n" in card
    assert f" --seed 1 --against {untrained}`\n" in card


SMALL = {"game": "momistigri", "decisions": 3000, "games": 16, "measure_games": 4}


def test_a_stopped_run_can_be_resumed(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", **SMALL)
    assert whole.returncode == 0, whole.stderr
    with subprocess.Popen(
        asked(tmp_path / "stopped", **SMALL), env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        # Wait until the network has learned something.
        for line in process.stdout:
            if not re.search(r" 0 decisions", line):
                break
        # The process can no longer print another point, so it does not end before it is killed.
        process.stdout.close()
        process.kill()
    rest = train(tmp_path / "stopped", **SMALL)
    assert rest.returncode == 0, rest.stderr
    assert points(whole.stdout)[-len(points(rest.stdout)) :] == points(rest.stdout)
    assert len(points(rest.stdout)) < len(points(whole.stdout))
    one, other = (NetworkFile.read(tmp_path / name / "network.net").weights for name in ("whole", "stopped"))
    assert (one.columns != 0).any()
    assert np.abs(one.columns.astype(int) - other.columns).max() <= 2
    # A finished run has no decisions left.
    again = train(tmp_path / "stopped", **SMALL)
    assert (again.returncode, points(again.stdout)) == (0, [])


def test_a_folder_keeps_one_run(tmp_path: Path) -> None:
    done = train(tmp_path, game="discat", decisions=1, games=1, measure_games=2)
    assert done.returncode == 0, done.stderr
    other = train(tmp_path, game="discat", decisions=1, games=1, measure_games=2, seed=2)
    assert other.returncode == 2
    command = "chatiere train --game discat --players 2 --decisions 1 --games 1 --measure-games 2 --seed 1"
    assert other.stderr == f"Error: {tmp_path} has another run: {command}\n"
    (tmp_path / "run.npz").write_bytes(b"no run")
    broken = train(tmp_path, game="discat", decisions=1, games=1, measure_games=2)
    assert broken.returncode == 2
    assert broken.stderr.startswith(f"Error: {tmp_path / 'run.npz'} is no run: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"game": "go"}, "unknown game 'go'"),
        ({"game": "chat_perche", "players": 3}, "chat_perche is for 2 to 2 players"),
        ({"game": "discat", "against": "missing.net"}, "missing.net"),
        (
            {"game": "chat_cartonne", "against": "trained"},
            "trained cannot be played against: there is no trained network for chat_cartonne with 2 players",
        ),
        ({"game": "discat", "decisions": 0}, "Invalid value for '--decisions'"),
    ],
)
def test_invalid_runs_are_refused(options: dict[str, object], message: str, tmp_path: Path) -> None:
    done = train(tmp_path / "unused", **options)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "unused").exists()
