"""A real redis-server that tests can stop and restart. It listens at a socket in its folder."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ..process import wait_until


class RedisServer:
    """A redis-server. It writes to disk only when it is asked to save."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._socket = folder / "redis.sock"
        self._command = (
            *("redis-server", "--port", "0", "--unixsocket", str(self._socket), "--dir", str(folder)),
            *("--save", "", "--appendonly", "no", "--logfile", str(folder / "redis.log"), *options),
        )
        self.address = f"unix://{self._socket}"
        self.client = self.client_of(self.address)
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def client_of(address: str):  # type: ignore[no-untyped-def]
        redis = pytest.importorskip("redis", reason="the packages of chatiere[redis] are not there")
        return redis.Redis.from_url(address)

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._listens, "Redis listens")

    def _listens(self) -> bool:
        import redis

        try:
            self.client.ping()
        except redis.AuthenticationError:
            return True
        except redis.ConnectionError:
            return False
        return True

    def suspend(self) -> None:
        """Suspend the process, so that the server hangs."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume the process."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill the process. Unsaved data is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.kill()
        self.client.close()


@contextmanager
def redis_server(folder: Path, *options: str) -> Iterator[RedisServer]:
    with closing(RedisServer(folder, *options)) as server:
        server.start()
        yield server
