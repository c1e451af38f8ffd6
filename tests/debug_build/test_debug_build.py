"""The debug build detects the intended kinds of faults. `make debug` runs this file with the sanitizers loaded."""

import subprocess
import sys

import pytest

from chatiere import engine


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run a snippet in a separate process with the same environment."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_engine_under_test_is_the_debug_build() -> None:
    assert "build/debug" in engine.__file__


@pytest.mark.parametrize(
    ("harmless", "faulty", "finding"),
    [
        ("overflow(1)", "overflow(2**31 - 1)", "signed integer overflow"),
        ("index_past_end(5)", "index_past_end(6)", "index 6 out of bounds"),
    ],
)
def test_a_planted_fault_of_arithmetic_or_index_is_caught(harmless: str, faulty: str, finding: str) -> None:
    assert run(f"import planted_faults; planted_faults.{harmless}").returncode == 0
    broken = run(f"import planted_faults; planted_faults.{faulty}")
    assert broken.returncode != 0
    assert finding in broken.stderr


def test_a_planted_overread_of_a_packed_state_is_caught() -> None:
    snippet = (
        "import planted_faults; from chatiere import engine; "
        "packed = engine.games()[0].new_game(2, seed=1).pack(); planted_faults.overread(packed)"
    )
    broken = run(snippet)
    assert broken.returncode != 0
    assert "heap-buffer-overflow" in broken.stderr
    assert "overread" in broken.stderr


def test_a_state_that_breaks_an_invariant_stops_the_process() -> None:
    # The debug build contains the assertion, so an invalid state after a move is detected immediately.
    broken = run("import planted_faults; planted_faults.break_an_invariant()")
    assert broken.returncode != 0
    assert "Assertion" in broken.stderr
