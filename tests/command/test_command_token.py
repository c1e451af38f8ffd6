"""chatiere token."""

import re
from pathlib import Path

import pytest

from chatiere.service.guards.tokens import Tokens

from .conftest import Run


def test_a_token_matches_its_line(run: Run, tmp_path: Path) -> None:
    printed = run("token", "alice").stdout
    found = re.fullmatch(r"token: (\S{43})\nline:  (alice [0-9a-f]{64})\n", printed)
    assert found
    (tmp_path / "tokens").write_text(found[2])
    assert Tokens(tmp_path / "tokens").client_of(found[1]) == "alice"


@pytest.mark.parametrize("name", ["", "two words", "x" * 65])
def test_an_invalid_name_is_refused(run: Run, name: str) -> None:
    result = run("token", name)
    assert result.exit_code == 2
    assert "Error: a name must be 1 to 64 letters" in result.stderr
