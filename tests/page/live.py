"""People who play live in a room: they join the table, and play."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from playwright.sync_api import expect

from .person import PATIENCE, Person
from .player import TURN, Player

expect.set_options(timeout=PATIENCE)

# Returns true if it is this person's turn, or if the game is over.
_TURN = f"() => document.querySelector('{TURN}, .notice.end') !== null"
_AT_PLY = "(store, [id, ply]) => (store.tableOf(id)?.newest ?? -1) >= ply"
_CONNECTED = "(store, isConnected) => store.listRooms()[0].isConnected === isConnected"
_SHOWN = "() => location.hash.startsWith('#/play/') && document.querySelector('.stage .item') !== null"
_PAUSE = "() => new Promise((resolve) => setTimeout(resolve, 20))"

AnyPlayer = TypeVar("AnyPlayer", bound=Player)


def opened_room(host: Person, game: str, players: int, name: str = "Anna") -> str:
    """Make a host open a room, and sit down under a name. Return the link to play."""
    host.open(f"new/{game}")
    host.page.locator("[name=players]").select_option(str(players))
    host.page.locator("button.invite").click()
    sit(host, name)
    link = host.page.locator(".room .share input").first
    expect(link).to_be_visible()
    return link.input_value()


def sit(person: Player, name: str) -> None:
    """Enter a name, and take a seat."""
    person.await_shown(".room .name button.primary")
    person.write(".room [name=name]", name)
    person.await_hidden(".room .name")


def come(person: Player, link: str, name: str) -> None:
    """Open the link to play, and take a seat."""
    person.open_link(link)
    sit(person, name)


def deal(host: Person, people: int) -> None:
    """Make the host deal once `people` seats are taken."""
    taken = host.page.locator(".room .seats li:not(:has(.free))")
    expect(taken).to_have_count(people)
    host.page.locator(".room .deal button.primary").click()


def await_table(*people: Player) -> None:
    """Wait until all people see the table."""
    for person in people:
        person.await_true(_SHOWN)


def gathered(visit: Callable[..., Person], game: str, names: list[str], players: int | None = None) -> list[Person]:
    """Seat people in a room, and make the first person deal. Return the people at the table."""
    people = [visit() for _ in names]
    link = opened_room(people[0], game, players or len(names), names[0])
    for person, name in zip(people[1:], names[1:], strict=True):
        come(person, link, name)
    deal(people[0], len(names))
    await_table(*people)
    return people


def await_connection(person: Person, is_connected: bool) -> None:
    """Wait until a person's browser follows the room, or until it has noticed that it no longer follows the room."""
    person.await_kept(_CONNECTED, is_connected)


def newest(people: Sequence[Player]) -> int:
    return max(person.ply for person in people)


def await_ply(person: Player, ply: int) -> None:
    """Wait until a person's browser has the table of this ply or a later one."""
    person.await_kept(_AT_PLY, [person.table, ply])


def play(people: Sequence[Player], plies: int | None = None) -> None:
    """Play `plies` decisions, or all decisions to the end. The person whose turn it is makes each decision.

    Before each turn, all other people wait for the newest table.
    """
    played = 0
    while played != plies:
        actor = await_actor(people)
        if actor is None:
            return
        actor.move()
        played += 1


def await_actor(people: Sequence[AnyPlayer]) -> AnyPlayer | None:
    """Wait for the turn of one of the people. Return that person, or None if the game is over."""
    while True:
        ply = newest(people)
        for person in people:
            await_ply(person, ply)
        for person in people:
            # Bots may move in the meantime.
            if person.evaluate(_TURN) and person.ply == newest(people):
                return None if person.is_over else person
        people[0].evaluate(_PAUSE)
