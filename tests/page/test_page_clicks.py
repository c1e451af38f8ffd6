"""Clicks that hands make and programs do not."""

from collections.abc import Callable

from .person import Person

# Two points at which different parts of one thing to pick are found, if there is one; its parts overlap.
_TWO_PARTS = """() => {
  const found = new Map();
  for (let y = 0; y < innerHeight; y += 4) {
    for (let x = 0; x < innerWidth; x += 4) {
      const item = document.elementFromPoint(x, y)?.closest(".item.pickable:not(.picked)");
      if (item) {
        const [first] = found.get(item.dataset.pick) ?? [];
        if (first && first.key !== item.dataset.key) return [first, { x, y }];
        if (!first) found.set(item.dataset.pick, [{ x, y, key: item.dataset.key }]);
      }
    }
  }
  return null;
}"""


def test_a_click_may_begin_and_end_on_different_parts_of_a_thing(visit: Callable[..., Person]) -> None:
    # A castle's section and the cards in it.
    person = visit()
    person.deal("chatpentiers")
    person.await_turn()
    while (found := person.page.evaluate(_TWO_PARTS)) is None:
        person.step()
    first, second = found
    drawn = person.drawn
    person.page.mouse.move(first["x"], first["y"])
    person.page.mouse.down()
    person.page.mouse.move(second["x"], second["y"])
    person.page.mouse.up()
    person.await_turn(drawn)


def test_a_click_that_ends_elsewhere_picks_nothing(visit: Callable[..., Person]) -> None:
    person = visit()
    person.deal("chatpentiers")
    person.await_turn()
    cards = person.page.locator(".stage .pickable")
    ply = person.ply
    for press, card in ((person.page.mouse.down, cards.first), (person.page.mouse.up, cards.last)):
        box = card.bounding_box()
        assert box
        person.page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 4)
        press()
    assert person.page.locator(".picked").count() == 0
    assert person.ply == ply
    person.step()
