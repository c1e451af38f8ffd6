"""People who play live in a room: how they come to the table, and play there."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from playwright.sync_api import expect

from .person import PATIENCE, Person
from .player import TURN, Player

expect.set_options(timeout=PATIENCE)

# Somebody's turn, or the end; else somebody else is awaited.
_TURN = f"() => document.querySelector('{TURN}, .notice.end') !== null"
_AT_PLY = "(store, [id, ply]) => (store.tableOf(id)?.newest ?? -1) >= ply"
_SHOWN = "() => location.hash.startsWith('#/play/') && document.querySelector('.stage .item') !== null"
_PAUSE = "() => new Promise((resolve) => setTimeout(resolve, 20))"

AnyPlayer = TypeVar("AnyPlayer", bound=Player)


def opened_room(host: Person, game: str, players: int, name: str = "Anna") -> str:
    """Let a host open a room, and sit down under a name; return the link to play."""
    host.open(f"new/{game}")
    host.page.locator("[name=players]").select_option(str(players))
    host.page.locator("button.invite").click()
    sit(host, name)
    link = host.page.locator(".room .share input").first
    expect(link).to_be_visible()
    return link.input_value()


def sit(person: Player, name: str) -> None:
    """Give a name, and take a seat."""
    person.await_shown(".room .name button.primary")
    person.write(".room [name=name]", name)
    person.await_hidden(".room .name")


def come(person: Player, link: str, name: str) -> None:
    """Open the link to play, and take a seat."""
    person.open_link(link)
    sit(person, name)


def deal(host: Person, people: int) -> None:
    """Let the host deal, as soon as so many people have seats."""
    taken = host.page.locator(".room .seats li:not(:has(.free))")
    expect(taken).to_have_count(people)
    host.page.locator(".room .deal button.primary").click()


def await_table(*people: Player) -> None:
    """Wait until all see the table."""
    for person in people:
        person.await_true(_SHOWN)


def gathered(visit: Callable[..., Person], game: str, names: list[str], players: int | None = None) -> list[Person]:
    """Let people sit down in a room and the first of them deal; return them, at the table."""
    people = [visit() for _ in names]
    link = opened_room(people[0], game, players or len(names), names[0])
    for person, name in zip(people[1:], names[1:], strict=True):
        come(person, link, name)
    deal(people[0], len(names))
    await_table(*people)
    return people


def newest(people: Sequence[Player]) -> int:
    return max(person.ply for person in people)


def await_ply(person: Player, ply: int) -> None:
    """Wait until a ply, or a later one, has come to somebody's browser."""
    person.await_kept(_AT_PLY, [person.table, ply])


def play(people: Sequence[Player], plies: int | None = None) -> None:
    """Let people play so many decisions of theirs, or to the end, each when it is their turn.

    All but the players of seats wait until the newest table has come.
    """
    played = 0
    while played != plies:
        actor = await_actor(people)
        if actor is None:
            return
        actor.move()
        played += 1


def await_actor(people: Sequence[AnyPlayer]) -> AnyPlayer | None:
    """Wait until it is the turn of one of the people; return whose, or None if the game is over."""
    while True:
        ply = newest(people)
        for person in people:
            await_ply(person, ply)
        for person in people:
            # Bots' moves come meanwhile.
            if person.evaluate(_TURN) and person.ply == newest(people):
                return None if person.is_over else person
        people[0].evaluate(_PAUSE)
