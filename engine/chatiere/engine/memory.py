"""Memory management of the process, for programs that handle thousands of batches."""

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

# The numbers of parameters of glibc's mallopt (malloc.h).
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
# The largest threshold that glibc accepts. Larger blocks are returned to the system as soon as they are freed.
_MAX_KEPT = 32 * 1024 * 1024


def keep_freed_memory() -> bool:
    """Configure the C library to keep freed memory for later allocations instead of returning it to the system.

    By default, glibc returns the large blocks that batches use, and maps them again page by page. Mapping blocks can
    need more time than making the moves. The setting applies to the whole process and replaces previous settings of
    malloc. Further calls have no effect.

    Returns:
        True on success. False if the C library does not have these settings.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _MAX_KEPT) and mallopt(_M_TRIM_THRESHOLD, 2 * _MAX_KEPT))


def share_one_heap() -> bool:
    """Make all threads allocate from one heap.

    With several heaps, the C library returns free memory at the end of a heap to the system only for the main heap.
    Call this function once, before threads are started.

    Returns:
        True on success. False if the C library does not have this setting.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1))
    except (AttributeError, OSError, TypeError):
        return False


def give_back_freed_memory() -> None:
    """Return freed memory to the system, if the C library supports it."""
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


@cache
def _mallinfo() -> Callable[[], _Usage]:
    # Loading the library takes several hundred times as long as calling the function.
    mallinfo: Callable[[], _Usage] = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _Usage  # type: ignore[attr-defined]
    return mallinfo


def allocated_bytes() -> int | None:
    """Return the number of bytes currently allocated from the C library's heap and as mapped blocks.

    Returns:
        The number of bytes, without Python's own small objects. None if the C library does not report the number.
    """
    try:
        usage = _mallinfo()()
    except (AttributeError, OSError, TypeError):
        return None
    # All fields are zero if another allocator (for example a sanitizer's) replaces the C library's allocator.
    return int(usage.uordblks + usage.hblkhd) or None


def resident_bytes() -> int:
    """Return the resident set size of this process in bytes, or 0 on systems without Linux's /proc."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
