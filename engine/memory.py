"""How this process's memory is managed, for those who handle batches by the thousand."""

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

# glibc's numbers of these settings (malloc.h).
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
# The largest that glibc takes; allocations above it go back to the system at once.
_LARGEST_KEPT = 32 * 1024 * 1024


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory for the next allocation instead of giving it back to the system.

    Left alone, glibc returns the large blocks that batches are made of, and gets them anew page by page: that can cost
    more than the moves. To be called once, at the start of a process. Returns whether the C library has such settings.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _LARGEST_KEPT) and mallopt(_M_TRIM_THRESHOLD, 2 * _LARGEST_KEPT))


def share_one_heap() -> bool:
    """Let all threads allocate from one heap: what is free at the ends of others never goes back to the system.

    To be called once, before there are threads. Returns whether the C library has such a setting.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1))
    except (AttributeError, OSError, TypeError):
        return False


def give_back_freed_memory() -> None:
    """Return all memory to the system that has been freed, as far as the C library can."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return


class _Usage(ctypes.Structure):
    # struct mallinfo2 (malloc.h).
    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    )


def allocated_bytes() -> int | None:
    """Bytes that are allocated from the C library's heap and mapped blocks now; None where it does not tell.

    Python's own small objects are not among them.
    """
    try:
        mallinfo: Callable[[], _Usage] = ctypes.CDLL(None).mallinfo2
        mallinfo.restype = _Usage  # type: ignore[attr-defined]
        usage = mallinfo()
    except (AttributeError, OSError, TypeError):
        return None
    # Another allocator in the C library's place, such as the sanitizers', leaves everything at zero.
    return int(usage.uordblks + usage.hblkhd) or None


def resident_bytes() -> int:
    """Bytes of this process that are in memory; 0 where the system does not tell as Linux does."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
