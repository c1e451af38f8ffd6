"""A live game between Firefox and Chromium. Both play it to the end, and see the same table."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from service.process import Served
from tools.needs import needs

from .firefox import FirefoxPlayer, firefox
from .live import await_table, come, deal, opened_room, play
from .person import Person

pytestmark = [needs("Firefox"), pytest.mark.long]


@pytest.fixture
def guest(server: Served, tmp_path: Path) -> Iterator[FirefoxPlayer]:
    with firefox(tmp_path) as session:
        yield FirefoxPlayer(session, server.address)


def test_firefox_plays_a_whole_live_game(visit: Callable[..., Person], guest: FirefoxPlayer) -> None:
    host = visit()
    come(guest, opened_room(host, "discat", 2), "Ben")
    deal(host, 2)
    people = [host, guest]
    await_table(*people)
    assert host.table == guest.table
    play(people)
    for person in people:
        person.await_shown(".notice.end h2")
        assert {text.split(" (")[0] for text in person.texts(".notice.end .totals tbody th")} == {"Anna", "Ben"}
    assert host.tables() == guest.tables()
    assert host.texts(".notice.end .totals .total") == guest.texts(".notice.end .totals .total")
    assert guest.errors() == []
