"""In simulated runs, the properties of the service above its wires hold. The simulation finds planted faults."""

import subprocess
import sys
from pathlib import Path

import pytest
from tools.over import over

from .planted import FAULTS

pytest.importorskip("redis", reason="the packages of chatiere[redis] are not there")
from .world import simulate

TESTS = Path(__file__).parents[1]
SEEDS = 24


def test_the_properties_hold_in_some_runs() -> None:
    assert [seed for seed in range(1, SEEDS + 1) if simulate(seed)[1] is not None] == []


def test_a_seed_replays_exactly() -> None:
    traces = [simulate(seed)[0] for seed in (1, 2, 1)]
    assert traces[0] == traces[2] != traces[1]
    assert len(traces[0]) > 50
    # The simulation runs again in another process, in which strings have other hashes.
    command = (sys.executable, "-m", "simulate", "--seed", "1")
    other = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=True)
    assert other.stdout.splitlines() == traces[0]


@pytest.mark.long
@over("name", FAULTS)
def test_a_planted_fault_is_found_and_its_seed_replays(name: str) -> None:
    command = (sys.executable, "-m", "simulate.planted", name)
    subprocess.run(command, cwd=TESTS, check=True)
