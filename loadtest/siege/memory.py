"""The resident memory of a server's processes, as reported by Linux."""

import re
from pathlib import Path

import psutil

_MIB = 1024  # KiB


class Memory:
    """The resident memory of a supervisor and its worker, in MiB. The keys are "supervisor" and "worker"."""

    def __init__(self, pid: int) -> None:
        """Find the worker of the supervisor `pid`. The worker must be running."""
        (worker,) = psutil.Process(pid).children()
        self._pids = {"supervisor": pid, "worker": worker.pid}

    def forget_peak(self) -> None:
        """Reset the peak to the current sizes."""
        for pid in self._pids.values():
            Path(f"/proc/{pid}/clear_refs").write_text("5")

    def now(self) -> dict[str, float]:
        """Return the current sizes. Raise FileNotFoundError if a process has ended."""
        return self._read("VmRSS")

    def peak(self) -> dict[str, float]:
        """Return the largest sizes since `forget_peak`. Raise FileNotFoundError if a process has ended."""
        return self._read("VmHWM")

    def _read(self, name: str) -> dict[str, float]:
        return {who: _kib(Path(f"/proc/{pid}/status"), name) / _MIB for who, pid in self._pids.items()}


def _kib(status: Path, name: str) -> int:
    # The status of a zombie process has no sizes.
    found = re.search(rf"^{name}:\s+(\d+) kB$", status.read_text(), re.MULTILINE)
    if found is None:
        raise FileNotFoundError(status)
    return int(found[1])
