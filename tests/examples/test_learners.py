"""The examples that learn and tune, run with a few games."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from tools.needs import needs

from chatiere.bots.network_file import NetworkFile

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).parents[2] / "examples"
# Arguments for a short run.
SHORT = ("--games=4", "--simulations=4", "--warm-up=1", "--final-games=2", "--iterations=2", "--measure-every=1")


def run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    # Run the program in a separate process, because JAX starts threads and warns about forks. Other tests fork.
    asked = [sys.executable, str(EXAMPLES / program), *map(str, arguments)]
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    return subprocess.run(asked, env=environment, capture_output=True, text=True, timeout=600, check=False)


def learned(output: Path) -> tuple[list[str], NetworkFile]:
    # Return the points of the curve without their times, and the network.
    done = run("search_learner.py", *SHORT, "--measure-games=10", f"--output={output}")
    assert done.returncode == 0, done.stderr
    assert imread(output / "curve.png").size
    return [line.split(" s, ")[1] for line in done.stdout.splitlines()], NetworkFile.read(output / "network.net")


def test_a_short_run_prints_its_curve_and_writes_its_network(tmp_path: Path) -> None:
    lines, file = learned(tmp_path)
    assert len(lines) == 9
    assert all(array.any() for name, array in file.weights._asdict().items() if name != "runs")


@pytest.mark.slow
def test_a_seed_gives_the_same_curve(tmp_path: Path) -> None:
    lines, file = learned(tmp_path / "a")
    again, same = learned(tmp_path / "b")
    assert again == lines
    assert np.abs(file.weights.columns.astype(int) - same.weights.columns).max() <= 2


@needs("torch", "tensorboard")
def test_a_learner_in_pytorch_continues_in_the_middle_of_games(tmp_path: Path) -> None:
    script = """
import pickle, ppo
for game in ("discat", "momistigri"):
    run = ppo.Run(game, 64, 10_000, 1)
    run.learn()
    assert run.batch.decisions.any()
    again = pickle.loads(pickle.dumps(run))
    for each in (run, again):
        figures = each.learn()
        assert figures["entropy"] > 0
    assert run.decisions == again.decisions
    assert run.batch.states.tolist() == again.batch.states.tolist()
    for weights, same in zip(run.policy.parameters(), again.policy.parameters(), strict=True):
        assert (weights == same).all()
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=EXAMPLES, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # The second command continues the run, which is over.
    line = r" +\d+ s, [\d,]+ decisions: [\d.]+% \(.*\) against largest\n"
    for expected in (line, ""):
        done = run("ppo.py", "--decisions=1500", "--num-envs=32", f"--output={tmp_path}")
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(expected, done.stdout)
    assert list(tmp_path.glob("events.*"))


@pytest.mark.slow
def test_tuning_is_reproducible() -> None:
    sizes = ("--bot", "flat:playouts=4", "--generations", 1, "--deals", 1, "--final-deals", 2)
    first, again = (run("tune_playouts.py", "discat", *sizes) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == again.stdout
    shares, weights, wins = first.stdout.splitlines()
    assert shares.startswith("generation 1: shares ")
    assert "'pair': " in weights
    assert re.match(r"wins [\d.]+% \([\d.]+% to [\d.]+%\), even 50.0%$", wins)
