"""The examples that learn, for a few games."""

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
_MEASURED = ("--iterations", 2, "--measure-every", 1, "--measure-games", 10)
# The programs, and the sizes of a short run.
SHORT: dict[str, tuple[object, ...]] = {
    "ppo.py": ("--game", "momistigri", "--games", 8, *_MEASURED),
    "search_learner.py": ("--games", 4, "--simulations", 4, "--warm-up", 1, "--final-games", 2, *_MEASURED),
}


def run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    # In a process of its own: JAX warns when a process forks that it has started threads in, as other tests do.
    asked = [sys.executable, str(EXAMPLES / program), *map(str, arguments)]
    return subprocess.run(
        asked, env=os.environ | {"JAX_PLATFORMS": "cpu"}, capture_output=True, text=True, timeout=300, check=False
    )


def learned(program: str, output: Path, *arguments: object) -> tuple[list[str], dict[str, np.ndarray]]:
    # The points of the curve without their times, and the network.
    done = run(program, *arguments, "--output", output)
    assert done.returncode == 0, done.stderr
    assert (output / "curve.png").read_bytes().startswith(b"\x89PNG")
    with np.load(output / "policy.npz") as parameters:
        return [line.split(" s, ")[1] for line in done.stdout.splitlines()], dict(parameters)


@pytest.mark.slow
def test_ppo_learns(tmp_path: Path) -> None:
    sizes = ["--iterations", 4, "--games", 512, "--measure-every", 4, "--measure-games", 500]
    lines, parameters = learned("ppo.py", tmp_path, *sizes)
    assert [line.split(" games: ")[0].strip() for line in lines] == ["0", "0", "2048", "2048"]
    assert [line.split(" against ")[1].split()[0] for line in lines] == ["random", "largest"] * 2
    # Against random; the intervals do not overlap.
    before, after = (list(map(float, re.findall(r"([\d.]+)%", line))) for line in lines[::2])
    assert before[2] < after[1]
    assert all(values.any() for values in parameters.values())


@pytest.mark.parametrize("program", SHORT)
def test_a_short_run_says_and_writes_what_it_learned(program: str, tmp_path: Path) -> None:
    lines, parameters = learned(program, tmp_path, *SHORT[program])
    assert len(lines) >= 4
    assert all(values.any() for values in parameters.values())


@pytest.mark.slow
@pytest.mark.parametrize("program", SHORT)
def test_a_seed_gives_the_same_curve(program: str, tmp_path: Path) -> None:
    lines, parameters = learned(program, tmp_path / "a", *SHORT[program])
    again, same = learned(program, tmp_path / "b", *SHORT[program])
    assert again == lines
    assert all(np.allclose(same[name], values, atol=1e-5) for name, values in parameters.items())


@pytest.mark.slow
def test_weights_are_tuned_by_games_and_a_seed() -> None:
    sizes = ("--bot", "flat:playouts=4", "--generations", 1, "--deals", 1, "--final-deals", 2)
    first, again = (run("tune_playouts.py", "discat", *sizes) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == again.stdout
    shares, weights, wins = first.stdout.splitlines()
    assert shares.startswith("generation 1: shares ")
    assert "'pair': " in weights
    assert re.match(r"wins [\d.]+% \([\d.]+% to [\d.]+%\), even 50.0%$", wins)


def test_ppo_says_which_players_there_can_be() -> None:
    done = run("ppo.py", "--game", "chat_perche", "--players", 3, "--output", "unused")
    assert done.returncode == 2
    assert "Invalid value for --players" in done.stderr


# What follows needs no computation by JAX, so it may run in this process.


@pytest.fixture(scope="module", autouse=True)
def importable() -> Iterator[None]:
    """Let the examples be imported, as they import each other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        yield


@pytest.fixture(scope="module")
def ppo(importable: None) -> ModuleType:
    """Return the module."""
    return importlib.import_module("ppo")


@pytest.fixture(scope="module")
def network(importable: None) -> ModuleType:
    """Return the module."""
    return importlib.import_module("network")


def test_advantages_are_sums_over_the_decisions_of_a_seat(ppo: ModuleType) -> None:
    random = np.random.default_rng(1)
    returns = random.normal(size=(5, 3)).astype(np.float32)
    steps = []
    for length in range(12):
        # Some games end before others.
        numbers = np.arange(max(1, 5 - length // 3), dtype=np.uint64)
        empty = np.empty((len(numbers), 0))
        actors = random.integers(0, 3, len(numbers)).astype(np.int8)
        values = random.normal(size=len(numbers)).astype(np.float32)
        steps.append(ppo.Step(numbers, actors, empty, empty, empty, empty, values))
    found = ppo.advantages(steps, returns)
    for game, seat in np.ndindex(5, 3):
        own = [
            (place, step) for place, step in enumerate(steps) if game < len(step.actors) and step.actors[game] == seat
        ]
        gains = np.diff([step.values[game] for _, step in own] + [returns[game, seat]])
        for number, (place, _) in enumerate(own):
            later = gains[number:]
            assert found[place][game] == pytest.approx(later @ ppo.TRACE ** np.arange(len(later)), abs=1e-5)


def test_decisions_are_gathered_with_the_returns_from_the_actor_on(ppo: ModuleType) -> None:
    returns = np.array([[2, -1, -1], [-1, -1, 2]], np.float32)
    numbers, actors, values = np.array([0, 1], np.uint64), np.array([2, 1], np.int8), np.zeros(2, np.float32)
    column = np.arange(2)
    step = ppo.Step(numbers, actors, column[:, None], column[:, None] > 0, column, values, values)
    experience = ppo.experience_of([step, step._replace(actors=np.array([0, 2], np.int8))], returns)
    assert experience.returns.tolist() == [[-1, 2, -1], [-1, 2, -1], [2, -1, -1], [2, -1, -1]]
    assert experience.actions.tolist() == [0, 1, 0, 1]
    assert experience.rows(np.array([3])).returns.tolist() == [[2, -1, -1]]


@pytest.mark.parametrize("count", [1, 9, 10, 11, 95])
def test_minibatches_have_every_row(network: ModuleType, count: int) -> None:
    rows = network.minibatches(count, 10, np.random.default_rng(1))
    assert rows.shape == (-(-count // 10), 10)
    assert sorted(rows.ravel()[:count]) == list(range(count))
