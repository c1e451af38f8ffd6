"""The command line as a whole."""

import importlib.metadata

import pytest

from .conftest import Run


def test_the_subcommands_are_listed(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in ("serve", "web", "token", "play", "selfplay", "arena", "replay", "perft", "protos", "verify"):
        assert f"  {command} " in result.stdout


def test_the_version_is_the_packages(run: Run) -> None:
    assert run("--version").stdout == f"chatiere, version {importlib.metadata.version('chatiere')}\n"


@pytest.mark.parametrize("command", ["serve", "play", "selfplay", "arena", "replay", "perft"])
@pytest.mark.parametrize("wrong", ["--no-such-option", "surplus"])
def test_wrong_arguments(run: Run, command: str, wrong: str) -> None:
    result = run(command, wrong)
    assert result.exit_code == 2
    assert f"Usage: chatiere {command} " in result.stderr.replace("Usage: main", "Usage: chatiere")


@pytest.mark.parametrize(
    "command", [("serve",), ("serve", "--metrics-address", "1:2"), ("play", "--game", "x"), ("replay", __file__)]
)
@pytest.mark.parametrize("wrong", ["localhost", ":50051", "localhost:", "localhost:65536", "localhost:http"])
def test_an_address_is_host_and_port(run: Run, command: tuple[str, ...], wrong: str) -> None:
    result = run(*command, "--address", wrong)
    assert result.exit_code == 2
    assert wrong in result.stderr
    assert "HOST:PORT" in result.stderr
