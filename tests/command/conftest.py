"""Fixtures of the commands' tests."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result
from prometheus_client import CollectorRegistry
from tools.over import game as game

from chatiere.command import main
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Return run(argument, …). It runs the command line, fails on uncaught exceptions and returns the result."""

    def run_main(*arguments: object, **options: Any) -> Result:
        result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return run_main


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Run a server, and return its address."""
    server, port = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(grace=None).wait()
