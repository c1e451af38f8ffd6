"""The load test's own server: `chatiere serve` as started by an operator, on free ports."""

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

# The maximum time for startup, in seconds.
_MAX_START = 60.0
# The maximum time for shutdown, in seconds. It includes the grace period for calls in flight.
_MAX_STOP = 30.0
_CHUNK = 2**16
# Patterns of the messages in which the server logs its addresses.
_LOGGED = {
    "grpcio": r"serving chatiere\.v1 on ([^\s,]+)",
    "fast": r"fast door on ([^\s,]+)",
    "web": r"web door on https?://([^\s,]+)",
    "shared": r"fast door on ([^\s,]+)",
    "metrics": r"metrics on http://([^\s/]+)/",
}


class _Log(Protocol):
    def text(self) -> str: ...


class OwnServer:
    """A running server.

    Attributes:
        addresses: HOST:PORT of each door and of the metrics, by name.
        token: The bearer token, or None if the server requires no token.
        authority: The certificate authority as PEM, or None if the server has no TLS.
    """

    def __init__(
        self, process: "subprocess.Popen[bytes]", log: _Log, token: str | None = None, authority: bytes | None = None
    ) -> None:
        """Use a server's process. The process must have been started."""
        self._process, self._log = process, log
        self.pid = process.pid
        self.addresses: dict[str, str] = {}
        self.token, self.authority = token, authority

    @property
    def address(self) -> str:
        """The address of grpcio's port."""
        return self.addresses["grpcio"]

    def wait(self, doors: Iterable[str]) -> None:
        """Wait until the server serves at these doors. Raise ClickException if it does not."""
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
        """Stop the server with SIGTERM and return True. If it does not end in time, kill it and return False."""
        self._process.terminate()
        try:
            self._process.wait(_MAX_STOP)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        return True

    def kill(self) -> None:
        """Kill the server and its workers with SIGKILL."""
        workers = psutil.Process(self.pid).children()
        # Kill the supervisor first, because it replaces workers that die.
        self._process.kill()
        for each in workers:
            each.kill()
        self._process.wait()


@contextmanager
def own_server(
    *arguments: str,
    doors: Iterable[str] = ("grpcio",),
    first_address: str = "127.0.0.1:0",
    has_tokens: bool = False,
    has_tls: bool = False,
    descriptors: int = 0,
    has_unread_log: bool = False,
) -> Iterator[OwnServer]:
    """Run a server in separate processes.

    Args:
        *arguments: Additional arguments of the server's command.
        doors: The names of the server's doors, for example "grpcio" and "fast". "shared" is the fast door at a Unix
            socket.
        first_address: HOST:PORT of the first door. The other doors have free ports.
        has_tokens: True if clients need a token.
        has_tls: True if the doors use TLS.
        descriptors: The soft and the hard limit on the server's open files. 0 means the limits of this process.
        has_unread_log: True to leave the log unread while the server serves, until its errors are requested.
    """
    with tempfile.TemporaryDirectory() as folder, _Pipe() if has_unread_log else _File() as log:
        token = authority = None
        more: list[str | Path] = [*arguments]
        for index, door in enumerate(doors):
            if door == "shared":
                more += ("--fast-address", f"unix:{folder}/fast.sock")
                continue
            address = "127.0.0.1:0" if index else first_address
            more += ("--address" if door == "grpcio" else f"--{door}-address", address)
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
    """A log in a file. The server writes to the descriptor `written`."""

    def __enter__(self) -> "_File":
        self._file = tempfile.TemporaryFile("w+")
        self.written = self._file.fileno()
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def begin(self) -> None:
        """Take no action, because the server has its own descriptor."""

    def text(self) -> str:
        # pread does not change the file position. The server shares this position.
        return os.pread(self.written, os.fstat(self.written).st_size, 0).decode(errors="replace")


class _Pipe:
    """A log in a pipe. The pipe is read only when the text is requested. `written` is the server's end."""

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
