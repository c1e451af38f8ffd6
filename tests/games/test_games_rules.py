"""The text of the rules pages: every heading has tests that name it, and they are listed in build/rules.md."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from chatiere import engine
from chatiere.engine import Game

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "build" / "rules.md"


def page(game: Game) -> str:
    return (ROOT / "docs" / "rules" / f"{game.name}.md").read_text(encoding="utf-8")


def headings(game: Game) -> list[str]:
    """Return the headings of a game's rules page, in order."""
    return re.findall(r"^## (.*)$", page(game), re.MULTILINE)


def marks(holder: object) -> list[pytest.Mark]:
    """Return the marks of a test or of a module's tests."""
    found: Any = getattr(holder, "pytestmark", [])
    listed: list[Any] = found if isinstance(found, list) else [found]
    return [getattr(each, "mark", each) for each in listed]


def named() -> Iterator[tuple[str, str, str]]:
    """Yield what tests name with the mark `rules`: game, heading, the test's node ID."""
    for path in sorted((ROOT / "tests" / "games").glob("*/test_*.py")):
        module = importlib.import_module(f"games.{path.parent.name}.{path.stem}")
        tests = [value for name, value in vars(module).items() if name.startswith("test_")]
        for test in tests:
            assert isinstance(test, FunctionType)
            for mark in [*marks(module), *marks(test)]:
                if mark.name == "rules":
                    game, *found = mark.args
                    for heading in found:
                        yield game, heading, f"{path.relative_to(ROOT)}::{test.__name__}"


@pytest.fixture(scope="module")
def covered() -> dict[tuple[str, str], list[str]]:
    """The tests of each heading; they are written into the table, too."""
    found: dict[tuple[str, str], list[str]] = {}
    for game, heading, test in named():
        found.setdefault((game, heading), []).append(test)
    lines = ["The headings of the rules pages, and the tests that name them.", ""]
    for each in engine.games():
        lines += [page(each).splitlines()[0], "", "| heading | tests |", "| --- | --- |"]
        for heading in headings(each):
            tests = "<br>".join(f"`{test}`" for test in found.get((each.name, heading), []))
            lines.append(f"| {heading} | {tests} |")
        lines.append("")
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text("\n".join(lines), encoding="utf-8")
    return found


@pytest.fixture(params=engine.games(), ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Game:
    chosen: Game = request.param
    return chosen


def test_every_heading_has_a_test(game: Game, covered: dict[tuple[str, str], list[str]]) -> None:
    there = headings(game)
    assert len(there) > 5
    assert [heading for heading in there if (game.name, heading) not in covered] == []


def test_tests_name_headings_that_are_there(covered: dict[tuple[str, str], list[str]]) -> None:
    there = {(game.name, heading) for game in engine.games() for heading in headings(game)}
    assert set(covered) - there == set()
