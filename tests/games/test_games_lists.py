"""Handwritten lists of games are complete: tables of the documentation, and the page's list."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from chatiere import engine

ROOT = Path(__file__).parents[2]
# For each document, the beginning of a game's row or entry.
ENTRIES = {
    "README.md": "| {title} | ",
    "docs/batch.md": "| {title} (",
    "docs/bots.md": "| {title}, {players} players | Kitten | ",
    "docs/frontends.md": "[{title}](games/{name}.md)",
    "docs/page.md": "![{title}](pictures/{name}.png)",
}


@pytest.mark.parametrize("document", ENTRIES)
def test_a_document_lists_every_game(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    for game in engine.games():
        page = (ROOT / f"docs/games/{game.name}.md").read_text("utf-8")
        title = page[2 : page.index(" for frontend authors\n")]
        entry = ENTRIES[document].format(title=title, name=game.name, players=game.min_players)
        assert text.count(entry) == 1, f"{document} needs {entry!r}, once"


def test_the_page_draws_every_game() -> None:
    text = files("chatiere.web").joinpath("game.js").read_text("utf-8")
    listed = re.search(r"export const GAMES = [^[]*\[([^]]*)\]", text)
    assert listed
    assert sorted(re.findall(r'"(\w+)"', listed[1])) == [game.name for game in engine.games()]
