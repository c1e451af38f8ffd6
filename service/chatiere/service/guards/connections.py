"""The connections that a process may have: each door has a share, so that none takes another's."""

import os
import resource

# Descriptors for all that is no connection: the idle process has some forty.
_OTHERS = 128
# Connections of a door, at most and at least.
_MAX_CONNECTIONS, _MIN_CONNECTIONS = 10_000, 16


def connections_of(doors: int) -> int:
    """Return the connections that each of so many doors may have, as far as the process may open so many files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(max((files - _OTHERS) // doors, _MIN_CONNECTIONS), _MAX_CONNECTIONS)


def open_files() -> int:
    """Return how many files, connections among them, the process has open; it takes some microseconds for each."""
    return len(os.listdir("/dev/fd"))


def raise_limit() -> tuple[int, int]:
    """Let the process, and those that it starts, open as many files as it may; return how many, before and now."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return before, most
