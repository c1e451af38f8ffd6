"""Live games after a lost connection, after a restart of the server, and in several windows; rematches; onlookers."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect
from service.process import Served, served

from .conftest import ELSEWHERE
from .live import await_actor, await_connection, await_ply, await_table, come, deal, gathered, newest, opened_room, play
from .person import Person
from .player import NEWEST

pytestmark = pytest.mark.long

_KEPT_AT = "(store, [id, ply, table]) => store.plyOf(id, ply) === table"
_TOLD = "(store, [room]) => store.roomOf(room)?.settings !== undefined"
_ROOM = "async () => (await import('./store.js')).listRooms()[0].id"
_HIDDEN = """() => {
  Object.defineProperty(document, "hidden", { value: true });
  window.notified = [];
  window.Notification = class { constructor(title) { window.notified.push(title); } };
  window.Notification.permission = "granted";
}"""


def actor_and_other(people: list[Person]) -> tuple[Person, Person]:
    actor = await_actor(people)
    assert actor
    return actor, next(person for person in people if person is not actor)


def test_a_player_who_was_offline_gets_the_newest_table(visit: Callable[..., Person]) -> None:
    people = gathered(visit, "discat", ["Anna", "Ben"])
    play(people, 2)
    actor, other = actor_and_other(people)
    other.context.set_offline(True)
    await_connection(other, False)
    # Without a connection, the page does not know which other people are present.
    texts = [re.compile("^(Anna|Ben)( \\(you\\))?$")] * 2 + [re.compile("^Not connected. Trying again …$")]
    expect(other.page.locator(".live li")).to_have_text(texts)
    actor.move()
    ply = actor.ply
    other.context.set_offline(False)
    await_ply(other, ply)
    await_connection(other, True)
    play(people)
    for person in people:
        expect(person.page.locator(".notice.end h2")).to_be_visible()
        # The browser reports requests that failed in the meantime as errors.
        person.errors.clear()


def test_a_restarted_server_gets_the_room_again(chromium: Browser, serve_rooms: Callable[..., Served]) -> None:
    server = serve_rooms()
    with Person(chromium, server.address) as host, Person(chromium, server.address) as guest:
        people = [host, guest]
        link = opened_room(host, "discat", 2)
        come(guest, link, "Ben")
        deal(host, 2)
        await_table(host, guest)
        play(people, 3)
        server.close()
        for person in people:
            await_connection(person, False)
        serve_rooms("--web-address", server.address)
        for person in people:
            await_connection(person, True)
        play(people, 4)
        # A newcomer gets the whole room from the players.
        with Person(chromium, server.address) as third:
            third.open_link(f"{link}/watch")
            await_table(third)
            await_ply(third, newest(people))
            # This includes the settings posted by the host.
            third.await_kept(_TOLD, [third.page.evaluate(_ROOM)])
        for person in people:
            expect(person.page.locator(".scores .seat strong")).to_have_text(["Anna", "Ben"])
            person.errors.clear()


def test_two_windows_of_a_browser_are_one_player(visit: Callable[..., Person]) -> None:
    people = gathered(visit, "chat_perche", ["Anna", "Ben"])
    actor, other = actor_and_other(people)
    first, table = actor.page, actor.table
    window: Page = actor.context.new_page()
    window.goto(f"{actor.origin}/#/play/{table}")
    window.wait_for_selector(".stage .pickable, .bar .choices button[data-action]")
    actor.move()
    ply = actor.ply
    actor.page = window
    await_ply(actor, ply)
    await_ply(other, ply)
    # Only one of the browser's windows follows the room.
    follows = [request for request in actor.requests if request.url.endswith("RoomService/Follow")]
    assert {request.frame.page for request in follows} == {first}
    first.close()
    play(people, 4)


def test_of_two_moves_of_a_seat_the_first_counts(visit: Callable[..., Person]) -> None:
    people = gathered(visit, "chat_perche", ["Anna", "Ben"])
    actor, other = actor_and_other(people)
    device = visit(storage=actor.kept())
    device.open(f"play/{actor.table}")
    device.await_turn()
    await_connection(device, True)
    device.context.set_offline(True)
    await_connection(device, False)
    # The two windows decide differently before either window learns of the other decision.
    device.choose(1)
    while device.page.locator(NEWEST).count() > 0:
        device.click()
    actor.move()
    ply = actor.ply
    await_ply(other, ply)
    device.context.set_offline(False)
    device.await_kept(_KEPT_AT, [actor.table, ply, actor.tables()[ply]])
    assert device.tables() == actor.tables()
    play(people, 2)
    device.errors.clear()


def test_live_games_need_no_secure_page(chromium: Browser) -> None:
    with served("--relay", "memory", "--web-hosts", ELSEWHERE, door="web") as server:
        address = f"{ELSEWHERE}:{server.address.rpartition(':')[2]}"
        with Person(chromium, address) as host, Person(chromium, address) as guest:
            host.open("")
            assert host.page.evaluate("[isSecureContext, crypto.subtle === undefined]") == [False, True]
            link = opened_room(host, "discat", 2)
            come(guest, link, "Ben")
            deal(host, 2)
            await_table(host, guest)
            play([host, guest], 6)
            for person in (host, guest):
                # The browser logs that it ignores a header on a page that is not secure.
                assert all("Cross-Origin-Opener-Policy" in error for error in person.errors)
                person.errors.clear()


def test_a_rematch_has_all_players(visit: Callable[..., Person]) -> None:
    people = gathered(visit, "discat", ["Anna", "Ben"])
    first = people[0].table
    play(people)
    people[1].page.locator(".notice.end").get_by_role("button", name="Rematch").click()
    for person in people:
        person.page.wait_for_function("(before) => !location.hash.endsWith(before)", arg=first)
    await_table(*people)
    assert people[0].table == people[1].table != first
    for person in people:
        expect(person.page.locator(".scores .seat strong")).to_have_text(["Anna", "Ben"])
    play(people, 2)


def test_a_rematch_asks_whether_bots_play_for_those_who_are_away(visit: Callable[..., Person]) -> None:
    people = gathered(visit, "discat", ["Anna", "Ben"])
    play(people)
    people[0].page.goto("about:blank")
    guest = people[1]
    expect(guest.page.locator(".live li", has_text="Anna (away)")).to_be_visible()
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept()

    guest.page.on("dialog", answer)
    before = guest.table
    guest.page.locator(".notice.end").get_by_role("button", name="Rematch").click()
    guest.page.wait_for_function("(before) => !location.hash.endsWith(before)", arg=before)
    assert asked == ["Not here: Anna. Deal with bots in their place?"]
    await_table(guest)
    expect(guest.page.locator(".live li")).to_have_text(["Ben (you)"])
    play([guest], 2)


def test_onlookers_see_the_game_but_no_hands(visit: Callable[..., Person]) -> None:
    host, guest, onlooker = visit(), visit(), visit()
    link = opened_room(host, "discat", 2)
    come(guest, link, "Ben")
    onlooker.open_link(f"{link}/watch")
    expect(host.page.locator(".room")).to_contain_text("1 onlooker")
    expect(onlooker.page.locator(".room > [role=status]")).to_have_text(
        ["", "Everybody has a seat. The game begins when it is dealt.", ""]
    )
    deal(host, 2)
    await_table(host, guest, onlooker)
    play([host, guest], 4)
    await_ply(onlooker, newest([host, guest]))
    expect(onlooker.page.locator(".scores .seat strong")).to_have_text(["Anna", "Ben"])
    assert not onlooker.can_act
    assert onlooker.secrets() == []
    play([host, guest])
    expect(onlooker.page.locator(".notice.end h2")).to_be_visible()
    expect(onlooker.page.get_by_role("button", name="Rematch")).to_have_count(0)


def test_the_page_notifies_the_person_whose_turn_it_is(visit: Callable[..., Person]) -> None:
    people = gathered(visit, "chat_perche", ["Anna", "Ben"])
    actor, other = actor_and_other(people)
    expect(actor.page).to_have_title(re.compile("● Your turn"))
    expect(other.page).not_to_have_title(re.compile("Your turn"))
    expect(other.page.locator(".prompt")).to_have_text(re.compile("Waiting for (Anna|Ben) to move, since "))
    other.page.evaluate(_HIDDEN)
    actor.move()
    play([actor, other], 1)
    for person in (actor, other):
        person.page.wait_for_function("() => document.querySelector('link[rel=icon]') !== null")
    other.page.wait_for_function("() => window.notified.length > 0")
    assert set(other.page.evaluate("window.notified")) == {"Your turn"}


def test_the_host_closes_a_game(visit: Callable[..., Person]) -> None:
    host, guest = people = gathered(visit, "discat", ["Anna", "Ben"])
    expect(guest.page.get_by_role("button", name="Close the game")).to_be_hidden()
    host.page.once("dialog", lambda dialog: dialog.accept())
    host.page.get_by_role("button", name="Close the game").click()
    for person in people:
        expect(person.page.get_by_text("The person who dealt this game has closed it.")).to_be_visible()
        expect(person.page.locator(".stage .pickable")).to_have_count(0)
    expect(host.page.get_by_role("button", name="Rematch")).to_be_visible()
    expect(guest.page.locator(".notice")).to_be_hidden()
