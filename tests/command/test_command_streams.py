"""The command line if one of its standard streams is closed, or if its output cannot be written."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from service.support import PATIENCE

from chatiere.command import main

NAMES = main.list_commands(click.Context(main))
PLAY = ("play", "--game", "discat", "--players", "2", "--bots", "random")
FULL = "Error: cannot write to standard output: No space left on device\n"
CLOSED = "Error: cannot write to standard output: it is closed\n"


def chatiere(*arguments: object, streams: str, unbuffered: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command with a shell's redirections."""
    command = shlex.join([sys.executable, "-m", "chatiere", *map(str, arguments)])
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} {streams}"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=PATIENCE,
    )


@pytest.fixture(scope="module")
def played() -> str:
    """Return the output of PLAY."""
    done = chatiere(*PLAY, streams="")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("streams", ["<&-", "2>&-", pytest.param("<&- 2>&-", marks=pytest.mark.long)])
def test_a_game_is_played_without_input_or_errors(streams: str, played: str) -> None:
    done = chatiere(*PLAY, streams=streams)
    assert (done.returncode, done.stdout, done.stderr) == (0, played, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("streams", "error"), [(">&-", CLOSED), ("<&- >&-", CLOSED), (">/dev/full", FULL)])
def test_lost_output_is_an_error(streams: str, error: str, unbuffered: str) -> None:
    done = chatiere(*PLAY, streams=streams, unbuffered=unbuffered)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", error)


@pytest.mark.long
@pytest.mark.parametrize("name", ["", *NAMES])
def test_every_subcommand_reports_lost_output(name: str) -> None:
    done = chatiere(*name.split(), "--help", streams=">/dev/full")
    assert (done.returncode, done.stderr) == (2, FULL)


def test_a_file_is_not_blamed_for_lost_output(tmp_path: Path) -> None:
    done = chatiere("protos", tmp_path / "api", streams=">/dev/full")
    assert (done.returncode, done.stderr) == (2, FULL)


@pytest.mark.long
def test_a_server_whose_address_cannot_be_printed_ends(tmp_path: Path) -> None:
    done = chatiere("web", "--address", "127.0.0.1:0", "--table-keys", tmp_path / "keys", streams=">/dev/full")
    assert (done.returncode, done.stderr) == (2, FULL)


def test_a_person_without_input_leaves_the_game() -> None:
    done = chatiere("play", "--game", "discat", "--human", "0", "--seed", "12", "--bots", "random", streams="<&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("The game was not saved.\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_stops_early_is_not_an_error(unbuffered: str) -> None:
    done = chatiere(*PLAY, streams="| head -1", unbuffered=unbuffered)
    assert (done.returncode, done.stdout, done.stderr) == (1, "Discat, 2 players\n", "")
