"""The limit on the connections of a process. Each door has its own share, so that doors do not affect each other."""

import os
import resource

# The number of file descriptors reserved for other purposes. An idle process uses about forty.
_OTHERS = 128
# The maximum and the minimum number of connections of a door.
_MAX_CONNECTIONS, _MIN_CONNECTIONS = 10_000, 16


def connections_of(doors: int) -> int:
    """Return the number of connections that each of `doors` doors may have with the process's limit on open files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(max((files - _OTHERS) // doors, _MIN_CONNECTIONS), _MAX_CONNECTIONS)


def open_files() -> int:
    """Return the number of open files of the process, including connections. Takes some microseconds per file."""
    return len(os.listdir("/dev/fd"))


def raise_limit() -> tuple[int, int]:
    """Raise the process's limit on open files to the maximum. Return the old and the new limit."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return before, most
