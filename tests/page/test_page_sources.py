"""The page's sources: all drawings have the same structure, types are complete, and tools can read the comments."""

import re
from collections.abc import Iterator

import pytest
from tools.over import over

from .test_page_games import GAMES
from .test_page_words import FILES, WEB

pytestmark = pytest.mark.long

# web/game.js documents the purpose of each file of a game.
FLOOR_PLAN = {"captions", "game", "layout", "parts", "picks", "seats", "table", "text", "view", "words"}
EXPORTS = {
    "captions": {"does"},
    "game": {"game"},
    "layout": {"layoutOf"},
    "picks": {"picks", "attempt", "touched"},
    "seats": {"handItems", "seatItems"},
    "table": {"tableItems"},
    "text": {"breakdown", "isMoment", "prompt", "summary"},
}
NAMED = {str(path.relative_to(WEB)): text for path, text in FILES.items() if path.name != "words.js"}


@over("game", GAMES)
def test_all_drawings_have_the_same_files_and_functions(game: str) -> None:
    files = {path.stem: path.read_text("utf-8") for path in (WEB / "games" / game).glob("*.js")}
    assert files.keys() == FLOOR_PLAN
    for name, wanted in EXPORTS.items():
        assert wanted <= set(re.findall(r"^export (?:function|const) (\w+)", files[name], re.MULTILINE))


def comments() -> Iterator[tuple[str, str]]:
    """Yield each line of the JSDoc comments, with the name of its file."""
    for name, text in NAMED.items():
        for comment in re.findall(r"/\*\*.*?\*/", text, re.DOTALL):
            for line in comment.splitlines():
                yield name, line.strip().removeprefix("/**").removeprefix("*").removesuffix("*/").strip()


def test_every_type_is_complete() -> None:
    types = [(name, found) for name, line in comments() for found in re.findall(r"@\w+ (\{.*\})", line)]
    assert len(types) > 1000
    assert [(name, found) for name, found in types if re.search(r"\bany\b", found)] == []


def test_comments_are_not_broken_in_mid_type() -> None:
    """A tag begins its line, and its type ends in the same line, unless the type is written member by member."""
    for name, line in comments():
        assert not re.search(r"\S @(param|returns|typedef|property|template|type)\b", line), (name, line)
        if line.startswith("@") and not line.endswith("{{"):
            assert line.count("{") == line.count("}"), (name, line)


def test_each_palette_is_defined_once() -> None:
    text = (WEB / "style/tokens.css").read_text("utf-8")
    names = re.findall(r"^  (--[\w-]+):", text, re.MULTILINE)
    assert len(names) == len(set(names)) > 80
