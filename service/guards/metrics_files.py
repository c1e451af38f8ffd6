"""Where workers keep their figures, so that no counted call is lost when one of them dies.

prometheus_client lets processes keep their figures in memory-mapped files of one directory, which another process reads
and adds up. A write to such a page ends the process (SIGBUS) if the disk has no room for it. So every file is allocated
whole before there are workers, in memory where there is a file system for that. A worker that takes a dead one's place
goes on with its files: totals stay, and the number of files with them.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry, ProcessCollector, values
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from chatiere.service.process.settings import SettingError

# The size of a file, enough for all values that the labels allow (a test fills them).
FILE_BYTES = 2**20
# The files of a worker, one a kind of metric: those that tell of the present, and all.
_PRESENT = ("gauge_livesum",)
_KINDS = ("counter", "histogram", *_PRESENT)
_MEMORY = Path("/dev/shm")


class MetricsFiles:
    """The files of a number of workers.

    `directory`: where they are, for `use_files`.
    """

    def __init__(self, workers: int) -> None:
        """Make them; use it in a `with` statement. Raises SettingError if there is no room."""
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
                "workers", f"their metrics need {needed} bytes in {parent}, which cannot be had: {error.strerror}"
            ) from error

    def prepare(self, worker: int) -> None:
        """Make a worker's files, where they are not there. Raises OSError."""
        for kind in _KINDS:
            with (self.directory / f"{kind}_{worker}.db").open("ab") as file:
                os.posix_fallocate(file.fileno(), 0, FILE_BYTES)

    def forget_present(self, worker: int) -> None:
        """Take out what is no longer true of a worker that is dead (its gauges); its totals stay. Raises OSError."""
        # prometheus_client's mark_process_dead finds no file where the process may open no more.
        for kind in _PRESENT:
            (self.directory / f"{kind}_{worker}.db").unlink(missing_ok=True)
        self.prepare(worker)

    def collector(self) -> Collector:
        """What adds up the figures of all workers."""
        return MultiProcessCollector(None, str(self.directory))  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Remove the files."""
        if hasattr(self, "directory"):
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Remove the files."""
        self.close()


def use_files(directory: Path, worker: int) -> None:
    """Let the metrics that this process makes from now on keep their values in a worker's files."""
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(directory)
    values.ValueClass = values.MultiProcessValue(lambda: worker)  # type: ignore[no-untyped-call]


class ProcessesCollector(Collector):
    """The figures of processes (CPU, memory, open files …), with a label that tells them apart."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """No process yet."""
        self._collectors: dict[str, ProcessCollector] = {}
        registry.register(self)

    def watch(self, name: str, pid: int) -> None:
        """Tell of a process under a name, in place of the one that had the name before."""
        self._collectors = self._collectors | {name: ProcessCollector(pid=lambda: pid, registry=None)}

    def collect(self) -> Iterable[Metric]:
        """The figures of those that run."""
        metrics: dict[str, Metric] = {}
        for name, collector in self._collectors.items():
            for each in collector.collect():
                metric = metrics.setdefault(each.name, Metric(each.name, each.documentation, each.type))
                for sample in each.samples:
                    metric.add_sample(sample.name, {**sample.labels, "process": name}, sample.value)
        return metrics.values()
