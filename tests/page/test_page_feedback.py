"""Sounds and vibration: off until the player chooses them, and synthesised by the browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .live import await_actor, gathered
from .person import Person

pytestmark = pytest.mark.long

# Counts the tones that the page starts, and the vibrations.
_COUNT = """(() => {
  window.tones = 0;
  window.felt = 0;
  const { start } = OscillatorNode.prototype;
  OscillatorNode.prototype.start = function (...given) { window.tones++; return start.apply(this, given); };
  navigator.vibrate = () => (window.felt++, true);
})()"""
_HEARD = "() => window.tones > 0"


def modules(person: Person) -> list[str]:
    return [request.url for request in person.requests if request.url.endswith("/sounds.js")]


def chosen(person: Person, setting: str) -> None:
    person.page.locator(".settings summary").click()
    person.page.locator(f".settings [name={setting}]").select_option("on")
    person.page.keyboard.press("Escape")


def test_a_table_is_silent_until_sounds_are_chosen(visit: Callable[..., Person]) -> None:
    person = visit(way="taps")
    person.context.add_init_script(_COUNT)
    person.deal("discat")
    person.await_turn()
    person.move()
    person.await_turn()
    assert person.page.evaluate("[window.tones, window.felt]") == [0, 0]
    assert modules(person) == []
    # The player hears an example, then picks and moves. No sound is a file.
    chosen(person, "sound")
    person.await_true(_HEARD)
    person.evaluate("() => (window.tones = 0)")
    person.move()
    person.await_true(_HEARD)
    assert len(modules(person)) == 1
    assert not [each.url for each in person.requests if each.resource_type == "media"]
    assert person.page.evaluate("window.felt") == 0


def test_a_touch_vibrates_if_the_player_wants_it(visit: Callable[..., Person]) -> None:
    person = visit(way="taps")
    person.context.add_init_script(_COUNT)
    person.deal("discat")
    person.await_turn()
    chosen(person, "vibration")
    assert person.page.evaluate("window.felt") == 1
    person.move()
    assert person.page.evaluate("window.felt") > 1
    assert person.page.evaluate("window.tones") == 0


def test_a_device_without_touch_offers_no_vibration(visit: Callable[..., Person]) -> None:
    person = visit()
    person.open("")
    person.page.locator(".settings summary").click()
    expect(person.page.locator(".settings [name=sound]")).to_have_value("off")
    expect(person.page.locator(".settings [name=vibration]")).to_have_count(0)


def test_a_sound_announces_the_turn_in_a_live_game(visit: Callable[..., Person]) -> None:
    people = gathered(visit, "chat_perche", ["Anna", "Ben"])
    actor = await_actor(people)
    assert actor
    other = next(each for each in people if each is not actor)
    other.evaluate("() => { window.tones = 0; }")
    other.evaluate(f"() => {_COUNT}")
    chosen(other, "sound")
    other.await_true(_HEARD)
    other.evaluate("() => (window.tones = 0)")
    actor.move()
    other.await_true("() => window.tones >= 4")
