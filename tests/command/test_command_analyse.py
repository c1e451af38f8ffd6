"""chatiere analyse: the table and the plot of a record, and errors."""

import re
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread
from tools.over import over_names

from chatiere.clients import Client
from chatiere.clients.records import read_record, write_record

from .conftest import Run

SAMPLES = Path(__file__).parents[2] / "docs" / "games"


@over_names
def test_the_table_has_the_service_s_response(run: Run, address: str, name: str) -> None:
    file = SAMPLES / f"{name}.chatiere"
    result = run("analyse", file, "--to", "6", "--simulations", "30", "--seed", "4", "--address", address)
    assert (result.exit_code, result.stderr) == (0, "")
    heading, *rows = [re.split(" {2,}", line) for line in result.stdout.splitlines()]
    assert heading == ["ply", "seat", "chances", "loss", "visits", "played", "best"]
    record = read_record(file)
    with Client(address) as client:
        decisions = client.analyse(record, 0, 6, simulations=30, seed=4)
    assert len(rows) == len(decisions)
    for row, each in zip(rows, decisions, strict=True):
        chances = f"{(each.value + 1) / record.players:.0%}"
        loss = f"{each.loss / record.players:.0%}" if each.HasField("loss") else "unknown"
        seat = " ".join([f"seat {each.seat}", *record.seat_names[each.seat : each.seat + 1]])
        best = [f"{each.best[0].action.label} ({each.best[0].visits} visits)"]
        expected = [str(each.ply), seat, chances, loss, str(each.played.visits), each.played.action.label]
        assert row == expected + best * (each.best[0].action.id != each.played.action.id)


def test_calls_for_several_ranges_make_one_table(run: Run, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    arguments = ("analyse", SAMPLES / "discat.chatiere", "--from", "3", "--to", "10", "--simulations", "20")
    whole = run(*arguments, "--address", address)
    monkeypatch.setattr("chatiere.command.analyse._AT_ONCE", 40)
    assert run(*arguments, "--address", address).stdout == whole.stdout
    assert [line.split()[0] for line in whole.stdout.splitlines()] == ["ply", *map(str, range(3, 10))]


def test_the_plot_is_an_image(run: Run, tmp_path: Path, address: str) -> None:
    plot = tmp_path / "plot.png"
    file = SAMPLES / "momistigri.chatiere"
    result = run("analyse", file, "--to", "12", "--simulations", "20", "--plot", plot, "--address", address)
    assert result.stdout.endswith(f"written to {plot}\n")
    assert imread(plot).size


def test_without_matplotlib_the_command_fails_before_the_analysis(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("analyse", SAMPLES / "discat.chatiere", "--plot", tmp_path / "plot.png")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the picture needs matplotlib" in result.stderr


def test_invalid_input_is_reported(run: Run, tmp_path: Path, address: str) -> None:
    file = SAMPLES / "discat.chatiere"
    for arguments, words in [
        (("--from", "999"), "INVALID_RANGE"),
        (("--from", "5", "--to", "3"), "INVALID_RANGE"),
        (("--to", "999"), "INVALID_RANGE"),
        (("--simulations", "0"), "--simulations"),
        (("--plot", tmp_path / "none" / "plot.png", "--to", "1", "--simulations", "1"), "none"),
    ]:
        result = run("analyse", file, *arguments, "--address", address)
        assert result.exit_code == 2
        assert words in result.stderr
    other = tmp_path / "other.chatiere"
    other.write_text("no record")
    assert "line 1" in run("analyse", other).stderr


def test_a_record_without_names_or_moves_is_analysed(run: Run, tmp_path: Path, address: str) -> None:
    record = read_record(SAMPLES / "discat.chatiere")
    del record.seat_names[:]
    file = tmp_path / "plain.chatiere"
    write_record(file, record)
    result = run("analyse", file, "--to", "1", "--simulations", "1", "--address", address)
    assert re.search(r"^0    seat \d  ", result.stdout, re.M)
    del record.actions[:]
    write_record(file, record)
    assert run("analyse", file, "--address", address).stdout == "ply  seat  chances  loss  visits  played  best\n"
