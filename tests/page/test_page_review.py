"""The review of a record: its curve, the played moves and better ones, the continuation of a game, and links."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tools.over import over

from chatiere.clients.records import read_record

from .person import PATIENCE, Person
from .player import NEWEST
from .test_page_games import GAMES, SOME

pytestmark = pytest.mark.long

SAMPLES = Path(__file__).parents[2] / "docs" / "games"
SLIDER = ".slider input[type=range]"
COUNT = ".slider output"


def last_of(game: str) -> int:
    return len(read_record(SAMPLES / f"{game}.chatiere").actions)


def reviewed(person: Person, game: str, ply: int = 0, viewer: str = "open") -> None:
    """Open a sample and wait for its whole review."""
    person.open(f"record/{game}/{ply}/{viewer}")
    person.page.get_by_role("button", name="Analyse").click()
    last = last_of(game)
    status = person.page.locator(".review [role=status]")
    expect(status).to_have_text(f"{last} of {last} moves analysed", timeout=PATIENCE)
    expect(person.page.locator(".review .worst h3")).to_be_visible()


@over("game", SOME)
def test_a_review_shows_the_chances_and_the_worst_moves(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    reviewed(person, game)
    record = read_record(SAMPLES / f"{game}.chatiere")
    expect(page.locator(".review polyline")).to_have_count(record.players)
    points = page.locator(".review polyline").evaluate_all(
        "lines => lines.map(({ points }) => points.numberOfItems).reduce((a, b) => a + b)"
    )
    assert points == len(record.actions)
    expect(page.get_by_role("img", name="The chances of winning of all players, move by move")).to_be_visible()
    # Each seat has at most three buttons, and each button leads to its move.
    for seat in page.locator(".review .worst li").all():
        assert 1 <= len(seat.get_by_role("button").all()) <= 3
    first = page.locator(".review .worst button").first
    number, loss = re.fullmatch(r"Move (\d+) \(−(\d+)%\)", first.inner_text()).groups()  # type: ignore[union-attr]
    first.click()
    expect(page.locator(COUNT)).to_have_text(f"{int(number) - 1} of {last_of(game)}")
    expect(page.locator(".review .judged")).to_contain_text(re.compile(rf"plays: .* \(−{loss}%\)\. The search"))


def test_the_best_move_is_the_service_s(visit: Callable[..., Person]) -> None:
    person = visit()
    reviewed(person, "discat")
    record = read_record(SAMPLES / "discat.chatiere")
    request = {"record": {"game": "discat", "rulesVersion": 1, "players": 3, "stream": {"seed": "7"}}, "seed": "1"}
    request["record"]["actions"] = list(record.actions)  # type: ignore[index]
    found = person.page.evaluate(
        "async (request) => (await import('./api.js')).call('BotService/Analyse', request)", request
    )["decisions"]
    for ply in (0, 1, 2, 3):
        person.open(f"record/discat/{ply}/open")
        person.page.get_by_role("button", name="Analyse").click()
        best = found[ply]["best"][0]["action"]["label"]
        expect(person.page.locator(".review .judged")).to_contain_text(best[0].upper() + best[1:], timeout=PATIENCE)


def test_a_review_as_a_seat_hides_other_hands(visit: Callable[..., Person]) -> None:
    """Only decisions of that seat are judged. For a spectator no decision is judged."""
    person = visit()
    page = person.page
    reviewed(person, "discat")
    judged = page.locator(".review .judged")
    for viewer, is_told in [("0", False), ("2", True), ("all", False), ("open", True)]:
        page.locator(".replay select").select_option(viewer)
        # At the beginning seat 2 decides.
        expect(judged).to_contain_text("Velours") if is_told else expect(judged).to_be_empty()


def test_all_hands_are_open_or_only_one(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    hidden = page.locator(".stage .item[aria-label*='hidden' i], .stage .item[aria-label*='face down' i]")
    person.open("record/discat/0/0")
    expect(page.locator(".stage .item").first).to_be_visible()
    mine = page.locator(".stage").inner_text()
    page.locator(".replay select").select_option("open")
    page.wait_for_function("before => document.querySelector('.stage').innerText !== before", arg=mine)
    expect(page).to_have_url(re.compile("/open$"))
    expect(hidden).to_have_count(0)


def test_keys_go_back_and_forth(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.open("record/discat")
    last = last_of("discat")
    expect(page.locator(".bar .prompt")).to_have_text("It is Velours's turn")
    page.locator("h1").click()
    for key, ply in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last), ("Home", 0)):
        page.keyboard.press(key)
        expect(page.locator(COUNT)).to_have_text(f"{ply} of {last}")
    # A list handles its own keys.
    page.locator(".replay select").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".replay select")).not_to_have_value("all")
    expect(page.locator(COUNT)).to_have_text(f"0 of {last}")


@over("game", SOME)
def test_a_record_can_be_continued_to_the_end(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    last = last_of(game)
    ply = last - 3
    person.open(f"record/{game}/{ply}")
    expect(page.locator(COUNT)).to_have_text(f"{ply} of {last}")
    page.get_by_role("button", name="Play on from here").click()
    notice = page.locator(".playing-on [role=status]")
    expect(notice).to_contain_text("You play on as")
    expect(page.locator(".review")).to_be_hidden()
    # Make the first available move repeatedly, until a player has won.
    ready = ".stage .pickable, .bar .choices button[data-action]"
    for _ in range(200):
        page.wait_for_function(
            """(ready) => /win|won/.test(document.querySelector(".playing-on [role=status]").textContent)
              || document.querySelector(ready) !== null""",
            arg=ready,
        )
        if re.search("win|won", notice.inner_text()):
            break
        page.evaluate(
            """() => {
              const button = document.querySelector(".bar .choices button[data-action]");
              const item = ["pickable:not(.picked)", "pickable"]
                .map((each) => document.querySelector(`.stage .${each}`))
                .find((each) => each !== null);
              (button ?? item).dispatchEvent(new MouseEvent("click", { bubbles: true }));
            }"""
        )
        page.wait_for_selector(NEWEST, state="attached")
    expect(notice).to_contain_text(re.compile("win|won"))
    page.get_by_role("button", name="Back to the record").click()
    expect(page.locator(COUNT)).to_have_text(f"{ply} of {last}")
    expect(page.locator(SLIDER)).to_have_value(str(ply))
    expect(page.locator(".review")).to_be_visible()


@over("game", GAMES)
def test_a_link_contains_a_record(visit: Callable[..., Person], game: str) -> None:
    person, other = visit(), visit()
    person.open(f"record/{game}")
    page = person.page
    page.locator("summary", has_text="Share").click()
    link = page.get_by_label("Link to this record").input_value()
    assert len(link) < 2000
    other.open_link(link)
    last = last_of(game)
    expect(other.page.locator(COUNT)).to_have_text(f"0 of {last}")
    for each in (person, other):
        each.page.keyboard.press("End")
        expect(each.page.locator(COUNT)).to_have_text(f"{last} of {last}")
        expect(each.page.locator(".scores .rank").first).to_be_visible()
    assert other.page.locator(".scores").inner_text() == page.locator(".scores").inner_text()
    # The address still contains the record.
    expect(other.page).to_have_url(re.compile(rf"/~[\w-]+/{last}/all$"))
    other.page.reload()
    expect(other.page.locator(COUNT)).to_have_text(f"{last} of {last}")


def test_a_truncated_link_is_reported(visit: Callable[..., Person]) -> None:
    person = visit()
    for word in ("~", "~AAAA", "~%"):
        person.open(f"record/{word}")
        expect(person.page.locator(".failed p").first).to_have_text("There is no such record")
