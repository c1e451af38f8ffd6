"""The clock of a live table: all people see it, and a bot can play for a player whose time is over."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from .live import await_actor, await_table, come, deal, opened_room
from .person import Person

pytestmark = pytest.mark.long

# The notice about the player whose time is over.
NOTICE = ".proposal:is([aria-label=away], [aria-label=absent]):not([hidden])"
# Sets the shortest time that the service allows. The page offers longer times.
_SET = """async () => {
  const [{ Room }, { listRooms }] = await Promise.all([import("./rooms/room.js"), import("./store.js")]);
  await new Room(listRooms()[0].id).setClock(10);
}"""


def test_a_bot_plays_for_a_player_whose_time_is_over(visit: Callable[..., Person]) -> None:
    people = anna, ben, cleo = visit(), visit(language="fr"), visit()
    link = opened_room(anna, "discat", 3)
    anna.page.locator("[name=clock]").select_option("30")
    come(ben, link, "Ben")
    rule = "Entre amis, les autres peuvent laisser un robot jouer une fois ce temps écoulé."
    told = f"Temps par décision\u202f: 30 secondes. {rule}"
    expect(ben.page.get_by_text(told)).to_be_visible()
    expect(ben.page.locator("[name=clock]")).to_be_hidden()
    anna.evaluate(_SET)
    come(cleo, link, "Cleo")
    for person in (anna, cleo):
        expect(person.page.get_by_text("Time for each decision: 10 seconds.")).to_be_visible()
    deal(anna, 3)
    await_table(*people)
    actor = await_actor(people)
    assert actor
    names = {anna: "Anna", ben: "Ben", cleo: "Cleo"}
    others = [person for person in people if person is not actor]
    for person in people:
        expect(person.page.get_by_role("timer")).to_have_text(re.compile(r"^0:(0\d|10)$"))
        expect(person.page.get_by_role("timer")).to_have_accessible_name(re.compile(names[actor]))
    # The player whose time is over can still move.
    over = "Votre temps est écoulé." if actor is ben else "Your time is up."
    expect(actor.page.locator(NOTICE)).to_contain_text(over)
    assert actor.can_act
    late = re.compile("n’a plus de temps|has run out of time")
    for person in others:
        expect(person.page.locator(NOTICE)).to_contain_text(late)
    others[0].page.locator(f"{NOTICE} button").click()
    lent = "Un robot joue à votre place." if actor is ben else "A bot plays for you."
    expect(actor.page.locator(NOTICE)).to_contain_text(lent)
    for person in others:
        state = rf"^{names[actor]} \((a bot plays|un robot joue)\)$"
        expect(person.page.locator(".live li").filter(has_text=re.compile(state))).to_have_count(1)
    # The player is still there, but gets the seat back only on request.
    back = actor.page.get_by_role("button", name=re.compile("^(Play again|Reprendre ma place)$"))
    back.click()
    me = re.compile(rf"^{names[actor]} \((you|vous)\)$")
    expect(actor.page.locator(".live li").filter(has_text=me)).to_have_count(1)
    expect(back).to_have_count(0)


def test_nobody_deals_while_the_clock_is_set(visit: Callable[..., Person]) -> None:
    host = visit()
    opened_room(host, "discat", 2)
    chooser, start = host.page.locator("[name=clock]"), host.page.locator(".deal button.primary")
    disabled: list[bool] = []

    def refuse(route: Route) -> None:
        disabled.append(start.is_disabled())
        route.fulfill(status=400, json={"code": "invalid_argument", "message": "no"})

    host.may_be_refused = True
    host.page.route("**/*RoomService/Post", refuse)
    chooser.select_option("60")
    expect(chooser).to_have_value("0")
    expect(start).to_be_enabled()
    assert disabled == [True]
    host.page.unroute("**/*RoomService/Post")
    chooser.select_option("30")
    expect(host.page.get_by_text("Time for each decision: 30 seconds.")).to_be_visible()
    expect(chooser).to_have_value("30")


def test_without_a_clock_no_time_is_shown(visit: Callable[..., Person]) -> None:
    anna, ben = visit(), visit()
    come(ben, opened_room(anna, "discat", 2), "Ben")
    expect(ben.page.get_by_text("Time for each decision")).to_have_count(0)
    deal(anna, 2)
    await_table(anna, ben)
    expect(ben.page.get_by_role("timer")).to_be_hidden()
