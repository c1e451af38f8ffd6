"""Whole games against bots: by clicks, with only the keyboard, and by touch at a phone's width."""

from collections.abc import Callable

import pytest

from chatiere import engine

from .person import Person, Way
from .test_page_end import check_the_end

pytestmark = pytest.mark.long

GAMES = tuple(game.name for game in engine.games())
WAYS: tuple[Way, ...] = ("clicks", "keys", "taps")


# Every run tests two games. `make page` tests all games.
SOME = [pytest.param(game, marks=() if game in ("discat", "momistigri") else pytest.mark.whole_page) for game in GAMES]
# Every run tests one way to play for each game, so that each way is covered. `make page` tests the other combinations.
CASES = [
    pytest.param(game, way, marks=() if (n - m) % len(WAYS) == 0 else pytest.mark.whole_page)
    for n, game in enumerate(GAMES)
    for m, way in enumerate(WAYS)
]


@pytest.mark.parametrize(("game", "way"), CASES)
def test_a_whole_game(visit: Callable[..., Person], game: str, way: Way) -> None:
    language = "fr" if game == "discat" else "en"
    person = visit(way=way, language=language)
    if way == "keys":
        person.open("")
        person.tab_to(f"[href='#/new/{game}']")
        person.page.keyboard.press("Enter")
        person.page.wait_for_selector(".new-game")
        person.tab_to(".new-game button.primary")
        person.page.keyboard.press("Enter")
    else:
        person.deal(game)
    person.play_to_the_end()
    assert person.page.locator(".notice.end h2").inner_text()
    assert person.page.locator(".scores .rank").count() == person.page.locator(".scores .seat").count()
    if way == "keys":
        assert person.page.evaluate("window.pointed") == 0
    if language == "en":
        check_the_end(person)
