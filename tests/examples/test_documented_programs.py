"""The Python programs in the README and in docs/ run unchanged against a service."""

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from chatiere.command import main

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = [
    pytest.param(block, id=f"{page.name} {number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S))
]


def test_there_are_programs() -> None:
    assert {"README.md 0", "batch.md 0", "selfplay.md 0"} <= {program.id for program in PROGRAMS}


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the record of docs/records.md, and the data set of docs/selfplay.md with fewer games."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "docs/games/discat.chatiere", tmp_path)
    asked = "selfplay --game discat --games 5 --bots random,largest --output games"
    assert CliRunner().invoke(main, asked.split()).exit_code == 0


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("program", PROGRAMS)
def test_documented_programs_run(program: str, address: str) -> None:
    # Shorten long loops.
    program = program.replace("127.0.0.1:50051", address).replace("range(1000)", "range(5)")
    exec(compile(program, "program", "exec"), {})
    if "tables.txt" in program:
        # Verify the game in docs/tables.md.
        result = CliRunner().invoke(main, ["verify", "record.json", "--table", "tables.txt"])
        assert result.exit_code == 0, result.output
        assert len(json.loads(Path("record.json").read_text())["amendments"]) == 2
