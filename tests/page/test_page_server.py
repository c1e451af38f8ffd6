"""The browser keeps the table if the server is restarted in mid-game, and if the page is closed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from service.process import Served, served

from chatiere.service.tables.new_key import new_key

from .person import Person
from .player import NEWEST

pytestmark = pytest.mark.long

# Returns the link with which a table is shared.
_LINK = """async (id) => {
  const [{ Session }, { tableLink }] = await Promise.all([import("./session.js"), import("./links.js")]);
  return tableLink(Session.open(id));
}"""


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Return a file for the keys of sealed tables."""
    path = tmp_path / "table-keys"
    path.write_text(new_key().hex() + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def serve(keys: Path) -> Iterator[Callable[..., Served]]:
    """Return a function that runs a server with the keys: `serve(*arguments)`."""
    with ExitStack() as servers:
        yield lambda *arguments: servers.enter_context(served("--table-keys", str(keys), *arguments, door="web"))


def test_a_restarted_server_loses_no_game(chromium: Browser, serve: Callable[..., Served]) -> None:
    server = serve()
    with Person(chromium, server.address) as person:
        waiting = person.page.locator(".waiting:not(.apart)")
        person.deal("discat")
        person.await_turn()
        for _ in range(2):
            person.move()
            person.await_turn()
        ply = person.ply
        server.close()
        # This move gets no response.
        while waiting.is_hidden():
            person.click()
            person.page.wait_for_selector(f"{NEWEST}, .waiting:not(.apart):not([hidden])", state="attached")
        assert "Trying again" in waiting.inner_text()
        assert person.ply == ply
        serve("--web-address", server.address)
        person.await_turn()
        expect(waiting).to_be_hidden()
        assert person.ply > ply
        person.play_to_the_end()
        # The browser reports refused connections as errors.
        person.errors.clear()


def test_a_reopened_page_continues_the_game(visit: Callable[..., Person]) -> None:
    person = visit()
    person.deal("chat_cartonne")
    person.await_turn()
    person.move()
    person.await_turn()
    ply, items = person.ply, person.page.locator(".stage .item").count()
    person.page.reload()
    person.await_turn()
    assert person.ply == ply
    assert person.page.locator(".stage .item").count() == items
    person.page.close()
    person.page = person.context.new_page()
    person.open("")
    person.page.locator(".tables a").click()
    person.await_turn()
    assert person.ply == ply
    person.move()
    assert person.ply > ply


def test_a_server_with_other_keys_is_reported(chromium: Browser, serve: Callable[..., Served], keys: Path) -> None:
    server = serve()
    with Person(chromium, server.address) as person:
        person.deal("discat")
        person.await_turn()
        server.close()
        keys.write_text(new_key().hex() + "\n")
        again = serve("--web-address", server.address)
        assert again.address == server.address
        link = person.page.evaluate(_LINK, person.table)
        with Person(chromium, server.address) as guest:
            guest.may_be_refused = True
            guest.open_link(link)
            expect(guest.page.locator(".failed p").first).to_contain_text("This server cannot open the table")
            guest.page.get_by_role("link", name="New game").click()
            guest.page.wait_for_selector(".new-game")
        person.may_be_refused = True
        person.page.reload()
        expect(person.page.locator(".bar .refusal")).to_contain_text("This server cannot open the table")
        assert person.page.get_by_role("button", name="Try again").count() == 0
        person.page.get_by_role("link", name="New game").click()
        # The new game has the same players.
        expect(person.page.locator("[name=seat-0]")).to_have_value("me")
