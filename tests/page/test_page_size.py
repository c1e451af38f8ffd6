"""The size of the page's first load, and reduced motion."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Response, expect
from tools.over import over

from .person import Person
from .test_page_games import GAMES

pytestmark = pytest.mark.long

# The maximum numbers of requests, and of bytes before compression, for the lobby in an empty browser, without pictures.
MAX_REQUESTS = 25
MAX_BYTES = 130_000
# The maximum number of bytes that are sent for a table, counted in the same way.
MAX_SENT = 120_000

# Counts the animations that start.
_COUNT = """(() => {
  window.animated = 0;
  for (const kind of ["animationstart", "transitionrun"]) addEventListener(kind, () => window.animated++, true);
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...given) { window.animated++; return animate.apply(this, given); };
})()"""


def loaded(person: Person, fragment: str) -> list[Response]:
    """Return the files that a part of the page requests, without pictures."""
    answers: list[Response] = []
    person.context.on("response", lambda response: answers.append(response))
    person.open(fragment)
    found = [answer for answer in answers if answer.request.resource_type != "image"]
    assert len(found) > 5
    return found


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_lobby_is_small(visit: Callable[..., Person], language: str) -> None:
    answers = loaded(visit(language=language), "")
    assert len(answers) <= MAX_REQUESTS
    assert sum(len(answer.body()) for answer in answers) <= MAX_BYTES


@over("game", GAMES)
def test_a_table_is_small(visit: Callable[..., Person], game: str) -> None:
    first = visit()
    first.deal(game)
    first.await_turn()
    second = visit(storage=first.kept())
    answers = loaded(second, f"play/{first.table}")
    second.await_turn()
    assert sum(answer.request.sizes()["responseBodySize"] for answer in answers) <= MAX_SENT


@over("game", GAMES)
@pytest.mark.parametrize("how", ["asked of the system", "switched off"])
def test_reduced_motion_disables_animations(visit: Callable[..., Person], game: str, how: str) -> None:
    person = visit(animation="off" if how == "switched off" else None)
    if how == "asked of the system":
        person.page.emulate_media(reduced_motion="reduce")
    person.page.add_init_script(_COUNT)
    person.deal(game)
    person.await_turn()
    for _ in range(4):
        if not person.is_over:
            person.step()
            assert person.page.evaluate("document.getAnimations().length") == 0
    assert person.page.evaluate("window.animated") == 0


def test_things_glide_by_default(visit: Callable[..., Person]) -> None:
    person = visit(animation="on")
    person.page.add_init_script(_COUNT)
    person.deal("discat")
    person.await_turn()
    person.move()
    person.await_turn()
    assert person.page.evaluate("window.animated") > 0


def test_a_table_that_was_left_leaves_only_its_row_in_the_lobby(visit: Callable[..., Person]) -> None:
    person = visit()
    session = person.context.new_cdp_session(person.page)
    session.send("Performance.enable")
    counts: list[dict[str, float]] = []
    for _ in range(3):
        person.deal("discat")
        person.settle()
        person.page.evaluate("location.hash = '#/'")
        expect(person.page.locator(".tables li")).to_have_count(len(counts) + 1)
        session.send("HeapProfiler.collectGarbage")
        metrics = session.send("Performance.getMetrics")["metrics"]
        counts.append({each["name"]: each["value"] for each in metrics})
    for name, most in (("Nodes", 20), ("JSEventListeners", 2)):
        assert counts[2][name] - counts[1][name] <= most
