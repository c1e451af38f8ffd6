"""Amendments of live tables: players resign, take decisions back, and give the seat of an absent player to a bot."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Dialog, Locator, expect
from service.process import Served

from .live import await_actor, await_connection, await_ply, await_table, come, deal, gathered, newest, opened_room, play
from .person import Person

pytestmark = pytest.mark.long

MENU = ".seat-menu > summary"
PROPOSAL = ".proposal:not([hidden])"


def menu(person: Person) -> Locator:
    """Open the menu of a person's seat."""
    person.page.locator(MENU).click()
    return person.page.locator(".seat-menu")


def accept_dialogs(person: Person) -> None:
    def accept(dialog: Dialog) -> None:
        dialog.accept()

    person.page.on("dialog", accept)


def pass_a_minute(*people: Person) -> None:
    """Let a minute pass in browsers whose clock the test holds, and wait until they have noticed who is there."""
    for person in people:
        person.context.clock.fast_forward("01:01")
        await_connection(person, True)


def mover_and_other(people: list[Person]) -> tuple[Person, Person]:
    """Play until one person has moved and it is the other's turn. Return both, the mover first."""
    while True:
        mover = await_actor(people)
        assert mover
        mover.move()
        other = await_actor(people)
        if other is not mover:
            assert other
            return mover, other


def test_a_player_who_resigns_watches_while_a_bot_plays(visit: Callable[..., Person]) -> None:
    """The player uses the keyboard and French. The other player is not asked."""
    host, guest = people = [visit(), visit(language="fr", way="keys")]
    come(guest, opened_room(host, "chat_perche", 2), "Ben")
    deal(host, 2)
    await_table(*people)
    play(people, 2)
    accept_dialogs(guest)
    guest.tab_to(MENU)
    guest.page.keyboard.press("Enter")
    guest.tab_to("[data-tool=resign]")
    expect(guest.page.locator("[data-tool=resign]")).to_have_text("Abandonner")
    guest.page.keyboard.press("Enter")
    given = guest.page.get_by_text(re.compile("^Votre place a été donnée à un robot"))
    expect(given).to_be_visible()
    expect(host.page.locator(".log")).to_contain_text("Ben resigns, and a bot")
    expect(guest.page.locator(".log")).to_contain_text("Ben abandonne, et un robot")
    expect(host.page.locator(".live li")).to_have_text(["Anna (you)", "Watching: Ben"])
    play([host], 3)
    await_ply(guest, host.ply)
    assert not guest.can_act
    guest.page.reload()
    expect(given).to_be_visible()
    expect(guest.page.locator(MENU)).to_be_hidden()


def test_a_decision_is_taken_back_if_the_other_players_agree(
    chromium: Browser, serve_rooms: Callable[..., Served]
) -> None:
    """A proposal outlasts the room. A declined proposal does not stop the game."""
    server = serve_rooms()
    with Person(chromium, server.address) as host, Person(chromium, server.address) as guest:
        people = [host, guest]
        link = opened_room(host, "chat_perche", 2)
        come(guest, link, "Ben")
        deal(host, 2)
        await_table(*people)
        mover, other = mover_and_other(people)
        menu(mover).get_by_role("button", name="Take back my last decision").click()
        other.page.locator(PROPOSAL).get_by_role("button", name="Decline").click()
        for person in people:
            expect(person.page.locator(PROPOSAL)).to_contain_text(re.compile("Declined by (Anna|Ben)"))
            expect(person.page.locator(PROPOSAL).get_by_role("button")).to_have_count(0)
        mover, other = mover_and_other(people)
        expect(mover.page.locator(PROPOSAL)).to_have_count(0)
        ply = mover.ply
        menu(mover).get_by_role("button", name="Take back my last decision").click()
        expect(other.page.locator(PROPOSAL)).to_contain_text("the game goes back to move")
        server.close()
        for person in people:
            await_connection(person, False)
        serve_rooms("--web-address", server.address)
        for person in people:
            await_connection(person, True)
        with Person(chromium, server.address) as third:
            third.open_link(f"{link}/watch")
            await_table(third)
            expect(third.page.locator(PROPOSAL)).to_contain_text("Waiting for")
            expect(third.page.locator(PROPOSAL).get_by_role("button")).to_have_count(0)
            other.page.locator(PROPOSAL).get_by_role("button", name="Accept").click()
            for person in (*people, third):
                await_ply(person, ply + 1)
                expect(person.page.locator(".log")).to_contain_text("The game goes back to move")
                expect(person.page.locator(PROPOSAL)).to_have_count(0)
        assert await_actor(people) is mover
        play(people, 3)
        for person in people:
            person.errors.clear()


def test_a_bot_plays_for_an_absent_player_until_the_player_returns(visit: Callable[..., Person]) -> None:
    """One of the other players decides. The others are not asked."""
    anna, ben, cleo = people = gathered(visit, "discat", ["Anna", "Ben", "Cleo"])
    play(people, 2)
    for person in (anna, ben):
        person.context.clock.install()
    table = cleo.table
    cleo.page.goto("about:blank")
    for person in (anna, ben):
        expect(person.page.locator(".live li", has_text="Cleo (away)")).to_be_visible()
        expect(person.page.locator(PROPOSAL)).to_have_count(0)
    pass_a_minute(anna, ben)
    expect(ben.page.locator(PROPOSAL)).to_contain_text("Away for more than a minute: Cleo.")
    ply = newest([anna, ben])
    anna.page.get_by_role("button", name="Let a bot play until Cleo returns").click()
    for person in (anna, ben):
        await_ply(person, ply + 1)
        expect(person.page.locator(".log")).to_contain_text("takes the place of Cleo")
        expect(person.page.locator(".live li", has_text="Cleo (away, a bot plays)")).to_be_visible()
        expect(person.page.locator(PROPOSAL)).to_have_count(0)
    play([anna, ben], 3)
    cleo.open(f"play/{table}")
    for person in people:
        expect(person.page.locator(".log")).to_contain_text("Cleo is back and plays again")
    expect(anna.page.locator(".live li")).to_have_text(["Anna (you)", "Ben (here)", "Cleo (here)"])
    while await_actor(people) is not cleo:
        play(people, 1)
    play(people, 3)


def test_who_remains_deals_again_if_several_players_have_gone(visit: Callable[..., Person]) -> None:
    """Those who have gone cannot consent to a bot for another player."""
    anna, ben, cleo = gathered(visit, "discat", ["Anna", "Ben", "Cleo"])
    anna.context.clock.install()
    table = anna.table
    for person in (ben, cleo):
        person.page.goto("about:blank")
    expect(anna.page.locator(".live li", has_text="(away)")).to_have_count(2)
    pass_a_minute(anna)
    accept_dialogs(anna)
    anna.page.get_by_role("button", name="New game with those who are here").click()
    anna.page.wait_for_function("(before) => !location.hash.endsWith(before)", arg=table)
    await_table(anna)
    expect(anna.page.locator(".live li")).to_have_text(["Anna (you)"])
