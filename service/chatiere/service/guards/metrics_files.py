"""The files of the workers' metrics. They preserve the counts of a worker that has died.

With prometheus_client, processes can store their metrics in memory-mapped files of one directory, and another process
reads the files and adds up the metrics. If the disk is full, a write to a mapped page kills the process (SIGBUS).
Therefore a worker's files are fully allocated before the worker starts, in a memory file system if the system has one.
A worker that replaces a dead worker continues its files, so the totals and the number of files stay the same.

The supervisor and its workers hold a lock on their directory. If all of them are killed, the directory has no lock, and
the next server removes it.
"""

import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector, values
from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from chatiere.engine.closing import Closing
from chatiere.service.base.settings import SettingError
from chatiere.service.guards.counts import FileValue

# The size of a file in bytes. It is enough for all values that the labels allow (a test fills a file).
FILE_BYTES = 2**20
# A worker has one file for each kind of metric. The first tuple has the kinds of gauges. Gauges are reset when a
# worker dies. The second tuple has all kinds.
_PRESENT = ("gauge_livesum", "gauge_livemin")
_KINDS = ("counter", "histogram", *_PRESENT)
_MEMORY = Path("/dev/shm")
# The beginning of the names of directories with a lock.
_PREFIX = "chatiere-counts-"


class MetricsFiles(Closing):
    """The files of a server's workers.

    Attributes:
        directory: The directory of the files, for `use_files`.
        lock: A file descriptor that holds the lock on the directory. Workers inherit it.
    """

    def __init__(self) -> None:
        """Create the directory. Raises SettingError if it cannot be created. Use the object in a `with` statement."""
        try:
            in_memory = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)
            parent = _MEMORY if in_memory else Path(tempfile.gettempdir())
            _remove_abandoned(parent)
            self.directory, self.lock = _locked_directory(parent)
        except OSError as error:
            message = f"their metrics need a directory that can be written to, /dev/shm or $TMPDIR: {error.strerror}"
            raise SettingError("workers", message) from error

    def prepare(self, worker: int) -> None:
        """Create a worker's missing files. Resets the gauges of a dead worker, but not its totals. Raises OSError."""
        # Do not use prometheus_client's mark_process_dead, because it finds no files when the process has no file
        # descriptors left.
        for kind in _PRESENT:
            self._path(kind, worker).unlink(missing_ok=True)
        try:
            for kind in _KINDS:
                if not (path := self._path(kind, worker)).exists():
                    _create(path)
        except OSError as error:
            needed = len(_KINDS) * FILE_BYTES
            message = f"cannot allocate {needed} bytes in {self.directory.parent} for metrics: {error.strerror}"
            raise OSError(message) from error

    def collector(self) -> Collector:
        """Return a collector that adds up the metrics of all workers."""
        return MultiProcessCollector(None, str(self.directory))  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.directory, ignore_errors=True)
        os.close(self.lock)

    def _path(self, kind: str, worker: int) -> Path:
        return self.directory / f"{kind}_{worker}.db"


def _locked_directory(parent: Path) -> tuple[Path, int]:
    # Return a new directory and a descriptor that holds a shared lock on it. Raises OSError.
    while True:
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        # Try again if a server that starts at the same time removes the directory before it is locked.
        with suppress(FileNotFoundError, BlockingIOError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(lock), directory.stat()):
                    return directory, lock
            except BaseException:
                os.close(lock)
                raise
            os.close(lock)


def _remove_abandoned(parent: Path) -> None:
    for directory in parent.glob(f"{_PREFIX}*"):
        # Skip a directory that belongs to another user, is locked or no longer exists. The file system may not support
        # locks.
        with suppress(OSError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(directory)
            finally:
                os.close(lock)


def _create(path: Path) -> None:
    # Create the file under another name, because a collector must not find a file without a header.
    begun = path.with_suffix(".new")
    with begun.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, FILE_BYTES)
    begun.rename(path)


def _value(file: MmapedDict, key: str) -> FileValue:
    # Return the value of a key. Add the key if it is missing.
    file.read_value(key)  # type: ignore[no-untyped-call]
    # The library's own class needs four times as long for each of a call's six updates: it uses a lock, keys and
    # timestamps. The position of a value is available only from this private attribute.
    place = file._positions[key]
    return FileValue(memoryview(file._m)[place : place + 8].cast("d"))


def use_files(directory: Path, worker: int) -> None:
    """Store the values of all metrics that this process creates from now on in the files of a worker."""
    files: dict[str, MmapedDict] = {}
    lock = threading.Lock()

    def value(kind: str, *key: Any, multiprocess_mode: str = "") -> FileValue:
        if multiprocess_mode:
            kind = f"{kind}_{multiprocess_mode}"
        with lock:
            if kind not in files:
                path = directory / f"{kind}_{worker}.db"
                # Create a new file under another name, because a collector must not find a file without a header.
                begun = path if path.exists() else path.with_suffix(".new")
                files[kind] = MmapedDict(str(begun))  # type: ignore[no-untyped-call]
                begun.rename(path)
            return _value(files[kind], mmap_key(*key))

    values.ValueClass = value


class ProcessesCollector(Collector):
    """Collects metrics of processes (CPU, memory, open files …), labelled by process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Create the collector, without processes."""
        self._collectors: dict[str, ProcessCollector] = {}
        registry.register(self)

    def watch(self, name: str, pid: int) -> None:
        """Watch a process under a name, replacing the previous process of that name."""
        self._collectors = self._collectors | {name: ProcessCollector(pid=lambda: pid, registry=None)}

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of the running processes."""
        metrics: dict[str, Metric] = {}
        for name, collector in self._collectors.items():
            for each in collector.collect():
                metric = metrics.setdefault(each.name, Metric(each.name, each.documentation, each.type))
                for sample in each.samples:
                    metric.add_sample(sample.name, {**sample.labels, "process": name}, sample.value)
        return metrics.values()
