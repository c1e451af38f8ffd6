"""A browser whose storage is blocked or full: everything that needs no storage works."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .live import await_table, come, deal, opened_room
from .person import Person

pytestmark = pytest.mark.long

_BLOCK = """for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });
}"""
# Other data of the same origin fills the storage, except for a few bytes.
_FILL = """() => {
  let text = "x".repeat(2 ** 20);
  for (let number = 0; text.length > 0; number++) {
    try {
      localStorage.setItem("other " + number, text);
    } catch {
      text = text.slice(0, text.length / 2);
    }
  }
}"""


def blocked(person: Person) -> Person:
    person.context.add_init_script(_BLOCK)
    return person


def filled(person: Person) -> Person:
    person.open("")
    person.evaluate(_FILL)
    return person


@pytest.mark.parametrize("limited", [blocked, filled])
def test_rules_puzzles_and_records_need_no_storage(
    visit: Callable[..., Person], limited: Callable[[Person], Person]
) -> None:
    person = limited(visit())
    page = person.page
    person.open("")
    expect(page.locator(".unkept")).to_have_count(1 if limited is blocked else 0)
    page.locator("a[href='rules/discat.html']").first.click()
    expect(page.locator("dialog.rules .totals tbody tr").first).to_be_visible()
    page.keyboard.press("Escape")
    person.open("puzzle/discat")
    expect(page.locator(".puzzle")).to_be_visible()
    person.open("record/discat")
    expect(page.locator(".slider output")).to_contain_text("0 of")
    person.open("learn/discat")
    expect(page.locator(".guided .count")).to_contain_text("Step 1")
    page.locator(".settings summary").click()
    page.locator("[name=language]").select_option("fr")
    expect(page.locator(".guided .count")).to_contain_text("Étape 1")


@pytest.mark.parametrize("limited", [blocked, filled])
def test_watching_a_room_needs_no_storage(visit: Callable[..., Person], limited: Callable[[Person], Person]) -> None:
    host, guest, onlooker = visit(), visit(), limited(visit())
    link = opened_room(host, "discat", 2)
    come(guest, link, "Ben")
    onlooker.open_link(f"{link}/watch")
    deal(host, 2)
    await_table(host, guest, onlooker)


def test_a_seat_is_not_taken_if_it_cannot_be_kept(visit: Callable[..., Person]) -> None:
    person = filled(visit())
    person.open("new/discat")
    person.page.locator(".new-game button.primary").click()
    expect(person.page.locator(".new-game .refusal")).to_contain_text("no room left")


def test_a_game_against_bots_can_be_played_while_storage_is_blocked(visit: Callable[..., Person]) -> None:
    person = blocked(visit())
    person.deal("discat")
    for _ in range(3):
        person.await_turn()
        person.step()
