"""A person's own turn: the page shows the task and the main button."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tools.over import over

from .person import Person
from .test_page_games import GAMES

pytestmark = pytest.mark.long

MAIN = ".bar .choices button.primary"


# Returns the task of seat 0 according to the service.
_PROMPT = """async (id) => {
  const [{ Session }, { kitOf }] = await Promise.all([import("./session.js"), import("./games.js")]);
  const session = Session.open(id);
  const { view } = await session.look(0);
  return (await kitOf(session.kept.game)).phrases.write(view.prompt);
}"""


@pytest.mark.parametrize("language", ["en", "fr"])
@over("game", GAMES)
def test_the_prompt_is_the_service_s(visit: Callable[..., Person], game: str, language: str) -> None:
    person = visit(language=language)
    person.deal(game)
    person.await_turn()
    said = person.page.evaluate(_PROMPT, person.table)
    yours = {"en": "Your turn.", "fr": "À vous."}[language]
    expect(person.page.locator(".prompt")).to_have_text(f"{yours} {said}.")


def test_the_button_to_pass_is_not_the_main_one(visit: Callable[..., Person]) -> None:
    person = visit()
    person.deal("momistigri")
    person.await_turn()
    passing = person.page.locator(".bar .choices button[data-action]").get_by_text("Pass", exact=True)
    expect(passing).to_have_class("quiet")
    expect(person.page.locator(MAIN)).to_have_count(0)
