"""Files that are reread when they change."""

import threading
import time
from pathlib import Path

# Seconds between two checks of the files.
_INTERVAL = 1.0


class WatchedFiles:
    """Watches files for changes."""

    def __init__(self, *paths: Path) -> None:
        """Watch for changes from now on."""
        self._paths = paths
        self._lock = threading.Lock()
        self._seen = self._look()
        self._due = time.monotonic() + _INTERVAL

    def have_changed(self) -> bool:
        """Return True if a file has changed since this last did; check at most once a second."""
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
    # A replaced file has another inode; an absent one has no facts.
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
