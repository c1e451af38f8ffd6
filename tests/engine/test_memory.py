"""Memory of the process: its size, and settings that make glibc keep freed memory and use one heap for all threads."""

import ctypes
import subprocess
import sys
from types import SimpleNamespace

import pytest

from chatiere.engine.memory import (
    _mallinfo,
    allocated_bytes,
    give_back_freed_memory,
    keep_freed_memory,
    resident_bytes,
    share_one_heap,
)


def printed(program: str, *arguments: str) -> str:
    """Run a program in a separate process, where settings can be permanent and no other thread allocates memory."""
    return subprocess.run(
        (sys.executable, "-c", program, *arguments), capture_output=True, text=True, check=True
    ).stdout.strip()


# A program that prints the resident bytes that remain after blocks are freed, and after memory is given back.
KEEPS = """
import sys
from chatiere.engine.memory import allocated_bytes, give_back_freed_memory, keep_freed_memory, resident_bytes
is_set = allocated_bytes() and (sys.argv[1] == "default" or keep_freed_memory())
before = resident_bytes()
blocks = [bytearray(10_000_000) for _ in range(3)]
del blocks
kept = resident_bytes() - before
give_back_freed_memory()
print(f"{kept} {resident_bytes() - before}" if is_set else "")
"""


def test_freed_memory_is_kept_until_it_is_released() -> None:
    if not (found := printed(KEEPS, "keep")):
        pytest.skip("another allocator replaces the C library's")
    kept, left = map(int, found.split())
    assert kept > 25_000_000
    assert left < 5_000_000
    assert int(printed(KEEPS, "default").split()[0]) < 5_000_000


# A program that prints glibc's report of its heaps after several threads have allocated memory.
HEAPS = """
import ctypes, sys, threading
from chatiere.engine.memory import allocated_bytes, share_one_heap
if not (allocated_bytes() and (sys.argv[1] == "default" or share_one_heap())):
    sys.exit()
blocks = []
threads = [threading.Thread(target=lambda: blocks.append(bytearray(50_000))) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
library = ctypes.CDLL(None)
library.fdopen.restype = ctypes.c_void_p
output = ctypes.c_void_p(library.fdopen(1, b"w"))
library.malloc_info(0, output)
library.fflush(output)
"""


def test_threads_share_a_heap() -> None:
    if not (found := printed(HEAPS, "share")):
        pytest.skip("another allocator replaces the C library's")
    assert found.count("<heap nr=") == 1
    assert printed(HEAPS, "default").count("<heap nr=") > 1


def test_a_library_that_refuses_the_settings_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(mallopt=lambda number, value: 0))
    assert keep_freed_memory() is False
    assert share_one_heap() is False


@pytest.mark.parametrize("failure", [AttributeError, OSError, TypeError])
def test_other_libraries_are_not_changed(monkeypatch: pytest.MonkeyPatch, failure: type[Exception]) -> None:
    def load(name: None) -> None:
        raise failure

    _mallinfo.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", load)
    assert keep_freed_memory() is False
    assert share_one_heap() is False
    assert allocated_bytes() is None
    give_back_freed_memory()


TAKES = """
from chatiere.engine.memory import allocated_bytes
before = allocated_bytes()
block = bytearray(10_000_000)
during = allocated_bytes()
print("" if before is None else during - before)
"""


def test_the_allocated_bytes_are_reported() -> None:
    if not (found := printed(TAKES)):
        pytest.skip("another allocator replaces the C library's")
    assert 10_000_000 <= int(found) < 11_000_000


def test_the_size_of_the_process_is_reported() -> None:
    before = resident_bytes()
    block = bytearray(50_000_000)
    assert before + 40_000_000 < resident_bytes() < before + 60_000_000
    del block
