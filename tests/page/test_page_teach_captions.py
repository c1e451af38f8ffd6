"""Captions: each thing has a caption with its name and its effect, and each click gets a response."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tools.over import over

from .person import Person
from .test_page_games import GAMES

pytestmark = pytest.mark.long

CAPTION = ".stage .caption"
REFUSAL = ".bar .refusal"

# A thing of each game that can never be picked, and a part of its caption.
THINGS = {
    "chat_cartonne": ("plate:1", "The final phase begins when"),
    "chat_perche": ("deck:1", "Its top card is turned up automatically"),
    "chatpentiers": ("plate:1", "After three rounds"),
    "discat": ("panel:1", "A card on a pile is worth a point"),
    "momistigri": ("plate:1", "Each draws from the player before"),
}
# Returns a point of a thing that is far from its edges.
_POINT = """(key) => {
  const one = document.querySelector(`.item[data-key="${key}"]`);
  const { x, y, width, height } = one.getBoundingClientRect();
  const parts = [5, 4, 6, 3, 7, 2, 8, 1, 9];
  for (const [across, down] of parts.flatMap((across) => parts.map((down) => [across, down]))) {
    const point = { x: Math.round(x + (width * across) / 10), y: Math.round(y + (height * down) / 10) };
    if (document.elementFromPoint(point.x, point.y)?.closest(".item") === one) return point;
  }
  return null;
}"""


def dealt(person: Person, game: str) -> None:
    person.deal(game, "me", *[""] * {"chat_perche": 1, "discat": 1, "chat_cartonne": 1}.get(game, 2))
    person.await_turn()


def point_of(person: Person, key: str) -> tuple[float, float]:
    found = person.page.evaluate(_POINT, key)
    assert found, f"{key} is hidden"
    return found["x"], found["y"]


@over("game", GAMES)
def test_a_pointer_that_rests_gets_a_caption(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    dealt(person, game)
    key, does = THINGS[game]
    caption = person.page.locator(CAPTION)
    expect(caption).to_be_hidden()
    person.page.mouse.move(*point_of(person, key))
    expect(caption).to_contain_text(does)
    label = person.page.locator(f'.item[data-key="{key}"]').get_attribute("aria-label")
    expect(caption.locator("strong")).to_have_text(label or "")
    # The caption is within the stage, and covers no other things.
    stage, box = (person.page.locator(each).bounding_box() for each in (".stage", CAPTION))
    assert stage
    assert box
    assert stage["x"] <= box["x"]
    assert box["x"] + box["width"] <= stage["x"] + stage["width"] + 1
    person.page.mouse.move(1, 1)
    expect(caption).to_be_hidden()


@over("game", GAMES)
def test_a_click_on_a_thing_that_cannot_be_picked_gives_the_reason(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    dealt(person, game)
    key, does = THINGS[game]
    prompt = person.page.locator(".prompt").inner_text()
    refusal = person.page.locator(REFUSAL)
    person.page.mouse.click(*point_of(person, key))
    expect(refusal).to_contain_text("that can’t be picked now.")
    expect(refusal).to_contain_text(does)
    expect(refusal).to_contain_text(prompt)


def test_an_empty_place_responds_too(visit: Callable[..., Person]) -> None:
    person = visit()
    dealt(person, "discat")
    stage = person.page.locator(".drawing").bounding_box()
    assert stage
    person.page.mouse.click(stage["x"] + stage["width"] / 2, stage["y"] + 2)
    expect(person.page.locator(REFUSAL)).to_contain_text("There is nothing to pick here.")


def test_the_focus_gets_a_caption(visit: Callable[..., Person]) -> None:
    person = visit()
    dealt(person, "discat")
    focused = person.tab_to(".stage .pickable")
    caption = person.page.locator(CAPTION)
    expect(caption.locator("strong")).to_have_text(focused.get_attribute("aria-label") or "")
    expect(caption.locator("span")).to_contain_text("makes the next player go")
    person.page.keyboard.press("Escape")
    expect(caption).to_be_hidden()
    # The arrow keys also reach things that cannot be picked, and these respond.
    person.page.keyboard.press("ArrowUp")
    expect(person.page.locator(":focus")).not_to_have_class("item pickable")
    person.page.keyboard.press("Enter")
    expect(person.page.locator(REFUSAL)).to_contain_text("that can’t be picked now.")


def test_a_long_press_shows_a_caption_and_picks_nothing(visit: Callable[..., Person]) -> None:
    person = visit(way="taps")
    dealt(person, "discat")
    page = person.page
    card = page.locator(".stage .pickable").first
    x, y = point_of(person, card.get_attribute("data-key") or "")
    touches = page.context.new_cdp_session(page)
    touches.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    caption = page.locator(CAPTION)
    expect(caption.locator("strong")).to_have_text(card.get_attribute("aria-label") or "")
    touches.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    # The caption stays, so that it can be read.
    expect(caption).to_be_visible()
    expect(page.locator(".stage .picked")).to_have_count(0)
    page.touchscreen.tap(x, y)
    expect(page.locator(".stage .picked")).to_have_count(1)


# Returns two cards of the hand that cannot be played together, or null if any two cards can.
_APART = """() => {
  const all = [...document.querySelectorAll(".stage .pickable")].map(({ dataset }) => Number(dataset.pick.slice(5)));
  for (const one of all) {
    for (const other of all) {
      if (one % 10 !== other % 10 && Math.floor(one / 10) !== Math.floor(other / 10)) return [one, other];
    }
  }
  return null;
}"""


def test_a_card_that_is_put_back_is_named(visit: Callable[..., Person]) -> None:
    person = visit()
    # Such cards are missing only if all five cards of the hand have a common digit. In that case, deal again.
    while True:
        dealt(person, "discat")
        if found := person.page.evaluate(_APART):
            break
    one, other = found
    prompt = person.page.locator(".prompt")
    person.pick(f'.item[data-pick="card:{one}"]')
    expect(prompt).not_to_contain_text("Put back")
    person.pick(f'.item[data-pick="card:{other}"]')
    expect(prompt).to_contain_text(f"Put back, as they do not go together: card {one},")
    expect(person.page.locator(".stage .picked")).to_have_attribute("data-pick", f"card:{other}")
