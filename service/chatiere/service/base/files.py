"""Files of tokens, keys and certificates. They are reread when they change and on request."""

import logging
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from prometheus_client import Gauge

from chatiere.service.base.settings import SettingError

_Content = TypeVar("_Content")

_log = logging.getLogger(__name__)

# The minimum number of seconds between two checks of the files for changes.
_INTERVAL = 1.0
# The maximum size of a file, in bytes.
_MOST_BYTES = 16 * 1024 * 1024


def read_file(setting: str, path: Path) -> bytes:
    """Read a regular file of at most 16 MiB. Raises SettingError for `setting`."""
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SettingError(setting, f"cannot read {path}: not a regular file")
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise SettingError(setting, f"cannot read {path}: {error.strerror}") from error
    if len(content) > _MOST_BYTES:
        raise SettingError(setting, f"cannot read {path}: larger than {_MOST_BYTES} bytes")
    return content


def _open_without_waiting(path: str, flags: int) -> int:
    # Do not wait if the file is a FIFO without a writing process.
    return os.open(path, flags | os.O_NONBLOCK)


def read_entries(setting: str, path: Path) -> list[tuple[int, str]]:
    """Return the numbers, from 1, and the lines of a file, without empty lines and comments. Raises SettingError."""
    try:
        lines = read_file(setting, path).decode().splitlines()
    except UnicodeDecodeError as error:
        raise SettingError(setting, f"cannot read {path}: {error}") from error
    entries = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    return [(number, line) for number, line in entries if line and not line.startswith("#")]


class WatchedFiles(Generic[_Content]):
    """The content of files that are reread when they change."""

    def __init__(
        self, name: str, read: Callable[[], _Content], *paths: Path | None, rejected: Gauge | None = None
    ) -> None:
        """Read the files, and watch them for changes from now on.

        Args:
            name: A name for the files in the log.
            read: A function that reads and parses the files.
            paths: The files, or None for no file.
            rejected: A metric that is 1 while the newest content is invalid, and 0 otherwise.

        Raises:
            SettingError: If `read` raises it.
        """
        self._name, self._read = name, read
        self._paths = [path for path in paths if path is not None]
        self._rejected = rejected
        self._lock = threading.Lock()
        self._seen = self._look()
        self._content = read()
        self._tell(False)
        self._due = time.monotonic() + _INTERVAL
        _watched.add(self)

    def current(self) -> _Content:
        """Return the content, after rereading all files if one has changed. Checks at most once a second."""
        if self._have_changed():
            self.reload()
        return self._content

    def reload(self) -> None:
        """Reread the files. If they are invalid, log the error and keep the previous content."""
        with self._lock:
            self._seen = self._look()
        try:
            self._content = self._read()
        except SettingError as error:
            _log.error("cannot reread the %s, keeping the old ones: %s", self._name, error)
            self._tell(True)
        else:
            _log.info("%s reread", self._name)
            self._tell(False)

    def _tell(self, is_rejected: bool) -> None:
        if self._rejected is not None:
            self._rejected.set(is_rejected)

    def _have_changed(self) -> bool:
        with self._lock:
            now = time.monotonic()
            if now < self._due:
                return False
            self._due = now + _INTERVAL
            return self._seen != self._look()

    def _look(self) -> list[tuple[int, ...]]:
        return [_look_at(path) for path in self._paths]


# The files that this process watches.
_watched: WeakSet[WatchedFiles[Any]] = WeakSet()


def reload_files() -> None:
    """Reread all files that this process watches, changed or not."""
    for files in list(_watched):
        files.reload()


def _look_at(path: Path) -> tuple[int, ...]:
    # A replaced file has a different inode. A missing file has no attributes.
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
