"""axe-core finds no serious violations of accessibility on the page in light and dark mode, from phone to desktop."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import expect
from tools.node_modules import install
from tools.over import over

from chatiere.clients.records import read_record

from .live import await_table, deal, opened_room
from .person import Person
from .player import TURN
from .test_page_games import GAMES
from .test_page_today import keep_results

pytestmark = pytest.mark.long

SERIOUS = ("serious", "critical")
# People who use voice control say the visible text. axe checks this rule only if the rule is enabled.
RUN = """axe.run({ rules: { "label-content-name-mismatch": { enabled: true } } })"""
# Checks the same rule for the things on the stage that can be picked or tried. Returns the visible text and the name of
# each thing that violates it.
ON_STAGE = """async () => {
  const { violations } = await axe.run(".stage", {
    runOnly: ["label-content-name-mismatch"],
    rules: { "label-content-name-mismatch": { enabled: true } },
  });
  const found = violations.flatMap(({ nodes }) => nodes).map(({ target }) => document.querySelector(target[0]));
  return found.map((one) => [one.textContent, one.getAttribute("aria-label")]);
}"""
SAMPLES = Path(__file__).parents[2] / "docs" / "games"
# Decisions in the middle of the samples. In Chatpentiers there are points in castles. In Momistigri a player gives a
# card, or takes a card from the pile. In the other games any decision is sufficient.
MIDDLE = {"chatpentiers": (45,), "momistigri": (9, 16), "discat": (20,), "chat_cartonne": (40,), "chat_perche": (30,)}
PARTS = (
    *("lobby", "new game", "record", "puzzle", "rules", "invitation", "settings", "end", "moment", "kept"),
    *("today", "game of the day", "yours"),
    *("entrance", "room", "live table"),
    *GAMES,
)


@pytest.fixture(scope="module")
def axe() -> str:
    return (install(Path(__file__).parent) / "axe-core" / "axe.min.js").read_text()


def show(person: Person, part: str) -> None:
    """Open a part of the page."""
    page = person.page
    if part == "lobby":
        person.open("")
    elif part == "new game":
        person.deal("discat")
        person.await_turn()
        person.open("new/chatpentiers")
        page.locator("[name=seat-1]").select_option("link")
        page.locator(".new-game .options > summary").click()
    elif part == "record":
        person.open("record/momistigri/9")
        page.wait_for_selector(".log p")
    elif part == "puzzle":
        person.open("puzzle/momistigri/0")
        page.get_by_role("button", name="See the answer").click()
        page.get_by_role("button", name="Try again").wait_for()
    elif part == "rules":
        person.open("new/discat")
        page.get_by_role("link", name="Rules").click()
        page.wait_for_selector("dialog.rules")
    elif part == "invitation":
        person.deal("discat", "me", "link", trust="next")
        page.wait_for_selector(".invitation .share")
    elif part == "settings":
        person.open("")
        page.locator(".settings summary").click()
    elif part == "end":
        person.deal("discat")
        person.play_to_the_end()
    elif part == "moment":
        person.deal("chatpentiers")
        person.await_turn()
        page.locator(".log button").first.click()
        page.wait_for_selector(".notice button")
    elif part == "kept":
        person.open("kept")
    elif part in ("today", "yours"):
        person.open("today")
        keep_results(person)
        person.open(part)
        page.wait_for_selector({"today": ".share textarea", "yours": ".yours polyline"}[part])
    elif part == "game of the day":
        person.open("day")
        person.await_turn()
    elif part == "entrance":
        person.open("new/discat")
        page.locator("button.invite").click()
        page.wait_for_selector(".room [name=name]")
    elif part == "room":
        opened_room(person, "discat", 3)
    elif part == "live table":
        opened_room(person, "discat", 2)
        deal(person, 1)
        await_table(person)
    else:
        person.deal(part)
        person.await_turn()


# Every run shows each part narrow and dark, and wide and light. `make page` shows all combinations.
LOOKS: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (360, "dark"),
    (1280, "light"),
    (360, "light"),
    (1280, "dark"),
)
CASES = [
    pytest.param(part, *look, marks=() if m == n % 2 else pytest.mark.whole_page)
    for n, part in enumerate(PARTS)
    for m, look in enumerate(LOOKS)
]


@pytest.mark.parametrize(("part", "width", "theme"), CASES)
def test_no_serious_violations(
    visit: Callable[..., Person], axe: str, part: str, width: int, theme: Literal["light", "dark"]
) -> None:
    person = visit(width=width, theme=theme)
    show(person, part)
    person.page.evaluate(axe)
    found = person.page.evaluate(RUN)
    serious = [
        f"{each['id']} ({each['impact']}): {each['help']}: {node['target']} {node.get('failureSummary', '')}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
        for node in each["nodes"][:4]
    ]
    assert not serious, "\n".join(serious)
    assert found["passes"]
    # The page is no wider than the screen.
    assert person.page.evaluate("document.documentElement.scrollWidth") <= width


@over("game", GAMES)
def test_names_on_the_stage_contain_the_visible_text_until_the_end(
    visit: Callable[..., Person], axe: str, game: str
) -> None:
    """A sample is continued from mid-game, from its last decision and from its end."""
    person = visit()
    page = person.page
    last = len(read_record(SAMPLES / f"{game}.chatiere").actions)
    for ply in (*MIDDLE[game], last - 1, last):
        person.open(f"record/{game}/{ply}/all")
        page.get_by_role("button", name="Play on from here").click()
        if ply < last:
            page.wait_for_selector(TURN)
            expect(page.locator(".stage [role=button]")).not_to_have_count(0)
        else:
            expect(page.locator(".playing-on [role=status]")).to_contain_text(re.compile("win|won"))
        page.evaluate(axe)
        assert page.evaluate(ON_STAGE) == []


def test_a_name_without_the_visible_text_is_detected(visit: Callable[..., Person], axe: str) -> None:
    person = visit()
    person.deal("momistigri")
    person.await_turn()
    person.page.evaluate(axe)
    person.page.evaluate("document.querySelector('.stage .pickable:has(text)').setAttribute('aria-label', 'a card')")
    found = person.page.evaluate(RUN)["violations"]
    assert [each["id"] for each in found if each["impact"] in SERIOUS] == ["label-content-name-mismatch"]
