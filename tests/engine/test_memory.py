"""Keeping freed memory: glibc is configured, and other C libraries are left alone."""

import ctypes
import subprocess
import sys

import pytest

from chatiere.engine.memory import (
    allocated_bytes,
    give_back_freed_memory,
    keep_freed_memory,
    resident_bytes,
    share_one_heap,
)


class Library:
    """A C library that accepts settings, or refuses them."""

    def __init__(self, takes: bool) -> None:
        self.settings: dict[int, int] = {}
        self.takes = takes

    def mallopt(self, number: int, value: int) -> int:
        self.settings[number] = value
        return int(self.takes)


@pytest.mark.parametrize("takes", [True, False])
def test_large_blocks_and_the_end_of_the_heap_are_kept(monkeypatch: pytest.MonkeyPatch, takes: bool) -> None:
    library = Library(takes)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    assert keep_freed_memory() is takes
    # M_MMAP_THRESHOLD and M_TRIM_THRESHOLD in malloc.h.
    expected = {-3: 32 * 1024 * 1024, -1: 64 * 1024 * 1024}
    assert library.settings == (expected if takes else {-3: expected[-3]})


@pytest.mark.parametrize("failure", [AttributeError, OSError, TypeError])
def test_other_libraries_are_left_alone(monkeypatch: pytest.MonkeyPatch, failure: type[Exception]) -> None:
    def load(name: None) -> None:
        raise failure

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert keep_freed_memory() is False
    assert share_one_heap() is False
    assert allocated_bytes() is None
    give_back_freed_memory()


# Printed by a process of its own, in which no thread of another test takes or gives back memory meanwhile.
TAKES = """
from chatiere.engine.memory import allocated_bytes
before = allocated_bytes()
block = bytearray(10_000_000)
during = allocated_bytes()
print("" if before is None else during - before)
"""


def test_what_is_allocated_is_told() -> None:
    done = subprocess.run((sys.executable, "-c", TAKES), capture_output=True, text=True, check=True)
    if not done.stdout.strip():
        pytest.skip("another allocator is in the C library's place")
    assert 10_000_000 <= int(done.stdout) < 11_000_000


def test_the_size_of_the_process_is_told() -> None:
    before = resident_bytes()
    block = bytearray(50_000_000)
    assert before + 40_000_000 < resident_bytes() < before + 60_000_000
    del block


def test_threads_share_a_heap(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(takes=True)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    assert share_one_heap()
    # M_ARENA_MAX in malloc.h.
    assert library.settings == {-8: 1}
