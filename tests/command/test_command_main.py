"""The command line as a whole."""

import importlib
import importlib.metadata
import pkgutil
import subprocess
import sys

import click
import pytest
from tools.needs import needs

from chatiere import command as package
from chatiere.command import main

from .conftest import Run

# Modules that extras install.
EXTRAS = (
    *("cryptography", "grpc", "grpc_health", "httptools", "jax", "prometheus_client", "pythonjsonlogger", "redis"),
    "uvloop",
)
NAMES = main.list_commands(click.Context(main))
# The extras that subcommands need. Other subcommands need none.
NEEDED = {
    **dict.fromkeys(("analyse", "play", "replay", "rules", "serve", "token", "verify"), "service"),
    "mcp": "mcp",
    "train": "train",
    "web": "web",
}


def without_extras(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a Python without the modules of extras."""
    missing = "".join(f"sys.modules[{name!r}] = None\n" for name in EXTRAS)
    return subprocess.run(
        [sys.executable, "-c", f"import sys\n{missing}{program}"], capture_output=True, text=True, check=False
    )


@needs("jax")
def test_every_subcommand_is_listed_with_its_own_help(run: Run) -> None:
    found = set()
    for module in pkgutil.iter_modules(package.__path__):
        command = getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "command", None)
        if isinstance(command, click.Command):
            found.add(command.name)
    assert found == set(NAMES)
    result = run("--help")
    assert result.exit_code == 0
    shown = " ".join(result.stdout.split())
    for name in NAMES:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert command.help is not None
        assert f" {name} {command.help.partition('.')[0]}." in shown


@pytest.mark.parametrize(("command", "extra"), NEEDED.items())
def test_a_subcommand_names_the_extra_it_needs(command: str, extra: str) -> None:
    done = without_extras(f"from chatiere.command import main; main([{command!r}])")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert done.stderr.endswith(f"is not installed: pip install 'chatiere[{extra}]'\n")


@pytest.mark.parametrize("command", [name for name in NAMES if name not in NEEDED])
def test_other_subcommands_need_no_extra(command: str) -> None:
    done = without_extras(f"from chatiere.command import main; main([{command!r}, '--help'])")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_package_plays_without_extras() -> None:
    done = without_extras(
        "import chatiere.arena.matches, chatiere.drawing.discat, chatiere.envs\n"
        "from chatiere.command import main\n"
        "main('selfplay --game discat --games 5 --bots random,largest'.split())"
    )
    assert done.returncode == 0, done.stderr
    done = without_extras(
        "from chatiere.command import main; main('perft --game discat --players 2 --depth 2'.split())"
    )
    assert done.returncode == 0, done.stderr


def test_games_at_a_service_need_its_client() -> None:
    done = without_extras(
        "from chatiere.command import main\n"
        "main('selfplay --game discat --games 5 --bots random --address 127.0.0.1:1'.split())"
    )
    assert (done.returncode, done.stderr) == (2, "Error: --address needs a client: pip install 'chatiere[service]'\n")


def test_the_version_is_the_package_s(run: Run) -> None:
    assert run("--version").stdout == f"chatiere, version {importlib.metadata.version('chatiere')}\n"


@pytest.mark.parametrize("command", ["serve", "play", "selfplay", "arena", "replay", "perft"])
@pytest.mark.parametrize("wrong", ["--no-such-option", "surplus"])
def test_wrong_arguments_are_reported_with_the_usage(run: Run, command: str, wrong: str) -> None:
    result = run(command, wrong)
    assert result.exit_code == 2
    assert f"Usage: chatiere {command} " in result.stderr.replace("Usage: main", "Usage: chatiere")


@pytest.mark.parametrize(
    "command", [("serve",), ("serve", "--metrics-address", "1:2"), ("play", "--game", "x"), ("replay", __file__)]
)
@pytest.mark.parametrize("wrong", ["localhost", ":50051", "localhost:", "localhost:65536", "localhost:http", "unix:a"])
def test_an_invalid_address_is_refused(run: Run, command: tuple[str, ...], wrong: str) -> None:
    result = run(*command, "--address", wrong)
    assert result.exit_code == 2
    assert wrong in result.stderr
    assert ("unix:/PATH" if wrong.startswith("unix:") else "HOST:PORT") in result.stderr
