"""A short run of the fuzzer of conversations, which is a program in C."""

import re
import subprocess
from pathlib import Path

import pytest

# Without libnghttp2 there is nothing to build it of.
pytest.importorskip("chatiere.http2.server", reason="the fast door was not built: libnghttp2 was not there")

ROOT = Path(__file__).parents[2]
CONVERSATIONS = 3_000


def run() -> dict[str, int]:
    """Return how often it has done what."""
    command = ["make", "fuzz-http2", "SEED=7", f"COUNT={CONVERSATIONS}", "SECONDS=600"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: int(number) for number, name in re.findall(r"^(\d+) ([a-z ]+)", done.stdout, re.MULTILINE)}


def test_thousands_of_conversations_reach_everything_and_are_the_same_again() -> None:
    counts = run()
    assert counts["conversations"] == CONVERSATIONS
    assert counts["calls"] > CONVERSATIONS / 2
    assert counts["calls"] > counts["calls with faults"]
    assert all(counts.values()), counts
    assert run() == counts
