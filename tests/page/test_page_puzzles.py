"""Puzzles: a wrong move, the page's response, the right move, the continuation, and the page's puzzle files."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tools.over import over

from chatiere import engine
from chatiere.arena.puzzles import MARGIN

from .person import Person
from .test_page_games import GAMES

pytestmark = pytest.mark.long

FILES = Path(__file__).parents[2] / "web/puzzles"
TOLD = ".puzzle [role=status]"


def puzzles_of(game: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FILES / f"{game}.json").read_text())["puzzles"]
    return found


def counted(game: str, number: int) -> str:
    """Return the page's text of a puzzle's number and difficulty."""
    puzzles = puzzles_of(game)
    wrong = puzzles[number]["wrong"]
    difficulty = "easy" if wrong < 1 / 3 else "medium" if wrong < 2 / 3 else "hard"
    return f"Puzzle {number + 1} of {len(puzzles)} · {difficulty}"


def choose(page: Page, game: str, number: int, place: int) -> None:
    """Choose an action of a puzzle from the list of all moves, with the keyboard. `place` counts from the best one."""
    ids = [action for action, _ in puzzles_of(game)[number]["actions"]]
    page.locator(".all-actions summary").focus()
    page.keyboard.press("Enter")
    # The list is sorted by dense ids.
    page.locator(".all-actions li button").nth(sorted(ids).index(ids[place])).focus()
    page.keyboard.press("Enter")


@over("game", GAMES)
def test_a_puzzle_is_solved_by_the_keyboard(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    person.open(f"puzzle/{game}/0")
    told = page.locator(TOLD)
    expect(page.locator(".puzzle .count")).to_have_text(counted(game, 0))
    expect(told).to_contain_text("and it is your turn")
    choose(page, game, 0, 1)
    expect(told).to_contain_text("Try again, or see the answer.")
    choose(page, game, 0, 0)
    expect(told).to_contain_text("Right! ")
    expect(page.locator(".bar .prompt")).to_have_text("The table after the best move")
    # The focus moves to the solution. The puzzle can be tried again, or the solution shown.
    expect(page.locator(":focus")).to_have_text("Why? Analyse it, or play on")
    page.get_by_role("button", name="Try again").press("Enter")
    expect(told).to_contain_text("and it is your turn")
    expect(page.locator(":focus")).to_have_text("See the answer")
    page.keyboard.press("Enter")
    expect(told).to_contain_text("The best move is: ")
    expect(page.locator(":focus")).to_have_text("Why? Analyse it, or play on")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Analyse")).to_be_visible()
    expect(page.get_by_role("button", name="Play on from here")).to_be_visible()
    expect(page.locator(".bar .prompt")).to_contain_text("turn")
    # Another link shows the natural wrong move and the moves that refute it.
    page.go_back()
    page.get_by_role("button", name="See the answer").click()
    page.get_by_role("link", name="Why not: ").click()
    ply = int(page.url.split("/")[-2])
    length = len(puzzles_of(game)[0]["line"])
    expect(page.locator(".slider output")).to_have_text(f"{ply} of {ply - 1 + length}")


def test_the_list_of_all_moves_is_below_the_table(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    page.set_viewport_size({"width": 1280, "height": 800})
    person.open("puzzle/chat_cartonne/0")
    page.locator(".all-actions summary").click()
    expect(page.locator(".all-actions li button").first).to_be_in_viewport()
    bar, stage = (page.locator(each).bounding_box() for each in (".bar", ".stage"))
    assert bar
    assert stage
    assert bar["y"] >= stage["y"] + stage["height"]
    # The list stays open when the table is drawn in another size, for example because a scroll bar appears.
    drawing = page.locator(".stage .drawing")
    before = drawing.get_attribute("viewBox") or ""
    page.set_viewport_size({"width": 1240, "height": 800})
    expect(drawing).not_to_have_attribute("viewBox", before)
    expect(page.locator(".all-actions li button").first).to_be_visible()


def test_the_puzzle_of_the_day_has_a_link_to_the_next(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    page.clock.set_fixed_time("2026-11-27T12:00:00")
    person.open("puzzle/discat")
    day = (date(2026, 11, 27) - date(1970, 1, 1)).days
    count = len(puzzles_of("discat"))
    first = page.evaluate("async (given) => (await import('./days.js')).puzzleOfDay(...given)", [day, count])
    number = page.locator(".puzzle .count")
    expect(number).to_have_text(counted("discat", first))
    page.get_by_role("link", name="Next puzzle").click()
    expect(number).to_have_text(counted("discat", (first + 1) % count))
    page.locator(".other-puzzles a").first.click()
    expect(page.locator(".table-page:not([data-game=discat])")).to_be_visible()


def test_the_service_explains_a_refused_move(visit: Callable[..., Person]) -> None:
    person = visit(language="fr", width=390)
    page = person.page
    # Early in a game, a seat with few legal actions has cards that may not be played.
    puzzles = puzzles_of("chatpentiers")
    few = [number for number, each in enumerate(puzzles) if len(each["actions"]) <= 5]
    number = min(few, key=lambda number: len(puzzles[number]["record"]))
    person.open(f"puzzle/chatpentiers/{number}")
    told = page.locator(TOLD)
    expect(told).to_contain_text("Vous êtes ")
    asked = told.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    person.may_be_refused = True
    person.pick('.stage .item[data-pick^="card:"]:not(.pickable)')
    expect(page.locator(".bar .refusal")).not_to_be_empty()
    assert person.refused
    assert told.inner_text() == asked


def test_every_puzzle_has_one_action_much_better_than_all_others(
    visit: Callable[..., Person],
) -> None:
    person = visit()
    person.open("")
    for name in GAMES:
        puzzles = puzzles_of(name)
        assert puzzles
        words = [each["record"] for each in puzzles]
        records = person.page.evaluate(
            "async (words) => words.map((await import('./pages/record_link.js')).recordIn)", words
        )
        # No two puzzles are from the same game.
        assert len({each["stream"]["gameNumber"] for each in records}) == len(puzzles)
        for puzzle, record in zip(puzzles, records, strict=True):
            game = engine.game(record["game"])
            assert (game.name, record["players"]) == (name, game.min_players)
            seed, number = (int(record["stream"][part]) for part in ("seed", "gameNumber"))
            position = game.new_game(
                game.min_players, seed=seed, game_number=number, rules_version=record["rulesVersion"]
            )
            for action in record["actions"]:
                position.apply(action)
            assert position.current_player() == puzzle["seat"]
            ids, values = zip(*puzzle["actions"], strict=True)
            assert sorted(ids) == position.legal_actions()
            assert list(values) == sorted(values, reverse=True)
            assert values[0] - values[1] >= puzzle["margin"] - 0.01 >= MARGIN - 0.011
            assert len(ids) >= 4
            assert 0 <= puzzle["wrong"] <= 1
            assert puzzle["line"][0] in ids[1:]
            for action in puzzle["line"]:
                position.apply(action)
