"""How this process's memory is managed, for those who handle batches by the thousand."""

import ctypes

# glibc's numbers of these settings (malloc.h).
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
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
