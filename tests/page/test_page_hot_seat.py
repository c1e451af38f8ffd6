"""Two people who share a screen: hidden information while the screen changes hands, and afterwards."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tools.over import over

from .person import Person
from .player import TURN
from .test_page_games import SOME

pytestmark = pytest.mark.long

SEATS = {"chatpentiers": ("me", "here", ""), "momistigri": ("me", "here", "")}
# Games in which a seat may not have any hidden information before its first turn.
PUBLIC = ("chat_perche", "momistigri")
CHANGES = 3

# Returns the events of all plies for two seats of this browser. Their labels contain the page's names of the seats.
_EVENTS = """async (id) => {
  const [{ Session }, { kitOf }] = await Promise.all([import("./session.js"), import("./games.js")]);
  const session = Session.open(id);
  const { phrases } = await kitOf(session.kept.game);
  const plies = Array.from({ length: session.table.ply + 1 }, (_, ply) => ply);
  const eventsOf = async (seat) => {
    const updates = await Promise.all(plies.map((ply) => session.look(seat, ply)));
    return updates.flatMap(({ events = [] }) => events.map((event) => phrases.write(event)));
  };
  return Promise.all([eventsOf(0), eventsOf(1)]);
}"""


def secrets_of(page: Page) -> list[set[str]]:
    """Return for each of the two seats the events that only this seat received."""
    texts: Any = page.evaluate(_EVENTS, page.url.rpartition("/")[2])
    first, second = map(set, texts)
    return [first - second, second - first]


def dealt(events: set[str]) -> set[str]:
    """Return the cards that events report as dealt."""
    return {card for _, found, card in (text.partition(" is dealt ") for text in events) if found and card != "a card"}


def said(card: str, line: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(card)}(?!\w)", line) is not None


def seen(page: Page) -> str:
    """Return all text of the document, visible or not, and all text for screen readers."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    names = [str(node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
    labels = page.evaluate("[...document.querySelectorAll('*')].map((each) => each.getAttribute('aria-label') ?? '')")
    return "\n".join([page.evaluate("document.documentElement.textContent"), *names, *labels])


@over("game", SOME)
def test_each_person_sees_only_their_own_information(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    person.deal(game, *SEATS.get(game, ("me", "here")))
    for _ in range(CHANGES):
        page.wait_for_selector("dialog.curtain")
        # Neither the drawing nor the log shows any part of either hand.
        assert page.locator(".stage .item, .log p, .unseen li, .bar .choices button").count() == 0
        text = seen(page)
        for secrets in secrets_of(page):
            assert not any(secret in text for secret in secrets)
        page.keyboard.press("Escape")
        expect(page.locator("dialog.curtain")).to_be_visible()
        page.locator("dialog.curtain button").click()
        person.await_turn()
        seat = person.looking_seat()
        log = set(page.locator(".log span").all_inner_texts())
        mine, others = secrets_of(page)[seat], secrets_of(page)[1 - seat]
        assert not others & log
        for line in log:
            if "You get" in line:
                assert all(said(card, line) for card in dealt(mine))
                assert not any(said(card, line) for card in dealt(others) - dealt(mine))
        assert game in PUBLIC or mine
        while person.can_act:
            person.move()
            page.wait_for_selector(f"{TURN}, .notice:not([hidden]) button.primary, .notice.end")
        if person.is_over:
            break
        # After a move, the person hides the table with a button.
        assert page.locator(".stage .item").count() > 0
        page.locator(".notice button.primary").click()
