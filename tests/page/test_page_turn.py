"""One's own turn: what is to be done, and which button is the main one."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .person import Person
from .test_page_games import GAMES

MAIN = ".bar .choices button.primary"


# What the service says that the seat 0 has to do.
_PROMPT = """async (id) => {
  const [{ Session }, { roomOf }] = await Promise.all([import("./session.js"), import("./games.js")]);
  const session = Session.open(id);
  const { view } = await session.look(0);
  return (await roomOf(session.kept.game)).phrases.write(view.prompt);
}"""


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("game", GAMES)
def test_the_prompt_is_the_services(visit: Callable[..., Person], game: str, language: str) -> None:
    person = visit(language=language)
    person.deal(game)
    person.await_turn()
    said = person.page.evaluate(_PROMPT, person.table)
    yours = {"en": "Your turn.", "fr": "À vous."}[language]
    expect(person.page.locator(".prompt")).to_have_text(f"{yours} {said}.")


def test_passing_is_not_the_main_thing(visit: Callable[..., Person]) -> None:
    person = visit()
    person.deal("momistigri")
    person.await_turn()
    passing = person.page.locator(".bar .choices button[data-action]").get_by_text("Pass", exact=True)
    expect(passing).to_have_class("quiet")
    expect(person.page.locator(MAIN)).to_have_count(0)
