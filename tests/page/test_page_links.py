"""Tables over links between two browsers, with an acknowledgement of each table."""

import base64
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, expect
from tools.over import over

from .person import Person
from .test_page_games import SOME

pytestmark = pytest.mark.long

# The seats of a table for two people.
SEATS = {"chatpentiers": ("me", "link", ""), "momistigri": ("me", "link", "")}
PLIES = 6


def spellings(secret: bytes) -> list[str]:
    """Return a secret in the encodings in which a link could contain it: both kinds of base64, and hexadecimal."""
    return [
        base64.urlsafe_b64encode(secret).decode().rstrip("="),
        base64.b64encode(secret).decode().rstrip("="),
        secret.hex(),
    ]


def unpacked(link: str) -> str:
    """Return a link and the contents of its parts, decoded from base64url, as text and in hexadecimal."""
    words = urlsplit(link).fragment.replace(".", "/").split("/")
    found = [link]
    for word in words:
        try:
            data = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
        except ValueError:
            continue
        found += [data.hex(), data.decode(errors="replace")]
    return "\n".join(found)


def checked(person: Person) -> str:
    """Return the link that a person is asked to send. Check that it contains no secret of this browser."""
    link = person.shared
    assert link is not None
    text = unpacked(link)
    secrets = person.secrets()
    assert secrets
    for secret in secrets:
        assert len(secret) >= 16
        for spelling in spellings(secret):
            assert spelling not in text
    return link


def seated(host: Person, guest: Person, game: str, trust: Literal["none", "next"] = "next") -> None:
    """Seat two people at a table, and make the host deal."""
    host.deal(game, *SEATS.get(game, ("me", "link")), trust=trust)
    host.page.wait_for_selector(".invitation")
    guest.open_link(checked(host))
    guest.page.locator(".invitation button.primary").click()
    guest.page.wait_for_selector(".invitation .share")
    host.page.locator(".paste [name=link]").fill(checked(guest))
    host.page.locator(".paste button").click()
    host.page.locator(".invitation > button.primary").click()
    host.settle()


def items(person: Person) -> Locator:
    return person.page.locator(".stage .item")


def play_on(host: Person, guest: Person, plies: int) -> tuple[Person, Person]:
    """Make two people play, and send each other the table. Return the person whose turn is next, and the other."""
    actor, other = host, guest
    played = 0
    while True:
        actor.settle()
        if actor.can_act:
            if played == plies:
                return actor, other
            actor.move()
            played += 1
        else:
            assert not actor.page.locator("[data-tool=hint]").is_visible()
            actor, other = other, actor
            actor.open_link(checked(other))


def play_differently(visit: Callable[..., Person], trust: Literal["none", "next"]) -> tuple[Person, Person]:
    """Make two people play until one of them makes two different moves in a position, one of them on another device.

    Return two people: the opponent with the table after the first move, and the device with the table after the second.
    """
    host, guest = visit(), visit()
    seated(host, guest, "discat", trust)
    actor, other = play_on(host, guest, 2)
    while True:
        device = visit(storage=actor.kept())
        device.open(f"play/{actor.table}")
        device.settle()
        for person, number in ((actor, 0), (device, 1)):
            person.choose(number)
            person.move()
            person.settle()
        # Two different things may have the same action: a draw has both a pile and a button on the page.
        if actor.tables()[-1] != device.tables()[-1]:
            break
        actor, other = play_on(actor, other, 0)
    other.open_link(checked(actor))
    other.settle()
    return other, device


@pytest.fixture
def two(visit: Callable[..., Person]) -> tuple[Person, Person]:
    return visit(), visit(language="fr")


@over("game", SOME)
def test_two_people_play_by_links(two: tuple[Person, Person], game: str) -> None:
    host, guest = two
    seated(host, guest, game)
    # Both must acknowledge the table before either sees it.
    assert items(host).count() == 0
    guest.open_link(checked(host))
    guest.settle()
    assert items(guest).count() > 0
    assert host.ply == 0
    # The invitation has become a table.
    for person in two:
        assert not any("invitation" in key for key in person.page.evaluate("Object.keys(localStorage)"))
    actor, other = (guest, host) if guest.can_act else (host, guest)
    actor, other = play_on(actor, other, PLIES)
    assert actor.ply >= PLIES


def test_a_link_opened_twice_changes_nothing(two: tuple[Person, Person]) -> None:
    host, guest = two
    seated(host, guest, "discat")
    actor, other = play_on(host, guest, 2)
    link = f"{actor.origin}/#/table/{'.'.join(other.tables())}"
    before = stored(actor)
    for _ in range(2):
        actor.open_link(link)
        actor.settle()
        assert actor.can_act
        assert stored(actor) == before


def stored(person: Person) -> dict[str, Any]:
    """Return a browser's stored data, without times of use."""
    kept = dict(person.page.evaluate("Object.entries(localStorage)"))
    return {key: text for key, text in kept.items() if "changed" not in text}


def test_two_different_moves_are_shown_as_a_fork(visit: Callable[..., Person]) -> None:
    other, again = play_differently(visit, "next")
    other.open_link(checked(again))
    assert "two different tables" in other.page.locator("main").inner_text()


def test_among_friends_a_game_can_continue_after_a_fork(visit: Callable[..., Person]) -> None:
    other, again = play_differently(visit, "none")
    other.open_link(checked(again))
    other.page.get_by_role("button", name="Continue with the table of this link").click()
    other.settle()
    assert other.can_act
    assert other.tables()[-1] == again.tables()[-1]


def test_a_seat_moves_to_another_device_by_its_private_link(visit: Callable[..., Person]) -> None:
    host, guest = visit(), visit()
    seated(host, guest, "discat")
    actor, other = play_on(host, guest, 2)
    actor.page.locator(".links summary").click()
    expect(actor.page.locator(".links")).to_contain_text("Only in a room can you resign")
    private = actor.page.locator(".links .share input").nth(1).input_value()
    assert "/#/seat/" in private
    (secret,) = actor.secrets()
    assert spellings(secret)[0] in unpacked(private)
    device = visit()
    device.open_link(private)
    device.settle()
    assert device.can_act
    assert device.secrets() == [secret]
    assert not any(spelling in unpacked(device.page.url) for spelling in spellings(secret))
    # Going back does not show the table either.
    device.page.go_back()
    assert "seat" not in device.page.url
    device.page.go_forward()
    device.settle()
    play_on(device, other, 2)
