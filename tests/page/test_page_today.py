"""The page of the day: puzzles, the game of the day, results to share; and the player's own results."""

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .person import Person
from .test_page_puzzles import choose, puzzles_of

pytestmark = pytest.mark.long

DATE = date(2026, 11, 30)
DAY = (DATE - date(1970, 1, 1)).days
# Keeps games against each kind of opponent, with analyses, and results of today.
_KEEP = """async () => {
  const { keepDay, keepGame } = await import("./yours/results.js");
  const { today } = await import("./days.js");
  const { ladder } = await (await import("./games.js")).listBots("discat");
  const [kitten, cat] = ladder.map(({ bot }) => bot);
  const games = [[kitten], [cat], [cat, kitten], ["random"], [null, cat], ["a bot that is gone"]];
  games.forEach((others, number) => {
    const [won, total, lost] = [number % 2 === 0, 10 + number, number / 50];
    const seats = [null, ...others];
    keepGame({ id: `game ${number}`, game: "discat", seats, seat: 0, won, total, time: number, lost });
  });
  keepDay(today(), "discat", 3);
  keepDay(today(), "momistigri", 0);
  keepDay(today() - 1, "game", 2);
}"""


def keep_results(person: Person) -> None:
    person.evaluate(_KEEP)


def at_day(person: Person) -> Page:
    """Set the clock to a day on which Discat is the game of the day."""
    person.page.clock.set_fixed_time(f"{DATE}T12:00:00")
    return person.page


def number_of(page: Page, game: str) -> int:
    found: int = page.evaluate(
        "async (given) => (await import('./days.js')).puzzleOfDay(...given)", [DAY, len(puzzles_of(game))]
    )
    return found


def make_first_move(person: Person) -> None:
    """Make the first legal move, so that the moves depend on nothing but the game."""
    person.evaluate("() => { document.querySelector('.all-actions').open = true; }")
    person.page.locator(".all-actions li button").first.click()
    person.await_turn()


def test_the_puzzles_of_the_day_are_shared_without_their_solutions(visit: Callable[..., Person]) -> None:
    person = visit()
    page = at_day(person)
    person.open("")
    page.get_by_role("link", name="Puzzles and game of the day").click()
    expect(page.locator("h1")).to_have_text("Today")
    puzzles = page.locator("ul").first.locator("li")
    expect(puzzles).to_have_count(5)
    expect(page.get_by_text("not solved yet")).to_have_count(5)
    expect(page.locator(".share")).to_have_count(0)
    # Nothing is loaded before it is opened.
    assert not [each.url for each in person.requests if re.search("/(puzzles|games)/", each.url)]
    puzzles.filter(has_text="Discat").get_by_role("link").click()
    page.wait_for_selector(".puzzle")
    number = number_of(page, "discat")
    choose(page, "discat", number, 1)
    expect(page.locator(".puzzle [role=status]")).to_contain_text("Try again")
    choose(page, "discat", number, 0)
    expect(page.locator(".puzzle [role=status]")).to_contain_text("Right!")
    page.locator(".puzzle").get_by_role("link", name="Today").click()
    expect(puzzles.filter(has_text="Discat")).to_contain_text("solved with move 2")
    puzzles.filter(has_text="Momistigri").get_by_role("link").click()
    page.get_by_role("button", name="See the answer").click()
    expect(page.locator(".puzzle [role=status]")).to_contain_text("The best move is")
    page.locator(".puzzle").get_by_role("link", name="Today").click()
    expect(puzzles.filter(has_text="Momistigri")).to_contain_text("answer seen")
    expect(page.get_by_text("1 day.")).to_be_visible()
    link = f"{person.origin}/#/today/{DAY}"
    shared = f"Chatière · November 30, 2026\nMomistigri –\nDiscat ✗✓\n{link}"
    expect(page.locator(".share textarea")).to_have_value(shared)


def test_a_link_to_a_past_day_shows_its_puzzles_and_keeps_no_results(visit: Callable[..., Person]) -> None:
    person = visit(language="fr")
    page = at_day(person)
    person.open(f"today/{DAY - 3}")
    expect(page.locator("h1")).to_have_text("27 novembre 2026")
    page.locator("li", has_text="Discat").first.get_by_role("link").click()
    page.get_by_role("button", name="Voir la réponse").click()
    expect(page.get_by_role("button", name="Réessayer")).to_be_visible()
    page.locator(".puzzle").get_by_role("link", name="Aujourd’hui").click()
    expect(page.locator("h1")).to_have_text("27 novembre 2026")
    expect(page.get_by_text("pas encore résolu")).to_have_count(5)
    page.get_by_role("link", name="Aller à aujourd’hui").click()
    expect(page.locator("h1")).to_have_text("Aujourd’hui")
    assert person.evaluate("async () => (await import('./yours/results.js')).results().days") == {}


