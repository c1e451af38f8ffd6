"""The files of the workers' metrics, so that no counted call is lost when a worker dies.

prometheus_client lets processes keep their metrics in memory-mapped files of one directory, which another process
reads and adds up. A write to such a page ends the process (SIGBUS) if the disk is full. So every file is fully
allocated before any worker starts, in memory where there is a file system for that. A worker that replaces a dead one
continues its files: the totals stay, and so does the number of files.
"""

import os
import shutil
import tempfile
import threading
from collections.abc import Iterable
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

# The size of a file, enough for all values that the labels allow (a test fills them).
FILE_BYTES = 2**20
# A worker's files, one per kind of metric: those of present values (gauges), and all.
_PRESENT = ("gauge_livesum", "gauge_livemin")
_KINDS = ("counter", "histogram", *_PRESENT)
_MEMORY = Path("/dev/shm")


class MetricsFiles(Closing):
    """The files of a number of workers; `directory`: their directory, for `use_files`."""

    def __init__(self, workers: int) -> None:
        """Create the files; use in a `with` statement. Raises SettingError if the disk is full."""
        in_memory = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)
        parent = _MEMORY if in_memory else Path(tempfile.gettempdir())
        try:
            self.directory = Path(tempfile.mkdtemp(prefix="chatiere-metrics-", dir=parent))
            for worker in range(workers):
                self.prepare(worker)
        except OSError as error:
            self.close()
            needed = workers * len(_KINDS) * FILE_BYTES
            raise SettingError(
                "workers", f"cannot allocate {needed} bytes in {parent} for metrics: {error.strerror}"
            ) from error

    def prepare(self, worker: int) -> None:
        """Create a worker's missing files. Raises OSError."""
        for kind in _KINDS:
            if not (path := self._path(kind, worker)).exists():
                _create(path)

    def forget_present(self, worker: int) -> None:
        """Reset the gauges of a dead worker; its totals stay. Raises OSError."""
        # prometheus_client's mark_process_dead finds no file when the process has no descriptors left.
        for kind in _PRESENT:
            self._path(kind, worker).unlink(missing_ok=True)
        self.prepare(worker)

    def collector(self) -> Collector:
        """Return a collector that adds up the metrics of all workers."""
        return MultiProcessCollector(None, str(self.directory))  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Remove the files."""
        if hasattr(self, "directory"):
            shutil.rmtree(self.directory, ignore_errors=True)

    def _path(self, kind: str, worker: int) -> Path:
        return self.directory / f"{kind}_{worker}.db"


def _create(path: Path) -> None:
    # Whoever collects them meanwhile must not find a file without its beginning.
    begun = path.with_suffix(".new")
    with begun.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, FILE_BYTES)
    begun.rename(path)


def _value(file: MmapedDict, key: str) -> FileValue:
    # Find a value, or add it.
    file.read_value(key)  # type: ignore[no-untyped-call]
    # The library's own class takes four times as long for each of a call's six changes: a lock, keys, timestamps.
    # Where a value lies, the file tells only here.
    place = file._positions[key]
    return FileValue(memoryview(file._m)[place : place + 8].cast("d"))


def use_files(directory: Path, worker: int) -> None:
    """Keep the values of all metrics that this process creates from now on in a worker's files."""
    files: dict[str, MmapedDict] = {}
    lock = threading.Lock()

    def value(kind: str, *key: Any, multiprocess_mode: str = "") -> FileValue:
        if multiprocess_mode:
            kind = f"{kind}_{multiprocess_mode}"
        with lock:
            if kind not in files:
                path = directory / f"{kind}_{worker}.db"
                # Whoever collects them meanwhile must not find a file without its beginning.
                begun = path if path.exists() else path.with_suffix(".new")
                files[kind] = MmapedDict(str(begun))  # type: ignore[no-untyped-call]
                begun.rename(path)
            return _value(files[kind], mmap_key(*key))

    values.ValueClass = value


class ProcessesCollector(Collector):
    """Collects metrics of processes (CPU, memory, open files …), labelled by process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Watch no process yet."""
        self._collectors: dict[str, ProcessCollector] = {}
        registry.register(self)

    def watch(self, name: str, pid: int) -> None:
        """Watch a process under a name, replacing the one that had it before."""
        self._collectors = self._collectors | {name: ProcessCollector(pid=lambda: pid, registry=None)}

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of the processes that run."""
        metrics: dict[str, Metric] = {}
        for name, collector in self._collectors.items():
            for each in collector.collect():
                metric = metrics.setdefault(each.name, Metric(each.name, each.documentation, each.type))
                for sample in each.samples:
                    metric.add_sample(sample.name, {**sample.labels, "process": name}, sample.value)
        return metrics.values()
