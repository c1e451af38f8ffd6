"""The number of connections that a process may have, divided among its doors so that none affects another."""

import os
import resource

# File descriptors for other purposes than connections; the idle process has about forty.
_OTHERS = 128
# The largest and smallest number of connections of a door.
_MAX_CONNECTIONS, _MIN_CONNECTIONS = 10_000, 16


def connections_of(doors: int) -> int:
    """Return the number of connections that each of `doors` doors may have, given the limit on open files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(max((files - _OTHERS) // doors, _MIN_CONNECTIONS), _MAX_CONNECTIONS)


def open_files() -> int:
    """Return the number of open files of the process, including connections; takes some microseconds per file."""
    return len(os.listdir("/dev/fd"))


def raise_limit() -> tuple[int, int]:
    """Raise the limit on open files of the process and its children to the maximum; return the old and new limit."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return before, most
