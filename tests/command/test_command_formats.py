"""A command refuses a file in another format, and names the command that reads it."""

import shutil
from pathlib import Path

import pytest
from google.protobuf import json_format
from tables.support import OVER, Host

from chatiere.clients.sealed_seat import text_of
from chatiere.v1 import table_service_pb2 as pb

from .conftest import Run

ROOT = Path(__file__).parents[2]
TOLD = {
    "record": "contains a record, which chatiere replay and chatiere analyse read from a file NAME.chatiere",
    "sample": "contains a sample game, which chatiere replay reads from a file that is not named *.chatiere",
    "tables": "contains sealed tables as text, which chatiere verify reads with --table",
    "table_record": "contains the record of a game at a sealed table, which chatiere verify reads",
}


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a file of each format."""
    folder, host = tmp_path_factory.mktemp("formats"), Host()
    tables = [
        host.new_table(
            game="discat", players=2, seats=[pb.TableSeat(bot="random")] * 2, acknowledgement=pb.ACKNOWLEDGEMENT_NONE
        ).table
    ]
    while host.look(tables[-1]).view.turn.kind != OVER:
        tables.append(host.move(tables[-1]).table)
    (folder / "tables").write_text("\n".join(map(text_of, tables)))
    (folder / "table_record").write_text(json_format.MessageToJson(host.get_record(tables)))
    shutil.copy(ROOT / "docs/games/discat.chatiere", folder / "record")
    shutil.copy(min((ROOT / "tests/data/traces/discat").glob("*.jsonl")), folder / "sample")
    return {name: folder / name for name in TOLD}


@pytest.mark.parametrize(
    ("arguments", "suffix", "others"),
    [
        (["replay"], ".txt", ["record", "tables", "table_record"]),
        (["replay"], ".chatiere", ["sample", "tables", "table_record"]),
        (["analyse"], ".chatiere", ["sample", "tables", "table_record"]),
        (["play", "--resume"], ".chatiere", ["sample", "tables", "table_record"]),
        (["verify"], ".json", ["record", "sample", "tables"]),
        (["verify", "table_record", "--table"], ".txt", ["record", "sample", "table_record"]),
    ],
)
def test_the_refusal_of_another_format_names_its_command(
    run: Run, contents: dict[str, Path], tmp_path: Path, arguments: list[str], suffix: str, others: list[str]
) -> None:
    for other in others:
        path = Path(shutil.copy(contents[other], tmp_path / f"{other}{suffix}"))
        result = run(*(contents.get(each, each) for each in arguments), path)
        assert (result.exit_code, result.stderr) == (2, f"Error: {path} {TOLD[other]}\n")


@pytest.mark.parametrize("text", ["", "[1]", '{"x": 1}', "[" * 100_000, "\N{CAT FACE}", "game"])
def test_an_unknown_format_is_refused_by_the_command(run: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.txt"
    path.write_text(text)
    assert run("replay", path).stderr.startswith(f"Error: {path}, line 1: ")
    assert run("verify", path).stderr.startswith(f"Error: {path} is not a record of a game at a sealed table: ")
