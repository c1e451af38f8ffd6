"""People who play live: one link for all, their names, moves that appear immediately, and the end for all players."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect
from service.process import served
from tools.over import over

from .live import await_table, come, deal, gathered, opened_room, play, sit
from .person import Person
from .test_page_games import SOME

pytestmark = pytest.mark.long

MOST = 120
PLAYERS = {"chatpentiers": 3, "momistigri": 3}
FOLLOW = "**/chatiere.v1.RoomService/Follow"
NAMES = ["Anna", "Ben", "Chloé"]


@over("game", SOME)
def test_people_play_a_whole_game_by_one_link(visit: Callable[..., Person], game: str) -> None:
    names = NAMES[: PLAYERS.get(game, 2)]
    people = gathered(visit, game, names)
    tables = {person.table for person in people}
    assert len(tables) == 1
    play(people)
    for person in people:
        expect(person.page.locator(".notice.end h2")).to_be_visible()
        shown = person.page.locator(".notice.end .totals tbody th")
        expect(shown).to_have_count(len(names))
        assert {text.split(" (")[0] for text in shown.all_inner_texts()} == set(names)
    totals = [person.page.locator(".notice.end .totals .total").all_inner_texts() for person in people]
    assert all(each == totals[0] for each in totals)


def test_the_link_is_short_and_its_secret_stays_in_the_browser(visit: Callable[..., Person]) -> None:
    host = visit()
    link = opened_room(host, "chat_cartonne", 4)
    assert len(link) < MOST
    assert link.startswith(f"{host.origin}/#/room/")
    secret = link.split("/")[5]
    assert len(secret) == 22
    assert not any(secret in request.url for request in host.requests)
    expect(host.page.locator(".room svg.qr")).to_be_visible()


def test_a_wrong_link_opened_first_does_not_spoil_the_right_link(visit: Callable[..., Person]) -> None:
    host, guest = visit(), visit()
    link = opened_room(host, "discat", 3)
    wrong = link.replace("discat/3", "momistigri/4")
    # The room cannot be reached, so the page does not learn that the link is wrong.
    guest.page.route(FOLLOW, lambda route: None)
    guest.open_link(wrong)
    expect(guest.page.locator(".room .seats li")).to_have_count(4)
    guest.open_link(link)
    expect(guest.page.locator(".room .seats li")).to_have_count(3)
    guest.page.unroute_all()
    guest.open_link(wrong)
    expect(guest.page.locator(".room h1")).to_have_text("You are invited to play Discat")
    assert guest.page.url == link
    sit(guest, "Ben")
    deal(host, 2)
    await_table(host, guest)


def test_the_page_asks_for_a_name_once_it_has_the_room_s_entries(visit: Callable[..., Person]) -> None:
    host, guest = visit(), visit()
    link = opened_room(host, "discat", 2)
    guest.page.route(FOLLOW, lambda route: None)
    with guest.page.expect_request(FOLLOW):
        guest.open_link(link)
    expect(guest.page.locator(".room .seats li")).to_have_count(2)
    expect(guest.page.locator(".room .name")).to_be_hidden()
    # The held response is released.
    guest.page.unroute_all()
    sit(guest, "Ben")
    deal(host, 2)


def test_names_are_shown_as_text_and_bots_take_the_remaining_seats(visit: Callable[..., Person]) -> None:
    host, guest = visit(), visit(language="fr")
    link = opened_room(host, "discat", 3, "<b>Anna</b>")
    come(guest, link, "<img src=x>")
    expect(guest.page.locator(".room .seats")).to_contain_text("<b>Anna</b>")
    # Only the host sends links.
    expect(guest.page.locator(".room .share").first).to_be_hidden()
    deal(host, 2)
    await_table(host, guest)
    for person in (host, guest):
        scores = person.page.locator(".scores .seat strong")
        expect(scores.nth(0)).to_have_text("<b>Anna</b>")
        expect(scores.nth(1)).to_have_text("<img src=x>")
        expect(person.page.locator("main img, main b")).to_have_count(0)
    play([host, guest], 4)
    expect(host.page.locator(".live li")).to_have_text(["<b>Anna</b> (you)", "<img src=x> (here)"])
    expect(guest.page.locator(".live li")).to_have_text(["<b>Anna</b> (présent)", "<img src=x> (vous)"])
    for person in (host, guest):
        expect(person.page.locator("main img, main b")).to_have_count(0)


def test_names_have_limits_and_are_kept(visit: Callable[..., Person]) -> None:
    host, guest = visit(), visit()
    link = opened_room(host, "discat", 2)
    guest.open_link(link)
    name = guest.page.locator(".room [name=name]")
    name.fill("x" * 25)
    guest.page.locator(".room .name button.primary").click()
    expect(guest.page.locator(".room > .refusal")).to_have_text("A name has 1 to 24 characters.")
    name.fill("x" * 24)
    guest.page.locator(".room .name button.primary").click()
    expect(guest.page.locator(".room .name")).to_be_hidden()
    guest.open("new/discat")
    guest.page.locator("button.invite").click()
    expect(guest.page.locator(".room [name=name]")).to_have_value("x" * 24)


def test_players_acknowledge_automatically(visit: Callable[..., Person]) -> None:
    host, guest = visit(), visit()
    link = opened_room(host, "discat", 2)
    come(guest, link, "Ben")
    host.page.locator(".room [name=trust][value=next]").check()
    deal(host, 2)
    await_table(host, guest)
    play([host, guest])
    for person in (host, guest):
        expect(person.page.locator(".notice.end h2")).to_be_visible()


def test_a_guest_leaves_the_seat_and_takes_it_again(visit: Callable[..., Person]) -> None:
    host, guest = visit(), visit()
    link = opened_room(host, "discat", 2)
    come(guest, link, "Ben")
    for _ in range(2):
        expect(host.page.locator(".room .seats")).to_contain_text("Ben")
        guest.page.get_by_role("button", name="Leave the seat").click()
        expect(host.page.locator(".room .seats")).not_to_contain_text("Ben")
        expect(guest.page.locator(".room > [role=status]").nth(1)).to_have_text("1 seat is free.")
        sit(guest, "Ben")
    deal(host, 2)
    await_table(host, guest)
    play([host, guest], 2)


def test_a_guest_deals_when_the_host_has_gone(visit: Callable[..., Person]) -> None:
    """The host who returns, and an onlooker who comes later, see the game that the guests have begun."""
    host, ben, cleo = visit(), visit(), visit()
    link = opened_room(host, "discat", 3)
    for person, name in ((ben, "Ben"), (cleo, "Cleo")):
        come(person, link, name)
    expect(ben.page.locator(".room .deal")).to_be_hidden()
    ben.context.clock.install()
    host.page.goto("about:blank")
    expect(ben.page.locator(".room .seats")).to_contain_text("away")
    ben.context.clock.fast_forward("01:01")
    expect(ben.page.locator(".room")).to_contain_text("The person who opened this room has gone.")
    deal(ben, 3)
    await_table(ben, cleo)
    host.open_link(link)
    onlooker = visit()
    onlooker.open_link(f"{link}/watch")
    await_table(host, onlooker)
    assert len({person.table for person in (host, ben, cleo, onlooker)}) == 1
    play([host, ben, cleo], 4)


def test_the_keyboard_suffices_in_a_room(visit: Callable[..., Person]) -> None:
    host, guest = people = [visit(way="keys"), visit(way="keys")]
    host.open("new/discat")
    host.tab_to("button.invite")
    host.page.keyboard.press("Enter")
    host.page.wait_for_selector(".room [name=name]")
    for person, name in zip(people, NAMES, strict=False):
        person.tab_to(".room [name=name]")
        person.page.keyboard.type(name)
        person.page.keyboard.press("Enter")
        expect(person.page.locator(".room .name")).to_be_hidden()
        guest.open_link(host.page.locator(".room .share input").first.input_value())
    expect(host.page.locator(".room .seats")).to_contain_text("Ben")
    host.tab_to(".room .deal button.primary")
    host.page.keyboard.press("Enter")
    await_table(*people)
    play(people, 4)


def test_a_service_without_rooms_says_so(chromium: Browser) -> None:
    with served(door="web") as server, Person(chromium, server.address) as person:
        person.open("new/discat")
        person.page.locator("button.invite").click()
        expect(person.page.locator(".room > .refusal")).to_have_text(re.compile("This server has no rooms"))
        person.refused.clear()
