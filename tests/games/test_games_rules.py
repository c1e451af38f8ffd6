"""The headings of the rules pages: tests name all headings (see build/rules.md), and errors cite existing headings."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from chatiere import engine
from chatiere.engine import Game
from chatiere.engine.core.rules_file import RulesFile

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
    """Yield the tests' `rules` marks, as game, heading and the test's node ID."""
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
    """Return the tests of each heading, and write them to build/rules.md."""
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


def test_every_heading_has_a_test(game: Game, covered: dict[tuple[str, str], list[str]]) -> None:
    there = headings(game)
    assert len(there) > 5
    assert [heading for heading in there if (game.name, heading) not in covered] == []


def test_tests_name_existing_headings(covered: dict[tuple[str, str], list[str]]) -> None:
    there = {(game.name, heading) for game in engine.games() for heading in headings(game)}
    assert set(covered) - there == set()


CITING = ("illegal_action", "invalid_state", "refuse_state")


def cited(source: Path) -> Iterator[str]:
    """Yield the headings named by calls of RulesFile in a source."""
    text = source.read_text(encoding="utf-8")
    for found in re.finditer(rf"(?<!def )\b(?:(?:RULES|rules|self)\.)?({'|'.join(CITING)})(?=\()", text):
        # Find the shortest text up to a closing bracket that is a valid expression.
        ends = (end.end() for end in re.finditer(r"\)", text[found.end() :]))
        call = next(filter(None, (parsed(text[found.start() : found.end() + end]) for end in ends)))
        bound = inspect.signature(getattr(RulesFile, found[1])).bind(None, *call.args)
        bound.apply_defaults()
        heading = bound.arguments["heading"]
        if isinstance(heading, ast.Name):
            (named,) = re.findall(rf'^{heading.id} = "(.*)"$', text, re.MULTILINE)
            yield named
        else:
            yield ast.literal_eval(heading) if isinstance(heading, ast.expr) else heading


def parsed(text: str) -> ast.Call | None:
    """Return the text as a call, or None if it is not an expression."""
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    assert isinstance(call, ast.Call)
    return call


def test_refusals_cite_headings_that_occur_once(game: Game) -> None:
    found = re.findall(r"^#+ (.*)$", page(game), re.MULTILINE)
    assert len(set(found)) == len(found)
    folder = ROOT / "engine/chatiere/engine"
    own = {heading for source in (folder / "games" / game.name).glob("*.py*") for heading in cited(source)}
    common = {heading for name in ("codec.pyx", "rules_file.py") for heading in cited(folder / "core" / name)}
    assert len(own) > 4
    # "Actions" is the heading that refuse_card cites.
    assert own | common | {"Actions"} <= set(found)
