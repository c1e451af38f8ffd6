"""Emotes at a live table: all people see them, each viewer can hide them, and keys are sufficient."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from .live import await_connection, await_table, come, deal, gathered, opened_room
from .person import Person

pytestmark = pytest.mark.long

_OPENER = ".tools [popovertarget=emotes]"
_POSTED = "RoomService/Post"


def send(person: Person, emote: str) -> None:
    person.page.locator(_OPENER).click()
    person.page.locator(f".emotes [data-emote=EMOTE_{emote}]").click()


def sent(person: Person) -> int:
    """Return the number of emotes that a person's browser has posted."""
    return sum(_POSTED in each.url and "emote" in (each.post_data or "") for each in person.requests)


def test_all_people_see_an_emote_in_their_own_language(visit: Callable[..., Person]) -> None:
    host, guest, onlooker = visit(), visit(language="fr"), visit()
    link = opened_room(host, "discat", 2)
    come(guest, link, "Ben")
    onlooker.open_link(f"{link}/watch")
    deal(host, 2)
    await_table(host, guest, onlooker)
    await_connection(onlooker, True)
    expect(host.page.locator(".emotes")).to_be_hidden()
    send(host, "WELL_PLAYED")
    expect(host.page.locator(".emotes")).to_be_hidden()
    for person in (host, onlooker):
        expect(person.page.locator(".bubbles[role=status] p")).to_have_text("Anna Well played!")
    expect(guest.page.locator(".bubbles p")).to_have_text("Anna Bien joué\u202f!")
    # A new emote of the same seat replaces the previous one.
    send(host, "OOPS")
    expect(guest.page.locator(".bubbles p")).to_have_text("Anna Oups\u202f!")
    # Onlookers send no emotes.
    onlooker.page.locator(_OPENER).click()
    expect(onlooker.page.locator(".emotes [name=emotes]")).to_be_visible()
    expect(onlooker.page.locator(".emotes button")).to_have_count(0)
    # A bubble disappears.
    expect(guest.page.locator(".bubbles p")).to_have_count(0)


def test_each_viewer_can_hide_emotes(visit: Callable[..., Person]) -> None:
    host, guest = gathered(visit, "discat", ["Anna", "Ben"])
    guest.page.locator(_OPENER).click()
    guest.page.locator(".emotes [name=emotes]").uncheck()
    guest.page.keyboard.press("Escape")
    expect(guest.page.locator(".emotes")).to_be_hidden()
    send(host, "HELLO")
    expect(host.page.locator(".bubbles p")).to_have_count(1)
    # The first emote arrived before the second one, and was not shown.
    guest.page.locator(_OPENER).click()
    guest.page.locator(".emotes [name=emotes]").check()
    guest.page.keyboard.press("Escape")
    send(host, "LAUGH")
    expect(guest.page.locator(".bubbles p")).to_have_text("Anna Ha ha!")


def test_an_emote_that_fails_is_not_repeated(visit: Callable[..., Person]) -> None:
    host, guest = gathered(visit, "discat", ["Anna", "Ben"])
    host.may_be_refused = True
    host.page.route("**/*RoomService/Post", lambda route: route.fulfill(status=503))
    with host.page.expect_response(f"**/*{_POSTED}"):
        send(host, "HELLO")
    host.page.unroute("**/*RoomService/Post")
    send(host, "LAUGH")
    expect(guest.page.locator(".bubbles p")).to_have_text("Anna Ha ha!")
    expect(host.page.locator(".waiting:not(.apart)")).to_be_hidden()
    assert sent(host) == 2


def test_all_windows_of_a_browser_show_an_emote(visit: Callable[..., Person]) -> None:
    host, guest = gathered(visit, "discat", ["Anna", "Ben"])
    window = guest.context.new_page()
    window.goto(guest.page.url)
    expect(window.locator(_OPENER)).to_be_visible()
    send(host, "LAUGH")
    for page in (guest.page, window):
        expect(page.locator(".bubbles p")).to_have_text("Anna Ha ha!")


def test_keys_send_emotes_and_the_rate_is_bounded(visit: Callable[..., Person]) -> None:
    host, guest = gathered(visit, "discat", ["Anna", "Ben"])
    # The page's period does not end, however slow the machine is.
    host.context.clock.set_fixed_time(datetime.now(UTC))
    for number in range(6):
        host.tab_to(_OPENER)
        host.page.keyboard.press("Enter")
        host.tab_to(".emotes [data-emote=EMOTE_LAUGH]")
        host.page.keyboard.press("Enter")
        # The focus returns to the button that opened the panel.
        expect(host.page.locator(_OPENER)).to_be_focused()
        if not number:
            expect(guest.page.locator(".bubbles p")).to_have_text("Anna Ha ha!")
    assert sent(host) == 4
