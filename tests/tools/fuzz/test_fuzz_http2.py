"""A short run of the fuzzer of conversations, a program in C."""

import importlib
import re
import resource
import subprocess
from pathlib import Path

import pytest

from tools.needs import require

pytestmark = pytest.mark.long

require("libnghttp2")
server = importlib.import_module("chatiere.http2.server")

# The root of the tested tree. `make mutants` has several trees.
ROOT = Path(str(server.__file__)).resolve().parents[3]
CONVERSATIONS = 3_000


def lift_limit() -> None:
    """Remove a process's limit on address space, because sanitizers reserve terabytes."""
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def run() -> dict[str, int]:
    """Run the fuzzer. Return how many times each event happened."""
    command = ["make", "fuzz-http2", "SEED=7", f"COUNT={CONVERSATIONS}", "SECONDS=600"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=lift_limit)
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: int(number) for number, name in re.findall(r"^(\d+) ([a-z ]+)", done.stdout, re.MULTILINE)}


def test_thousands_of_conversations_cover_everything_and_are_reproducible() -> None:
    counts = run()
    assert counts["conversations"] == CONVERSATIONS
    assert counts["calls"] > CONVERSATIONS / 2
    assert counts["calls"] > counts["calls with faults"]
    assert all(counts.values()), counts
    assert run() == counts
