"""A server's processes as an operator runs them: `chatiere serve` with its arguments and its log."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from tools.needs import require

from chatiere.service.tables.new_key import new_key

from .support import PATIENCE, Door

_COMMAND = (sys.executable, "-c", "from chatiere.command import main; main(prog_name='chatiere')", "serve")


def wait_until(holds: Callable[[], Any], what: str) -> Any:
    """Return the first true value of `holds`. Fail the test if a time limit passes before."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < end, f"not in time: {what}"
        threading.Event().wait(0.01)
    return found


class Served:
    """A server's processes and log, and the address of the door at which it is called."""

    def __init__(self, process: subprocess.Popen[str], door: Door) -> None:
        self.process = process
        self._door = door
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        self.is_read = threading.Event()
        """Set while the log is read. While it is cleared, unread lines fill the log's pipe."""
        self.is_read.set()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
            self.is_read.wait()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def find(self, pattern: str, after: int = 0) -> re.Match[str]:
        """Wait for the first line, from number `after` on, that matches a pattern. Return the match."""
        found: re.Match[str] | None = None

        def look() -> bool:
            nonlocal found
            matches = (re.search(pattern, line) for line in self.lines[after:])
            found = next((match for match in matches if match), None)
            return found is not None or self._ended

        with self._changed:
            self._changed.wait_for(look, PATIENCE)
        assert found is not None, f"no line with {pattern!r} in:\n" + "\n".join(self.lines)
        return found

    @property
    def address(self) -> str:
        """The address of the chosen door. Waits until the server serves."""
        address: str = getattr(self, f"{self._door}_address")
        return address

    @property
    def grpcio_address(self) -> str:
        """The address of grpcio's door. Waits until the server serves."""
        return self.find(r'serving chatiere\.v1 on ([^ ",]+)')[1]

    @property
    def fast_address(self) -> str:
        """The address of the fast door. Waits until the server serves."""
        return self.find(r'fast door on ([^ ",]+)')[1]

    @property
    def web_address(self) -> str:
        """The address of the web door. Waits until the server serves."""
        return self.find(r'web door on https?://([^ ",]+)')[1]

    @property
    def metrics_url(self) -> str:
        return self.find(r'metrics on (http[^ "]+)')[1]

    def worker_pid(self, number: int, after: int = 0) -> int:
        """Wait until a worker serves, by the log's lines from number `after` on. Return its latest process id."""
        self.find(rf"worker {number} serves, pid (\d+)", after)
        return [int(m[1]) for line in self.lines if (m := re.search(rf"worker {number} serves, pid (\d+)", line))][-1]

    def metrics_directory(self) -> Path:
        """Return the directory of the workers' metrics. A worker must already have received a call."""
        pids = [match[1] for line in self.lines if (match := re.search(r"worker \d serves, pid (\d+)", line))]
        maps = "".join(Path(f"/proc/{pid}/maps").read_text() for pid in pids)
        found = re.search(r"(/\S+/chatiere-counts-\w+)/", maps)
        assert found
        return Path(found[1])

    def metrics(self) -> dict[str, list[tuple[dict[str, str], float]]]:
        """Return a mapping from the names of all samples to their labels and values."""
        with urllib.request.urlopen(self.metrics_url, timeout=PATIENCE) as answer:
            text = answer.read().decode()
        samples: dict[str, list[tuple[dict[str, str], float]]] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                samples.setdefault(sample.name, []).append((sample.labels, sample.value))
        return samples

    def total(self, metric: str, **labels: str) -> float:
        """Return the sum of a metric's samples with these labels."""
        return sum(value for found, value in self.metrics().get(metric, []) if labels.items() <= found.items())

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal to the server, and return its exit code. If the log is read, `lines` then has all of it."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        if self.is_read.is_set():
            self._reader.join(PATIENCE)
        return code

    def close(self) -> None:
        """Kill the server if it still runs. Its workers also end."""
        self.process.kill()
        self.process.wait()
        self.is_read.set()
        self._reader.join(PATIENCE)
        if self._reader.is_alive():
            # A hanging worker does not notice that its supervisor has ended.
            os.killpg(self.process.pid, signal.SIGKILL)


def injected(folder: Path, code: str) -> dict[str, str]:
    """Write code into `folder`. Return an environment in which every worker runs the code first."""
    guard = "import sys\nif 'chatiere.service.process.worker' in sys.orig_argv:\n"
    (folder / "sitecustomize.py").write_text(guard + indent(dedent(code), "    "))
    return {"PYTHONPATH": str(folder)}


@contextmanager
def served(
    *arguments: str, door: Door = "grpcio", environment: dict[str, str] | None = None, prefix: tuple[str, ...] = ()
) -> Iterator[Served]:
    """Run `chatiere serve` on free ports, and kill it at the end. It logs calls unless the arguments say otherwise.

    The server is called at `door`. `prefix` is a command that runs the server. The test is skipped if the door was not
    built.
    """
    if door == "fast":
        require("libnghttp2")
    ports = ("--address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0", "--grace", str(PATIENCE), "--log-calls")
    other = () if door == "grpcio" else (f"--{door}-address", "127.0.0.1:0")
    # Tests do not need gRPC's log on standard error.
    variables = os.environ | {"GRPC_VERBOSITY": "NONE"} | (environment or {})
    command = (*prefix, *_COMMAND, *ports, *other, *arguments)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=variables, start_new_session=True) as process:
        server = Served(process, door)
        try:
            yield server
        finally:
            server.close()


@contextmanager
def served_rooms(folder: Path) -> Iterator[Callable[..., Served]]:
    """Yield a function that runs a server with rooms for browsers. Each server reads its keys from the same folder."""
    keys = folder / "table-keys"
    keys.write_text(new_key().hex() + "\n")
    keys.chmod(0o600)
    options = ("--relay", "memory", "--table-keys", str(keys))
    with ExitStack() as servers:
        yield lambda *arguments: servers.enter_context(served(*options, *arguments, door="web"))
