"""The load test's own server: `chatiere serve` as an operator starts it, on free ports."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import click

_LONGEST_START = 60.0


class OwnServer(NamedTuple):
    """A server: its addresses (HOST:PORT), the process of its supervisor, and its log.

    `fast_address`, `web_address`: None without such a port.
    """

    address: str
    fast_address: str | None
    web_address: str | None
    metrics_address: str
    pid: int
    log: IO[str]

    def errors(self) -> list[str]:
        """Return the errors logged so far."""
        return re.findall(r"^\S+ ERROR .*$", _text(self.log), re.MULTILINE)


@contextmanager
def own_server(*arguments: str) -> Iterator[OwnServer]:
    """Run a server in processes of its own; `arguments`: further ones, beside its addresses.

    With `--fast-address` or `--web-address` among them it has these doors.
    """
    addresses = ("--address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0")
    with tempfile.TemporaryFile("w+") as log:
        command = (Path(sys.executable).with_name("chatiere"), "serve", *addresses, *arguments)
        with subprocess.Popen(command, stderr=log) as process:
            try:
                # All addresses are logged when it serves.
                address = _logged(r"serving chatiere\.v1 on ([^\s,]+)", process, log)
                metrics_address = _logged(r"metrics on http://([^\s/]+)/", process, log)
                fast_address = web_address = None
                if "--fast-address" in arguments:
                    fast_address = _logged(r"fast door on ([^\s,]+)", process, log)
                if "--web-address" in arguments:
                    web_address = _logged(r"door for browsers on http://([^\s,]+)", process, log)
                yield OwnServer(address, fast_address, web_address, metrics_address, process.pid, log)
            finally:
                process.terminate()


def _logged(pattern: str, process: "subprocess.Popen[bytes]", log: IO[str]) -> str:
    end = time.monotonic() + _LONGEST_START
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(pattern, _text(log)):
            return found[1]
        time.sleep(0.05)
    raise click.ClickException(f"the server did not start:\n{_text(log)}")


def _text(log: IO[str]) -> str:
    # Leaves the file position alone, which the server shares.
    return os.pread(log.fileno(), os.fstat(log.fileno()).st_size, 0).decode(errors="replace")
