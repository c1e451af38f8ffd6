"""A short run of the fuzzer of conversations, which is a program in C."""

import re
import resource
import subprocess
from pathlib import Path

import pytest

# Without libnghttp2 there is nothing to build it of.
server = pytest.importorskip("chatiere.http2.server", reason="the fast door was not built: libnghttp2 was not there")

# Of the tree that is tested: make mutants has others.
ROOT = Path(server.__file__).resolve().parents[3]
CONVERSATIONS = 3_000


def lift_limit() -> None:
    """Let a process have as many addresses as it wants: sanitizers reserve them for terabytes."""
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def run() -> dict[str, int]:
    """Return how often it has done what."""
    command = ["make", "fuzz-http2", "SEED=7", f"COUNT={CONVERSATIONS}", "SECONDS=600"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=lift_limit)
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: int(number) for number, name in re.findall(r"^(\d+) ([a-z ]+)", done.stdout, re.MULTILINE)}


def test_thousands_of_conversations_reach_everything_and_are_the_same_again() -> None:
    counts = run()
    assert counts["conversations"] == CONVERSATIONS
    assert counts["calls"] > CONVERSATIONS / 2
    assert counts["calls"] > counts["calls with faults"]
    assert all(counts.values()), counts
    assert run() == counts
