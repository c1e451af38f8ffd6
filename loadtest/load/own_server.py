"""The load test's own server: `chatiere serve` as an operator starts it, on free ports."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import click
import psutil
import trustme

from chatiere.service.guards.tokens import new_token

_MAX_START = 60.0
# With the grace that calls in flight have.
_MAX_STOP = 30.0
_CHUNK = 2**16
# All addresses are logged when it serves.
_LOGGED = {
    "grpcio": r"serving chatiere\.v1 on ([^\s,]+)",
    "fast": r"fast door on ([^\s,]+)",
    "web": r"door for browsers on https?://([^\s,]+)",
    "metrics": r"metrics on http://([^\s/]+)/",
}


class _Log(Protocol):
    def text(self) -> str: ...


class OwnServer:
    """A server. `addresses`: HOST:PORT by door, and that of the metrics; `token`, `authority`: None without."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", log: _Log, token: str | None = None, authority: bytes | None = None
    ) -> None:
        """Take a process that has been started. `authority`: the PEM of its certificate's."""
        self._process, self._log = process, log
        self.pid = process.pid
        self.addresses: dict[str, str] = {}
        self.token, self.authority = token, authority

    @property
    def address(self) -> str:
        """The address of grpcio's port."""
        return self.addresses["grpcio"]

    def wait(self, doors: Iterable[str]) -> None:
        """Wait until it serves at these doors. Raise ClickException if it does not."""
        end = time.monotonic() + _MAX_START
        wanted = [*doors, "metrics"]
        while time.monotonic() < end and self._process.poll() is None:
            text = self._log.text()
            found = {door: match[1] for door in wanted if (match := re.search(_LOGGED[door], text))}
            if len(found) == len(wanted):
                self.addresses = found
                return
            time.sleep(0.05)
        raise click.ClickException(f"the server did not start:\n{self._log.text()}")

    def errors(self) -> list[str]:
        """Return the errors logged so far."""
        return re.findall(r"^\S+ ERROR .*$", self._log.text(), re.MULTILINE)

    def stop(self) -> bool:
        """Stop it by SIGTERM, and return True; kill it if it does not end in time, and return False."""
        self._process.terminate()
        try:
            self._process.wait(_MAX_STOP)
        except subprocess.TimeoutExpired:
            for each in psutil.Process(self.pid).children():
                each.kill()
            self._process.kill()
            self._process.wait()
            return False
        return True


@contextmanager
def own_server(
    *arguments: str,
    doors: Iterable[str] = ("grpcio",),
    has_tokens: bool = False,
    has_tls: bool = False,
    descriptors: int = 0,
    has_unread_log: bool = False,
) -> Iterator[OwnServer]:
    """Run a server in processes of its own; `arguments`: further ones.

    `descriptors`: the soft and the hard limit of its open files; 0: those of this process. `has_unread_log`: nobody
    reads its log from when it serves, until its errors are asked for.
    """
    with tempfile.TemporaryDirectory() as folder, _Pipe() if has_unread_log else _File() as log:
        token = authority = None
        more: list[str | Path] = [*arguments]
        for door in doors:
            more += ("--address" if door == "grpcio" else f"--{door}-address", "127.0.0.1:0")
        if has_tokens:
            token, line = new_token("good")
            more += ("--tokens", _written(folder, "tokens", line.encode()))
        if has_tls:
            issuer = trustme.CA()
            certificate = issuer.issue_cert("127.0.0.1")
            authority = issuer.cert_pem.bytes()
            chain = b"".join(each.bytes() for each in certificate.cert_chain_pems)
            more += ("--tls-certificate", _written(folder, "certificate", chain))
            more += ("--tls-key", _written(folder, "key", certificate.private_key_pem.bytes()))
        limited = ("sh", "-c", 'ulimit -n "$0" && exec "$@"', str(descriptors)) if descriptors else ()
        program = Path(sys.executable).with_name("chatiere")
        command = (*limited, program, "serve", "--metrics-address", "127.0.0.1:0", *more)
        with subprocess.Popen(command, stderr=log.written) as process:
            server = OwnServer(process, log, token, authority)
            try:
                log.begin()
                server.wait(doors)
                yield server
            finally:
                server.stop()


def _written(folder: str, name: str, content: bytes) -> Path:
    path = Path(folder) / name
    path.write_bytes(content)
    return path


class _File:
    """A log in a file. `written`: where the server writes it."""

    def __enter__(self) -> "_File":
        self._file = tempfile.TemporaryFile("w+")
        self.written = self._file.fileno()
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def begin(self) -> None:
        """Do nothing: the server has a descriptor of its own."""

    def text(self) -> str:
        # Leaves the file position alone, which the server shares.
        return os.pread(self.written, os.fstat(self.written).st_size, 0).decode(errors="replace")


class _Pipe:
    """A log that is a pipe, which is only read when its text is asked for. `written`: the server's end."""

    def __enter__(self) -> "_Pipe":
        self._read, self.written = os.pipe()
        os.set_blocking(self._read, False)
        self._text = b""
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._read)

    def begin(self) -> None:
        os.close(self.written)

    def text(self) -> str:
        try:
            while data := os.read(self._read, _CHUNK):
                self._text += data
        except BlockingIOError:
            pass
        return self._text.decode(errors="replace")
