"""A table fits into any window from a phone's to a wide desktop's: no thing that can be picked is hidden."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
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


LONG_NAMES = (
    "W" * 24,
    "MAMAN WOMBAT MAXIMILIEN!",
    "Wilhelmine Wolffenmümmel",
    "محمد‌رضا می‌خواهم ببینمش",
    "Mme Emma Wombat-Mammouth",
    "Anne-Marguerite Montgolf",
)
_CALL_SEATS = "async (names) => (await import('./seat_names.js')).callSeats(names)"
# Returns the names on the table that reach beyond their item or the window, or that overlap another item or a button.
_OVERLAPPED = """(names) => {
  const inside = (one, other) => one.left >= other.left - 1 && one.right <= other.right + 1;
  const meet = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 3;
  const others = [...document.querySelectorAll(".stage .item, .camera button")];
  const isName = (text) => names.some((name) => text.includes(name.slice(0, 3)));
  const texts = [...document.querySelectorAll(".stage text")].filter((each) => isName(each.textContent));
  const stage = document.querySelector(".stage").getBoundingClientRect();
  return texts.flatMap((text) => {
    const place = text.getBoundingClientRect();
    const hidden = others.filter((other) => {
      const box = other.getBoundingClientRect();
      return !other.contains(text) && meet(place, box) && !inside(place, box);
    });
    return inside(place, stage) && hidden.length === 0
      ? []
      : [[text.textContent, ...hidden.map((each) => each.dataset.key ?? each.textContent)]];
  });
}"""


@over("game", GAMES)
@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_fit(visit: Callable[..., Person], game: str, width: int) -> None:
    person = visit(width=width)
    page = person.page
    for last in (False, True):
        person.open(f"new/{game}")
        options = page.locator("[name=players] option")
        players = (options.last if last else options.first).get_attribute("value")
        page.evaluate(_CALL_SEATS, LONG_NAMES)
        page.locator("[name=players]").select_option(players)
        page.locator(".new-game button.primary").click()
        for _ in range(3):
            person.await_turn()
            if not person.is_over:
                assert page.evaluate(_OVERLAPPED, LONG_NAMES) == []
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                person.move()


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


# Returns the buttons and pieces that are smaller than a fingertip, 44 pixels. The edges of rotated cards are rounded. A
# piece within another one with the same pick, such as a stone in a tower, is a part of the other one's area.
_SMALL = """() => {
  const touched =
    ".stage .pickable:not(.picked), .bar :is(button, summary), .camera button," +
    ".guided button, .replay button, .title a";
  return [...document.querySelectorAll(touched)].filter((each) => each.checkVisibility()).flatMap((each) => {
    const { pick } = each.dataset;
    const areas = pick ? [...document.querySelectorAll(`.stage [data-pick="${pick}"]`)] : [each];
    const own = each.getBoundingClientRect();
    const boxes = areas.map((area) => area.getBoundingClientRect()).filter(({ left, top, right, bottom }) =>
      left <= own.left + 1 && top <= own.top + 1 && right >= own.right - 1 && bottom >= own.bottom - 1);
    const { width, height } = boxes.reduce((one, other) => (other.height > one.height ? other : one), own);
    return Math.min(width, height) < 43.5 ? [[each.dataset.key ?? each.textContent, width, height]] : [];
  });
}"""


@over("game", GAMES)
def test_what_is_touched_is_as_large_as_a_fingertip(visit: Callable[..., Person], game: str) -> None:
    person = visit(way="taps", width=390, animation="off")
    person.deal(game)
    person.await_turn()
    for _ in range(10):
        if not person.is_over:
            assert person.page.evaluate(_SMALL) == []
            person.step()
    for fragment in (f"learn/{game}", f"record/{game}/9"):
        person.open(fragment)
        assert person.page.evaluate(_SMALL) == []


# Returns true if the sentence and the slider of a record are visible.
_SEES_BOTH = """() => [".bar .prompt", ".slider input"].every((selector) => {
  const element = document.querySelector(selector);
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
})"""


@over("game", GAMES)
@pytest.mark.parametrize("size", [(390, 844), (1280, 860), (1600, 1000)], ids=lambda size: f"{size[0]}")
def test_the_slider_of_a_record_does_not_hide_the_sentence(
    visit: Callable[..., Person], game: str, size: tuple[int, int]
) -> None:
    person = visit(width=size[0])
    person.open(f"record/{game}/9")
    resize(person.page, *size)
    person.await_true(_SEES_BOTH)


# Returns true if the points in the middle of the title and of the link to the rules belong to them.
_SEES_TITLE = """() => [".title h1", ".title a"].every((selector) => {
  const element = document.querySelector(selector);
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
})"""


@pytest.mark.parametrize("banner", ["waiting", "trouble"])
def test_a_banner_does_not_hide_the_title(visit: Callable[..., Person], banner: str) -> None:
    person = visit(width=390)
    person.open("record/discat/9")
    assert person.page.evaluate(_SEES_TITLE)
    person.page.evaluate(
        """(name) => {
          const banner = document.querySelector("." + name);
          banner.textContent = "The service can't be reached, or is busy. Trying again …";
          banner.hidden = false;
        }""",
        banner,
    )
    assert person.page.evaluate(_SEES_TITLE)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (390, 660), (1280, 800)])
@over("game", GAMES)
def test_the_slider_of_a_record_is_visible(visit: Callable[..., Person], game: str, width: int, height: int) -> None:
    person = visit()
    person.page.set_viewport_size({"width": width, "height": height})
    person.open(f"record/{game}/9")
    box = person.page.locator(".slider input").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= height


def test_a_sample_plays_by_itself(visit: Callable[..., Person]) -> None:
    person = visit()
    person.open("")
    person.page.locator("[data-game=discat]").get_by_text("Watch a sample").click()
    expect(person.page.locator(".slider output")).to_contain_text("2 of ")
    person.page.locator(".slider").get_by_text("Pause", exact=True).click()


def test_settings_close_by_a_click_outside_and_by_escape(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.open("")
    settings, summary = page.locator(".settings"), page.locator(".settings summary")
    summary.click()
    page.locator("h1").click()
    expect(settings).not_to_have_attribute("open", "")
    summary.click()
    page.locator("body").press("Escape")
    expect(settings).not_to_have_attribute("open", "")


# Returns the cards of the hand that the bar covers.
_COVERED = """() => {
  const { top } = document.querySelector(".bar").getBoundingClientRect();
  return [...document.querySelectorAll(".stage .pickable")].filter((item) => {
    const box = item.getBoundingClientRect();
    return box.bottom - top > box.height / 4;
  }).map(({ dataset }) => dataset.key);
}"""


def test_the_bar_of_a_guided_game_does_not_cover_the_hand(visit: Callable[..., Person]) -> None:
    person = visit(language="fr", width=390, animation="off")
    page = person.page
    page.set_viewport_size({"width": 390, "height": 844})
    person.open("learn/discat")
    page.locator(".guided").get_by_text("Suite", exact=True).click()
    person.pick('.stage .item[data-pick="card:11"]')
    page.locator(".bar .choices button.primary").click()
    expect(page.locator(".guided .count")).to_have_text("Étape 3 sur 9")
    assert page.evaluate(_COVERED) == []
