"""Requests without responses: what the page shows immediately, after a moment, and until the request is sent again."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect
from tools.over import over

from .live import await_table, come, deal, opened_room
from .person import Person
from .test_page_games import GAMES, SOME

pytestmark = pytest.mark.long

MOVE = "**/chatiere.v1.TableService/Move"
FOLLOW = "**/chatiere.v1.RoomService/Follow"
# The times in milliseconds after which the page says that it is sending, and that there is no response.
SLOW, LATE = 1_000, 5_000
# The time in milliseconds in which two heartbeats of a room arrive.
TWO_HEARTBEATS = 30_000
_IN_WINDOW = """(one) => {
  const { top, bottom } = one.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}"""
_SCROLL = "() => scrollTo(0, document.body.scrollHeight)"


def hold_first(page: Page, url: str) -> list[Route]:
    """Give no response to the first request of a URL. Return the list that will contain this request."""
    held: list[Route] = []

    def handle(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route(url, handle)
    return held


def moves(person: Person) -> int:
    return sum(request.url.endswith("TableService/Move") for request in person.requests)


@over("game", SOME)
def test_a_move_without_a_response_is_shown_as_taken_and_can_be_sent_again(
    visit: Callable[..., Person], game: str
) -> None:
    person = visit(way="taps")
    page = person.page
    page.clock.install()
    person.deal(game)
    person.await_turn()
    hold_first(page, MOVE)
    ply, before = person.ply, moves(person)
    with page.expect_request(MOVE):
        while page.locator(".stage[aria-busy=true]").count() == 0:
            person.choose(1)
            person.tap()
    taken = page.locator(".stage[aria-busy=true] .picked, .bar button.sent")
    assert taken.count() > 0
    # Nothing else can be picked or pushed.
    assert page.locator(".stage .pickable, .bar .choices button[data-action]:not([aria-disabled])").count() == 0
    taken.first.dispatch_event("click")
    assert moves(person) == before + 1
    page.clock.run_for(SLOW)
    expect(page.locator(".bar .prompt")).to_have_text("Sending …")
    page.clock.run_for(LATE - SLOW)
    banner = page.locator(".waiting:not(.apart)")
    expect(banner).to_contain_text("has not responded")
    assert banner.evaluate(_IN_WINDOW)
    banner.get_by_role("button", name="Try again").click()
    person.await_kept("(store, [id, ply]) => store.tableOf(id).newest > ply", [person.table, ply])
    expect(banner).to_be_hidden()
    person.await_turn()


def test_a_hint_without_a_response_can_be_asked_for_again(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    page.clock.install()
    person.deal("discat")
    person.await_turn()
    hold_first(page, "**/chatiere.v1.TableService/SuggestMove")
    hint = page.locator("[data-tool=hint]")
    hint.click()
    expect(hint).to_be_disabled()
    page.clock.run_for(SLOW)
    expect(page.locator(".bar .prompt")).to_have_text("Sending …")
    page.clock.run_for(LATE)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".bar .prompt")).to_contain_text("Hint")


def test_a_form_without_a_response_says_that_it_is_sending(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    page.clock.install()
    person.open("new/discat")
    hold_first(page, "**/chatiere.v1.TableService/NewTable")
    deal_button = page.locator(".new-game button.primary")
    deal_button.click()
    expect(deal_button).to_be_disabled()
    page.clock.run_for(SLOW)
    expect(page.locator(".new-game .refusal")).to_have_text("Sending …")
    page.clock.run_for(LATE)
    page.get_by_role("button", name="Try again").click()
    person.await_turn()


def test_a_lost_room_is_visible_without_scrolling_on_a_phone(visit: Callable[..., Person]) -> None:
    host, guest = visit(), visit(way="taps")
    guest.page.clock.install()
    link = opened_room(host, GAMES[0], 3)
    come(guest, link, "Ben")
    deal(host, 2)
    await_table(host, guest)
    people = guest.page.locator(".live li")
    expect(people.first).to_have_text("Anna (here)")
    apart = guest.page.locator(".apart")
    expect(apart).to_be_hidden()
    # The room falls silent: two heartbeats are missing, and no new connection responds.
    guest.page.route(FOLLOW, lambda _: None)
    guest.page.clock.run_for(TWO_HEARTBEATS)
    guest.page.clock.run_for(SLOW)
    expect(apart).to_have_text("Not connected. Trying again …")
    expect(people.first).to_have_text("Anna")
    for scroll in ("() => scrollTo(0, 0)", _SCROLL):
        guest.page.evaluate(scroll)
        assert apart.evaluate(_IN_WINDOW)
    guest.page.unroute_all()
    guest.page.clock.run_for(TWO_HEARTBEATS)
    expect(apart).to_be_hidden()
    expect(people.first).to_have_text("Anna (here)")
