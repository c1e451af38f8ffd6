"""The examples of docs/batch.md run as they stand there."""

import re
from pathlib import Path
from typing import Any

import pytest

from .support import Running

PAGE = (Path(__file__).parents[2] / "docs/batch.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_loop_over_the_service(server: Running, capsys: pytest.CaptureFixture[str]) -> None:
    code = EXAMPLES[0].replace("127.0.0.1:50051", server.address)
    assert server.address in code
    exec(compile(code, "docs/batch.md", "exec"), {})
    games, wins = re.fullmatch(r"(\d+) games; wins by seat: (\[.*\])\n", capsys.readouterr().out).groups()
    assert int(games) >= 200
    assert sum(int(each) for each in re.findall(r"\d+", wins)) >= int(games)


def test_the_step_in_process() -> None:
    found: dict[str, Any] = {}
    exec(compile(EXAMPLES[1], "docs/batch.md", "exec"), found)
    assert found["faults"].reasons == b""
    assert found["observations"].any(axis=1).all()


def test_there_are_no_other_examples() -> None:
    assert len(EXAMPLES) == 2
