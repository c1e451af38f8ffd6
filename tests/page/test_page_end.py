"""The end of a game: the winners and the reason, the totals, the open hands, and the next game (see
test_page_games.py).
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .person import Person

pytestmark = pytest.mark.long

# A function that returns the rows of the table of totals: each player's name, whether the player has won, and the
# player's numbers. The last number is the total.
_ROWS = """() => [...document.querySelectorAll(".totals tbody tr")].map((row) => ({
  name: row.querySelector("th").textContent,
  won: row.classList.contains("won"),
  numbers: [...row.querySelectorAll("td")].map(({ textContent }) => Number(textContent)),
}))"""
# The selector of the cards that are hidden from all seats during the game. Their backs remain on the table.
BACKS = ".stage [data-key^='back:']"
# A function that returns the text about the winners.
_WON = """async (winners) => {
  const { wonText } = await import("./result.js");
  return [undefined, 0].map((me) => wonText(winners, me));
}"""


def check_the_end(person: Person) -> None:
    """Check the page's text at the end of a game, and begin the next game."""
    page = person.page
    rows = page.evaluate(_ROWS)
    winners = [row["name"].removesuffix(" (you)") for row in rows if row["won"]]
    heading = page.locator(".notice.end h2").inner_text()
    assert winners
    assert rows[0]["won"]
    if rows[0]["name"].endswith(" (you)"):
        assert heading.startswith("You")
    else:
        assert heading.startswith(winners[0])
    why = page.locator(".notice.end h2 + p").inner_text()
    assert why
    assert page.locator(".prompt").inner_text() == f"{heading}. {why}"
    assert [row["name"] for row in rows].count("Moustache (you)") == 1
    for row in rows:
        assert len(row["numbers"]) == page.locator(".totals thead th").count() - 1
    before = page.url
    page.locator(".notice.end").get_by_role("button", name="Share").click()
    assert "/#/table/" in (person.shared or "")
    page.locator(".notice.end").get_by_role("button", name="New game").click()
    page.wait_for_function("(before) => location.href !== before", arg=before)
    expect(page.locator(".scores .seat")).to_have_count(len(rows))


def test_hands_are_open_at_the_end(visit: Callable[..., Person]) -> None:
    person = visit()
    person.deal("discat", "me", "", "", "")
    person.await_turn()
    assert person.page.locator(BACKS).count() > 0
    person.play_to_the_end()
    expect(person.page.locator(BACKS)).to_have_count(0)
    check_the_end(person)


def test_winners_in_words(visit: Callable[..., Person]) -> None:
    person = visit()
    person.open("")
    for winners, said in (
        ([1], ["Griffe wins", "Griffe wins"]),
        ([0], ["Moustache wins", "You win"]),
        ([0, 1], ["Moustache and Griffe win", "You and Griffe win"]),
        ([1, 2], ["Griffe and Velours win", "Griffe and Velours win"]),
    ):
        assert person.page.evaluate(_WON, winners) == said


def test_a_game_by_links_is_offered_again_with_the_same_seats(visit: Callable[..., Person]) -> None:
    person = visit()
    person.open("new/discat/link%20me%20random/next")
    chosen = [person.page.locator(f"[name=seat-{seat}]").input_value() for seat in range(3)]
    assert chosen == ["link", "me", "random"]
    assert person.page.locator("[name=trust][value=next]").is_checked()
    # Choices that the page does not offer leave the defaults unchanged.
    person.open("new/discat/me%20nobody/often")
    assert person.page.locator("[name=seat-1]").input_value() not in ("", "nobody")
