"""Files that are reread when they change."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from prometheus_client import Gauge

from chatiere.service.base.settings import SettingError

_Read = TypeVar("_Read")

_log = logging.getLogger(__name__)

# Seconds between two checks of the files.
_INTERVAL = 1.0


class WatchedFiles:
    """Watches files for changes."""

    def __init__(self, name: str, *paths: Path, rejected: Gauge | None = None) -> None:
        """Watch for changes from now on.

        `name`: of the files together, in the log; `rejected`: is 1 while their newest content is invalid, else 0.
        """
        self._name = name
        self._paths = paths
        self._rejected = rejected
        self._tell(False)
        self._lock = threading.Lock()
        self._seen = self._look()
        self._due = time.monotonic() + _INTERVAL

    def reread(self, read: Callable[[], _Read]) -> _Read | None:
        """Return what `read` makes of the files if one has changed since this last looked, at most once a second.

        None if none has, or if `read` raises SettingError: that is logged, and the caller keeps what it had.
        """
        if not self._have_changed():
            return None
        try:
            found = read()
        except SettingError as error:
            _log.error("cannot reread the %s, keeping the old ones: %s", self._name, error)
            self._tell(True)
            return None
        _log.info("%s reread", self._name)
        self._tell(False)
        return found

    def _tell(self, is_rejected: bool) -> None:
        if self._rejected is not None:
            self._rejected.set(is_rejected)

    def _have_changed(self) -> bool:
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
