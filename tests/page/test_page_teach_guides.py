"""Guided first games: they are followed to the end by clicks and by keys. The service explains wrong moves."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tools.over import over

from chatiere import engine
from chatiere.clients.records import read_record

from .person import Person
from .test_page_games import GAMES
from .test_page_words import words_of

pytestmark = pytest.mark.long

WEB = Path(__file__).parents[2] / "web"
GUIDE = ".guided"
# Returns the picks that the guide points at, in the order of the numbers at their frames.
_HINTED = """() => {
  const number = (one) => Number(one.querySelector(".order text")?.textContent ?? 0);
  const hinted = [...document.querySelectorAll(".stage .item:has(> .hint)")];
  return hinted.sort((one, other) => number(one) - number(other)).map(({ dataset }) => dataset.pick);
}"""
_STEPS = """async (game) => (await import(`./lessons/${game}/steps.js`)).steps"""


def begin(person: Person, game: str) -> tuple[list[dict[str, int]], list[int]]:
    """Open the guided game. Return its steps and the actions of its record."""
    person.open(f"learn/{game}")
    record = read_record(WEB / f"lessons/{game}/first.chatiere")
    steps: list[dict[str, int]] = person.page.evaluate(_STEPS, game)
    assert 6 <= len(steps) <= 12
    return steps, list(record.actions)


def at(person: Person, step: int, steps: int) -> None:
    expect(person.page.locator(f"{GUIDE} .count")).to_have_text(f"Step {step} of {steps}")
    expect(person.page.locator(f"{GUIDE} [role=status] p").last).not_to_be_empty()


@over("game", GAMES)
def test_a_guide_is_followed_by_clicks(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    steps, actions = begin(person, game)
    for number, step in enumerate(steps[:-1], 1):
        at(person, number, len(steps))
        if not step.get("acts"):
            page.locator(GUIDE).get_by_text("Next", exact=True).click()
            continue
        page.locator(GUIDE).get_by_text("Show me", exact=True).click()
        wanted = page.locator(f'.bar .choices button[data-action="{actions[step["ply"]]}"]')
        left = page.evaluate(_HINTED)
        while left:
            pick = left.pop(0)
            person.pick(f'.stage .pickable:not(.picked)[data-pick="{pick}"]')
            if left:
                expect(page.locator(".stage .picked").first).to_be_visible()
                # The rest stays marked until the move is made.
                assert page.evaluate(_HINTED) == left
        # A choice that is complete without further picks has already led to the next step.
        expect(wanted.or_(page.locator(f"{GUIDE} .count", has_text=f"Step {number + 1} of"))).to_be_visible()
        if wanted.count():
            wanted.click()
    at(person, len(steps), len(steps))
    expect(page.locator(f"{GUIDE} a.button")).to_have_attribute("href", f"#/new/{game}")


@over("game", GAMES)
def test_a_practice_game_follows(visit: Callable[..., Person], game: str) -> None:
    """The practice game has the players of the guided game. A button shows good moves."""
    person = visit()
    page = person.page
    steps, _ = begin(person, game)
    for step in steps[:-1]:
        if step.get("acts"):
            page.locator(GUIDE).get_by_text("Show me", exact=True).click()
            label = page.locator(".prompt").inner_text().removeprefix("Hint: ")
            page.locator(".all-actions summary").click()
            page.locator(".all-actions li button").get_by_text(label, exact=True).click()
        else:
            page.locator(GUIDE).get_by_text("Next", exact=True).click()
    page.locator(GUIDE).get_by_text("Practise", exact=True).click()
    expect(page.locator(".practice")).to_be_visible()
    person.await_turn()
    page.locator(".tools").get_by_text("Show me", exact=True).click()
    expect(page.locator(".prompt")).to_contain_text("Hint: ")


def test_the_guided_game_of_chat_perche_is_won() -> None:
    record = read_record(WEB / "lessons/chat_perche/first.chatiere")
    position = engine.game("chat_perche").new_game(2, seed=record.stream.seed)
    for action in record.actions:
        position.apply(action)
    assert position.winners() == [0]


@over("game", GAMES)
def test_a_guide_is_followed_by_keys(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    steps, _ = begin(person, game)
    for number, step in enumerate(steps[:-1], 1):
        at(person, number, len(steps))
        person.tab_to(f"{GUIDE} button:not([hidden])" if number == 1 else ":focus")
        if not step.get("acts"):
            expect(page.locator(":focus")).to_have_text("Next")
            page.keyboard.press("Enter")
            continue
        expect(page.locator(":focus")).to_have_text("Show me")
        page.keyboard.press("Enter")
        expect(page.locator(".prompt")).to_contain_text("Hint: ")
        label = page.locator(".prompt").inner_text().removeprefix("Hint: ")
        person.tab_to(".all-actions summary")
        page.keyboard.press("Enter")
        listed = page.locator(".all-actions li button").get_by_text(label, exact=True)
        expect(listed).to_have_count(1)
        listed.focus()
        page.keyboard.press("Enter")
    at(person, len(steps), len(steps))


@over("game", GAMES)
def test_texts_exist_in_both_languages(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    steps, _ = begin(person, game)
    words = words_of(f"lessons/{game}")
    wanted = {f"step-{number}" for number in range(1, len(steps) + 1)}
    for texts in words.values():
        assert {key for key in texts if re.match(r"step-", key)} == wanted


def test_the_service_explains_a_wrong_move(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    begin(person, "discat")
    refusal = page.locator(".bar .refusal")
    page.locator(GUIDE).get_by_text("Next", exact=True).click()
    at(person, 2, 9)
    # This move is legal, but is not the guide's move.
    person.pick('.stage .item[data-pick="card:27"]')
    page.locator(".bar .choices button.primary").click()
    expect(refusal).to_contain_text("The rules also allow this move.")
    page.locator(GUIDE).get_by_text("Show me", exact=True).click()
    person.pick('.stage .item[data-pick="card:11"]')
    page.locator(".bar .choices button.primary").click()
    at(person, 3, 9)
    page.locator(GUIDE).get_by_text("Show me", exact=True).click()
    for card in (42, 43, 47, 40):
        person.pick(f'.stage .item[data-pick="card:{card}"]')
    page.locator(".bar .choices button.primary").click()
    # 48 is not lower than 32, as the service explains.
    at(person, 4, 9)
    person.pick('.stage .item[data-pick="card:48"]')
    expect(refusal).to_contain_text(re.compile("the top card does not respect the constraint", re.IGNORECASE))
    person.refused.clear()
    at(person, 4, 9)
