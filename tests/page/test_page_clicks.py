"""Clicks with a mouse whose press, movement and release are separate."""

from collections.abc import Callable

import pytest

from .person import Person
from .player import NEWEST

pytestmark = pytest.mark.long

# Returns two points in different parts of one thing that can be picked, or null if nothing has several parts. Its parts
# may overlap.
_TWO_PARTS = """async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const selector = ".item.pickable:not(.picked)";
  const items = [...document.querySelectorAll(selector)];
  const parts = items.filter((one) => items.some((each) => each !== one && each.dataset.pick === one.dataset.pick));
  const found = new Map();
  for (const { left, right, top, bottom } of parts.map((part) => part.getBoundingClientRect())) {
    // Away from the edge, which a pointer in whole pixels may miss.
    for (let y = top + 2; y < bottom - 2; y += 4) {
      for (let x = left + 2; x < right - 2; x += 4) {
        const item = document.elementFromPoint(x, y)?.closest(selector);
        if (item) {
          const [first] = found.get(item.dataset.pick) ?? [];
          if (first && first.key !== item.dataset.key) return [first, { x, y }];
          if (!first) found.set(item.dataset.pick, [{ x, y, key: item.dataset.key }]);
        }
      }
    }
  }
  return null;
}"""


def test_a_click_may_begin_and_end_on_different_parts_of_a_thing(visit: Callable[..., Person]) -> None:
    # The parts of the thing are a castle's section and the cards in it.
    person = visit()
    person.deal("chatpentiers")
    person.await_turn()
    while (found := person.page.evaluate(_TWO_PARTS)) is None:
        person.step()
    first, second = found
    before = person.ply, picks(person, ".picked")
    person.page.mouse.move(first["x"], first["y"])
    person.page.mouse.down()
    person.page.mouse.move(second["x"], second["y"])
    person.page.mouse.up()
    person.page.wait_for_selector(NEWEST, state="attached")
    assert (person.ply, picks(person, ".picked")) != before


def picks(person: Person, selector: str) -> list[str]:
    """Return the things to which items of the stage belong."""
    found: list[str] = person.page.locator(f".stage {selector}").evaluate_all(
        "(found) => found.map(({ dataset }) => dataset.pick)"
    )
    return found


def test_a_click_that_ends_elsewhere_picks_nothing(visit: Callable[..., Person]) -> None:
    person = visit()
    person.deal("chatpentiers")
    person.await_turn()
    cards = person.page.locator(".stage .pickable")
    # A player who must follow a colour may have only one card of it, and a castle's section has several parts.
    while len(set(found := picks(person, ".pickable"))) < max(2, len(found)):
        person.step()
    before = person.ply, picks(person, ".picked")
    for press, card in ((person.page.mouse.down, cards.first), (person.page.mouse.up, cards.last)):
        box = card.bounding_box()
        assert box
        person.page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 4)
        press()
    assert (person.ply, picks(person, ".picked")) == before
    person.step()


# Returns the position of a thing in each of several frames, with true if the pointer is on it.
_PLACES = """async (one) => {
  const places = [];
  for (let frame = 0; frame < 6; frame++) {
    await new Promise(requestAnimationFrame);
    places.push([one.getBoundingClientRect().y, one.matches(":hover")]);
  }
  return places;
}"""


def test_a_thing_stays_under_a_pointer_at_its_edge(visit: Callable[..., Person]) -> None:
    person = visit()
    person.deal("discat")
    person.await_turn()
    card = person.page.locator(".stage .pickable").first
    box = card.evaluate("(one) => one.getBoundingClientRect().toJSON()")
    person.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 1)
    assert card.evaluate(_PLACES) == [[box["y"], True]] * 6
