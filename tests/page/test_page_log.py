"""The log: its texts, the positions that its lines open, and the marks of the last moves."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tools.over import over

from .person import Person
from .test_page_games import GAMES

pytestmark = pytest.mark.long

# The engine's names of numbers that are not printed on any card or board.
ENGINE_NUMBERS = re.compile(r"\bat \d|section 0|carton \d|\d \(column")
# A ply of each sample at which a player other than the first puts a thing on the table, and that thing.
MOVES = {
    "chatpentiers": (7, 1),
    "momistigri": (3, 2),
    "discat": (22, 4),
    "chat_cartonne": (4, 1),
    "chat_perche": (16, 1),
}
STEPS = 6


@over("game", GAMES)
def test_the_log_is_for_players(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    person.deal(game)
    person.await_turn()
    for _ in range(STEPS):
        if not person.is_over:
            person.step()
    lines = person.page.locator(".log span").all_inner_texts()
    # There is one deal per round, and the first round may be over. In Chat perché, tokens are not dealt to players.
    later_rounds = [line for line in lines if re.match("Round [2-9] begins", line)]
    dealt = [line for line in lines if line.startswith("The cards are dealt")]
    assert len(dealt) == (0 if game == "chat_perche" else 1 + len(later_rounds))
    assert [line for line in lines if "is dealt" in line] == []
    labels = person.page.locator(".stage .item[aria-label]").evaluate_all(
        "(found) => found.map((each) => each.getAttribute('aria-label'))"
    )
    assert [text for text in [*lines, *labels] if ENGINE_NUMBERS.search(text)] == []


def test_a_deal_names_the_player_s_own_cards(visit: Callable[..., Person]) -> None:
    person = visit()
    person.deal("discat")
    person.await_turn()
    dealt = person.page.locator(".log span", has_text="The cards are dealt").inner_text()
    assert len(re.findall(r"\d+", dealt.partition("You get ")[2])) == 5
    # An onlooker gets no cards.
    person.open("record/discat/0/all")
    expect(person.page.locator(".log span", has_text="The cards are dealt")).to_have_text("The cards are dealt")


def test_a_line_shows_its_moment(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.deal("chatpentiers")
    person.await_turn()
    for _ in range(STEPS):
        person.step()
    ply, table = person.ply, page.locator(".unseen").text_content()
    page.locator(".log button[data-ply='1']").first.click()
    expect(page.locator(".prompt")).to_have_text(f"Move 1 of {ply}, as it was")
    assert page.locator(".stage .pickable").count() == 0
    assert page.locator(".unseen").text_content() != table
    page.get_by_role("button", name="Back to the game").click()
    person.await_turn()
    assert person.ply == ply
    assert page.locator(".unseen").text_content() == table
    person.step()


def test_the_keyboard_reaches_the_lines(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.open("record/discat/9/all")
    page.locator(".log").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    focused = page.locator(".log button:focus")
    expect(focused).to_have_attribute("data-ply", "9")
    page.keyboard.press("Enter")
    expect(page.locator(".slider output")).to_contain_text("9 of ")


@over("game", GAMES)
def test_the_last_moves_of_other_players_are_marked(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    ply, count = MOVES[game]
    person.open(f"record/{game}/{ply}/0")
    marks = person.page.locator(".stage .moved")
    expect(marks).to_have_count(count)
    assert "0" not in marks.evaluate_all("(found) => found.map((each) => each.dataset.seat)")
    # The person's own move is not marked.
    person.open(f"record/{game}/{ply}/{marks.first.get_attribute('data-seat')}")
    expect(person.page.locator(".stage .item").first).to_be_attached()
    assert marks.count() == 0
