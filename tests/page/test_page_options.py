"""The options of the games. The form of a new game asks for them; tables, invitations and records show them."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tools.over import over

from .live import await_table, come, deal, sit
from .person import Person
from .test_page_games import GAMES

pytestmark = pytest.mark.long

FORM = ".new-game .options"
TOLD = "section.options li"
# Returns the options of a game with a number of players, as the service describes them.
_OPTIONS = """async ([game, players]) => {
  const { info } = await (await import("./games.js")).kitOf(game);
  return info.options.flatMap(({ name, title, description, ranges }) => {
    const range = ranges.find((each) => each.players === players);
    return range ? [{ name, title, description, usual: range.defaultValues ?? [] }] : [];
  });
}"""


def opened(person: Person, game: str) -> Page:
    """Open the form of a new game with its options."""
    person.open(f"new/{game}")
    person.page.locator(f"{FORM} > summary").click()
    return person.page


def chosen(page: Page, name: str) -> list[int]:
    """Return the numbers that the form has for an option. There are no numbers if chance decides."""
    found: list[int] = page.locator(f"{FORM} [name={name}]").evaluate_all(
        """(fields) => {
          const numbers = (list) => list.filter((each) => each !== "").map(Number);
          if (fields[0].type !== "checkbox") return numbers(fields.map(({ value }) => value));
          return fields.length === 1
            ? [Number(fields[0].checked)]
            : numbers(fields.filter(({ checked }) => checked).map(({ value }) => value));
        }"""
    )
    return found


@over("game", GAMES)
def test_the_form_has_the_options_of_the_service(visit: Callable[..., Person], game: str) -> None:
    """For each number of players, it has the title and description of each effective option, and the default values."""
    person = visit()
    page = opened(person, game)
    form = page.locator(FORM)
    for players in page.locator("[name=players] option").evaluate_all("(all) => all.map(({ value }) => Number(value))"):
        page.locator("[name=players]").select_option(str(players))
        options = page.evaluate(_OPTIONS, [game, players])
        names = form.locator("[name]").evaluate_all("(all) => [...new Set(all.map(({ name }) => name))]")
        assert names == [option["name"] for option in options]
        for option in options:
            expect(form.get_by_text(option["title"], exact=True).first).to_be_visible()
            expect(form.get_by_text(option["description"], exact=True)).to_be_visible()
            assert chosen(page, option["name"]) == option["usual"]
    # A game that was begun without choices has only default values.
    with page.expect_request("**/chatiere.v1.TableService/NewTable") as request:
        page.locator(".new-game button.primary").click()
    assert "options" not in (request.value.post_data_json or {"options": "no request"})
    person.await_turn()
    expect(page.locator(TOLD)).to_have_count(0)


# Choices by the names of their fields, each with the texts that describe it.
CHOICES: dict[str, tuple[Callable[[Page], Any], list[str]]] = {
    "chat_cartonne": (lambda page: page.locator("[name=no_crowd_bonus]").check(), ["No bonus for crowds"]),
    "chat_perche": (lambda page: page.locator("[name=dog_track]").fill("3"), ["Track of the dogs: 3"]),
    "chatpentiers": (lambda page: page.locator("[name=removed_colour]").select_option("0"), ["Colour left out: grey"]),
    "discat": (lambda page: page.locator("[name=first_seat]").select_option("1"), ["First seat: Griffe"]),
    "momistigri": (lambda page: page.locator("[name=first_seat]").select_option("2"), ["First seat: Velours"]),
}


@over("game", GAMES)
def test_a_table_shows_the_chosen_options(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = opened(person, game)
    choose, told = CHOICES[game]
    choose(page)
    page.locator(".new-game button.primary").click()
    expect(page.locator(TOLD)).to_have_text(told)


def test_a_strength_is_kept_with_another_number_of_players(visit: Callable[..., Person]) -> None:
    """The default bot may depend on the number of players."""
    page = opened(visit(), "momistigri")
    seat = page.locator("[name=seat-1]")
    seat.select_option(label="Tiger")
    with_three = seat.input_value()
    page.locator("[name=players]").select_option("4")
    expect(seat.locator("option:checked")).to_have_text("Tiger")
    assert seat.input_value() != with_three
    page.locator("[name=players]").select_option("3")
    expect(seat).to_have_value(with_three)


def test_choices_are_kept_with_another_number_of_players(visit: Callable[..., Person]) -> None:
    page = opened(visit(), "chatpentiers")
    page.locator("[name=section_limits]").nth(1).fill("9")
    page.locator("[name=first_seat]").select_option("2")
    page.locator("[name=players]").select_option("5")
    assert chosen(page, "section_limits") == [1, 9, 3, 5]
    assert chosen(page, "first_seat") == [2]
    expect(page.locator("[name=removed_colour]")).to_have_count(0)


def test_an_empty_choice_of_cards_is_possible(visit: Callable[..., Person]) -> None:
    person = visit()
    page = opened(person, "discat")
    page.locator(FORM).locator("details summary").click()
    for card in page.locator("[name=up_arrows]:checked").all()[::-1]:
        card.uncheck()
    page.locator(".new-game button.primary").click()
    expect(page.locator(TOLD)).to_have_text(["Arrows up: none"])


def test_a_rematch_a_record_and_its_link_have_the_options(visit: Callable[..., Person]) -> None:
    person = visit()
    page = opened(person, "chat_perche")
    page.locator("[name=dog_track]").fill("1")
    page.locator("[name=forward_only]").check()
    told = ["Forward only", "Track of the dogs: 1"]
    for seat in (0, 1):
        page.locator(f"[name=seat-{seat}]").select_option("random")
    page.locator(".new-game button.primary").click()
    page.wait_for_selector(".notice.end")
    first = person.table
    page.locator(".notice.end button.primary").click()
    page.wait_for_function("(first) => !location.hash.endsWith(first)", arg=first)
    expect(page.locator(TOLD)).to_have_text(told)
    page.wait_for_selector(".notice.end")
    page.get_by_role("button", name="Look at the record").click()
    page.wait_for_selector(".slider")
    expect(page.locator(TOLD)).to_have_text(told)
    page.locator("summary", has_text="Share").click()
    link = page.get_by_label("Link to this record").input_value()
    other = visit()
    other.open_link(link)
    expect(other.page.locator(TOLD)).to_have_text(told)


def test_a_table_by_links_has_the_options(visit: Callable[..., Person]) -> None:
    """The invitation, the table, and the form for the next game show them."""
    host, guest = visit(), visit()
    page = opened(host, "discat")
    page.locator("[name=players]").select_option("2")
    page.locator("[name=seat-1]").select_option("link")
    page.locator("[name=first_seat]").select_option("1")
    page.locator(".new-game button.primary").click()
    told = ["First seat: Griffe"]
    page.wait_for_selector(".invitation .share")
    expect(page.locator(TOLD)).to_have_text(told)
    guest.open_link(host.shared or "")
    expect(guest.page.locator(TOLD)).to_have_text(told)
    guest.page.locator(".invitation button.primary").click()
    guest.page.wait_for_selector(".invitation .share")
    host.open_link(guest.shared or "")
    page.locator(".invitation > button.primary").click()
    host.settle()
    expect(page.locator(TOLD)).to_have_text(told)
    guest.open_link(host.shared or "")
    guest.settle()
    expect(guest.page.locator(TOLD)).to_have_text(told)
    again = guest.page.evaluate(
        """async (id) => {
          const session = (await import("./session.js")).Session.open(id);
          return (await import("./pages/ending.js")).newGameLink(session, { discat: { firstSeat: 1 } });
        }""",
        guest.table,
    )
    guest.open(again.removeprefix("#/"))
    assert chosen(guest.page, "first_seat") == [1]


def opened_room_of_half_sleepers(host: Person) -> str:
    page = opened(host, "chat_cartonne")
    page.locator("[name=half_sleepers]").check()
    page.locator("button.invite").click()
    sit(host, "Anna")
    return page.locator(".room .share input").first.input_value()


def test_a_room_shows_the_options_before_a_seat_is_taken(visit: Callable[..., Person]) -> None:
    host, guest, onlooker = people = visit(), visit(), visit()
    link = opened_room_of_half_sleepers(host)
    guest.open_link(link)
    expect(guest.page.locator(".room .name")).to_be_visible()
    onlooker.open_link(f"{link}/watch")
    for person in people:
        expect(person.page.locator(TOLD)).to_have_text(["Half sleepers"])
    sit(guest, "Ben")
    deal(host, 2)
    await_table(*people)
    for person in people:
        expect(person.page.locator(TOLD)).to_have_text(["Half sleepers"])


def test_a_table_with_other_options_than_its_room_is_not_played(visit: Callable[..., Person]) -> None:
    host, guest = visit(), visit()
    come(guest, opened_room_of_half_sleepers(host), "Ben")
    host.page.evaluate(
        """async () => {
          const { keepRoom, listRooms } = await import("./store.js");
          const [{ id, settings, ...room }] = listRooms();
          keepRoom(id, room);
        }"""
    )
    deal(host, 2)
    expect(guest.page.locator(".bar .refusal")).to_contain_text("its options or its level of trust is different")
    expect(guest.page.locator(".stage .item")).to_have_count(0)


def test_a_link_for_another_game_than_its_rooms_game_opens_the_rooms_game(visit: Callable[..., Person]) -> None:
    host, guest = visit(), visit()
    link = opened_room_of_half_sleepers(host)
    room = link.removesuffix("/2")
    for other in (f"{room}/3", room.replace("chat_cartonne", "discat") + "/2"):
        guest.open_link(other)
        expect(guest.page.locator(TOLD)).to_have_text(["Half sleepers"])
        expect(guest.page.locator(".room .seats li")).to_have_count(2)
        assert guest.page.url == link
        guest.page.evaluate("localStorage.clear()")


def test_invalid_options_are_refused(visit: Callable[..., Person]) -> None:
    """The browser refuses them and opens the closed section, or the service refuses them. No one is invited before."""
    person = visit()
    page = opened(person, "chat_perche")
    deck = page.locator("[name=deck]").first
    page.locator(FORM).locator("details summary").click()
    deck.fill("27")
    page.locator(FORM).locator("details summary").click()
    page.locator(f"{FORM} > summary").click()
    expect(deck).to_be_hidden()
    page.locator(".new-game button.primary").click()
    expect(deck).to_be_visible()
    person.may_be_refused = True
    deck.fill("3")
    page.locator("button.invite").click()
    expect(page.locator(".new-game .refusal")).to_contain_text("26")
    assert "/new/" in page.url


def test_the_french_form_has_narrow_spaces(visit: Callable[..., Person]) -> None:
    person = visit(language="fr")
    page = opened(person, "chat_perche")
    page.locator("[name=dog_track]").fill("3")
    page.locator(".new-game button.primary").click()
    expect(page.locator(TOLD)).to_have_count(1)
    assert page.locator(TOLD).inner_text() == "Piste des chiens\u202f: 3"
