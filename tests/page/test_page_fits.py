"""A table fits into any window from a phone's to a wide desktop's: no thing that can be picked is hidden."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from tools.over import over

from .person import Person
from .test_page_games import GAMES

pytestmark = pytest.mark.long

# The windows: a small phone, phones in portrait and landscape, a tablet, a laptop at 200 % and at 100 %, and desktops.
SIZES = ((320, 640), (390, 844), (844, 390), (640, 400), (768, 1024), (1280, 800), (1600, 1000), (1920, 1080))

# Returns the things that can be picked but are hidden, with their lower edges and the edge that hides them.
_HIDDEN = """() => {
  scrollTo(0, 0);
  const bar = document.querySelector(".bar").getBoundingClientRect();
  const stage = document.querySelector(".stage").getBoundingClientRect();
  const hidden = [];
  for (const item of document.querySelectorAll(".stage .pickable")) {
    const { left, right, top, bottom, height } = item.getBoundingClientRect();
    const isBesideBar = right <= bar.left || left >= bar.right;
    const edge = Math.min(innerHeight, stage.bottom, isBesideBar ? Infinity : bar.top);
    // A long prompt may touch the lower edge of a card.
    if (bottom - edge > height / 4 || top < stage.top - height / 4) {
      hidden.push([item.dataset.key, bottom, edge]);
    }
  }
  return hidden;
}"""

_IS_SIZED = "([width, height]) => innerWidth === width && innerHeight === height"
# Waits until the page is drawn in its new size.
_FRAMES = "async () => { for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame); }"


def resize(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function(_IS_SIZED, arg=[width, height])
    page.evaluate(_FRAMES)


@over("game", GAMES)
def test_all_things_that_can_be_picked_are_visible(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    person.open(f"new/{game}")
    most = page.locator("[name=players] option").last.get_attribute("value") or ""
    person.deal(game, "me", *[""] * (int(most) - 1))
    person.await_turn()
    for width, height in SIZES:
        resize(page, width, height)
        assert page.locator(".stage .pickable").count() > 0
        assert page.evaluate(_HIDDEN) == [], (width, height)
        # The page is no wider than the window.
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_low_windows_have_two_columns(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.deal("discat")
    person.await_turn()
    resize(page, 844, 390)
    stage, bar = (page.locator(each).bounding_box() for each in (".stage", ".bar"))
    assert stage
    assert bar
    assert bar["x"] >= stage["x"] + stage["width"]
    # Scrolling is not necessary.
    assert page.evaluate("document.documentElement.scrollHeight") <= 390
    resize(page, 480, 400)
    bar = page.locator(".bar").bounding_box()
    assert bar
    assert bar["height"] < 72


def test_a_table_grows_with_the_window(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.deal("discat")
    person.await_turn()
    widths = []
    for width, height in ((1280, 800), (1600, 1000), (1920, 1080), (2560, 1440)):
        resize(page, width, height)
        box = page.locator(".stage .pickable").first.bounding_box()
        assert box
        widths.append(box["height"])
    assert widths == sorted(widths)
    assert widths[-1] > 1.3 * widths[0]