def test_all_players_who_make_the_same_moves_have_the_same_game_of_the_day(visit: Callable[..., Person]) -> None:
    moves = "async (day) => (await import('./yours/results.js')).movesOfDay(day)"
    played = []
    for interrupted in (False, True):
        person = visit()
        page = at_day(person)
        person.open("day")
        expect(page.locator(".table-page[data-game=discat]")).to_be_visible()
        person.await_turn()
        while not person.is_over:
            make_first_move(person)
            if interrupted:
                # The page continues the game from the moves that it has kept.
                interrupted = False
                page.reload()
                person.await_turn()
        played.append((person.evaluate(moves, DAY), page.locator(".totals").inner_text()))
    assert played[0] == played[1]
    assert len(played[0][0]) > 10
    # The game can be analysed, and it does not count a second time.
    page.get_by_role("button", name="Look at the record").click()
    expect(page.get_by_role("button", name="Analyse")).to_be_visible()
    person.open("today")
    result = page.locator("li", has_text="Discat").last
    expect(result).to_contain_text(re.compile(r"place \d, total -?\d+"))
    expect(page.locator(".share textarea")).to_have_value(re.compile("Discat, game of the day: place [12]\n"))
    before = result.inner_text()
    result.get_by_role("link").click()
    person.await_shown(".notice.end")
    person.open("yours")
    expect(page.get_by_text("1 game.")).to_be_visible()
    person.open("today")
    expect(result).to_have_text(before.replace("\n", ""))


def test_the_service_explains_a_refused_move_in_the_game_of_the_day(visit: Callable[..., Person]) -> None:
    person = visit()
    # On this day a card of Chatpentiers has to be followed in the first trick.
    person.page.clock.set_fixed_time("2026-11-28T12:00:00")
    person.open("day")
    person.await_turn()
    person.may_be_refused = True
    person.pick('.stage .item[data-pick^="card:"]:not(.pickable)')
    expect(person.page.locator(".bar .refusal")).not_to_be_empty()


def test_a_game_that_is_over_and_its_analysis_are_the_players_own_results(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.open("yours")
    expect(page.get_by_text("No game is over yet.")).to_be_visible()
    person.deal("discat")
    person.play_to_the_end()
    won = "You win" in page.locator(".notice.end h2").inner_text()
    page.get_by_role("button", name="Look at the record").click()
    page.get_by_role("button", name="Analyse").click()
    person.await_true("() => document.querySelector('.worst h3')")
    person.open("yours")
    expect(page.get_by_text(f"1 game. {int(won)} won.")).to_be_visible()
    expect(page.locator("tr", has_text="House cat").locator("td")).to_have_text(["1", str(int(won))])
    (result,) = person.evaluate("async () => (await import('./yours/results.js')).results().games")
    assert 0 <= result["lost"] < 1


def test_results_are_counted_by_opponent_saved_added_and_deleted(visit: Callable[..., Person], tmp_path: Path) -> None:
    person = visit()
    page = person.page
    person.open("yours")
    keep_results(person)
    person.open("yours")
    section = page.locator(".yours > section").first
    expect(section).to_contain_text("6 games. 3 won. Best total: 15.")
    rows = [each.split("\t") for each in section.locator("tbody").inner_text().splitlines()]
    # A game counts for its weakest bot, and a game with people does not count for a bot.
    assert rows[:2] == [["Kitten ✓", "2", "2"], ["House cat", "1", "0"]]
    assert rows[-3:] == [["Random", "1", "0"], ["People ✓", "1", "1"], ["a bot that is gone", "1", "0"]]
    assert all(row[1:] == ["0", "0"] for row in rows[2:-3])
    expect(section.locator("figcaption")).to_contain_text("in 6 analysed games: from 0% to 10%")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as a file").click()
    path = tmp_path / "saved.json"
    saved.value.save_as(path)
    assert len(json.loads(path.read_text())["games"]) == 6
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete all").click()
    expect(page.get_by_text("No game is over yet.")).to_be_visible()
    assert not [key for key in page.evaluate("Object.keys(localStorage)") if key.startswith("chatiere")]
    field = page.get_by_label("Add results from a file")
    field.set_input_files({"name": "other.json", "mimeType": "application/json", "buffer": b"{}"})
    expect(page.get_by_text("This file does not hold results")).to_be_visible()
    field.set_input_files(path)
    expect(page.get_by_text("6 games were in the file.")).to_be_visible()
    expect(section).to_contain_text("6 games. 3 won. Best total: 15.")
    person.open("today")
    expect(page.get_by_text("2 days in a row.")).to_be_visible()
