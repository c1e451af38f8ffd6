"""Files that are read again when they change."""

import threading
import time
from pathlib import Path

# Seconds between two looks at the files.
_INTERVAL = 1.0


class WatchedFiles:
    """Tells whether files have changed."""

    def __init__(self, *paths: Path) -> None:
        """Changes count from now on."""
        self._paths = paths
        self._lock = threading.Lock()
        self._seen = self._look()
        self._due = time.monotonic() + _INTERVAL

    def have_changed(self) -> bool:
        """Whether a file has changed since this was last true; looks at them once a second at most."""
        with self._lock:
            now = time.monotonic()
            if now < self._due:
                return False
            self._due = now + _INTERVAL
            seen, self._seen = self._seen, self._look()
            return seen != self._seen

    def _look(self) -> list[tuple[int, ...]]:
        return [_look_at(path) for path in self._paths]


def _look_at(path: Path) -> tuple[int, ...]:
    # A file that is replaced has another inode; an absent one has nothing.
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
