"""chatiere serve, as a process of its own."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chatiere import engine
from chatiere.clients import Client

COMMAND = (sys.executable, "-c", "from chatiere.command import main; main()", "serve")


@pytest.fixture
def server() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on free ports, and its address as its log tells it."""
    arguments = ("--address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0")
    with subprocess.Popen((*COMMAND, *arguments), stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            log: list[str] = []
            address = None
            while address is None:
                log.append(process.stderr.readline())
                assert log[-1], "".join(log)
                address = re.search(r"serving .* on (127\.0\.0\.1:\d+)", log[-1])
            yield process, address[1]
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop(server: tuple[subprocess.Popen[str], str], number: int) -> None:
    process, address = server
    with grpc.insecure_channel(address) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        assert health.Check(health_pb2.HealthCheckRequest()).status == health_pb2.HealthCheckResponse.SERVING
        games = Client(channel).list_games()
    assert [info.name for info in games] == [game.name for game in engine.games()]
    process.send_signal(number)
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0, log


def test_an_address_in_use_is_told(server: tuple[subprocess.Popen[str], str]) -> None:
    _, address = server
    second = subprocess.run((*COMMAND, "--address", address), capture_output=True, text=True, timeout=60)
    assert second.returncode != 0
    assert address in second.stderr
    assert "Traceback" not in second.stderr
