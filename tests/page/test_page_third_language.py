"""The page needs only catalogues for a third language: all games are played in an invented language."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from service.process import Served, served
from tools.over import over
from tools.third_language import LANGUAGE, english_in, package_with_language

from .person import Person
from .test_page_games import GAMES
from .test_page_words import visible

pytestmark = pytest.mark.long

# Words that are the same in all languages: the project's, players' and languages' names. The invented language's name
# is its tag.
CATS = ("Moustache", "Griffe", "Velours", "Mistral", "Ronron", "Pelote")
NAMES = ("English", "Français", "Qq", "Chatière", *CATS)
INITIALS = {cat[0] for cat in CATS}


@pytest.fixture(scope="module")
def third(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return a server of the page with the invented language."""
    tree = package_with_language(tmp_path_factory.mktemp("third"), with_page=True)
    with served(door="web", environment={"PYTHONPATH": str(tree)}) as server:
        yield server


@over("game", GAMES)
def test_a_page_in_the_language_has_no_english(chromium: Browser, third: Served, game: str) -> None:
    with Person(chromium, third.address, language=LANGUAGE) as person:
        person.open("")
        seen = visible(person)
        person.open(f"new/{game}")
        seen |= visible(person)
        person.deal(game)
        person.await_turn()
        while not person.is_over:
            seen |= visible(person)
            person.step()
        seen |= visible(person)
        assert person.page.evaluate("document.documentElement.lang") == LANGUAGE
    names = re.compile("|".join(map(re.escape, NAMES)))
    assert {text for text in seen - INITIALS if english_in(game, names.sub("", text))} == set()
