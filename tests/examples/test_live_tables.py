"""The live table in TypeScript: two browsers play over one link, a third watches, and all survive a restart."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from service.process import Served, served_rooms
from tools.client_package import ROOT, build_package, launched_browser, served_files

from release.npm import run

pytestmark = pytest.mark.long

EXAMPLE = ROOT / "examples/typescript/live"
SERVICE = "http://127.0.0.1:8080"
MILLISECONDS = 90_000
# A condition in the page: a button is shown, or the game is over.
_TURN = "() => document.querySelector('#choice button') !== null || news.textContent.includes('won by')"
_PLY_AFTER = "(ply) => Number(log.dataset.ply) > ply"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the page's folder as its README describes."""
    repository = tmp_path_factory.mktemp("live")
    package = build_package(repository)
    folder = repository / EXAMPLE.relative_to(ROOT)
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("build"))
    block, _ = re.findall(r"^```sh\n(.*?)^```$", (EXAMPLE / "README.md").read_text(), re.M | re.S)
    for line in block.splitlines():
        run(package, "sh", "-c", line)
    return folder


@pytest.fixture
def page(built: Path, tmp_path: Path) -> Path:
    """Copy the folder, so that a test can change the service's address in the page."""
    return Path(shutil.copytree(built, tmp_path / "page"))


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Return a function that runs a service with rooms, with the same keys each time: `serve(*arguments)`."""
    with served_rooms(tmp_path) as serve:
        yield serve


@pytest.fixture
def visit() -> Iterator[Callable[[str], Any]]:
    """Return a function that opens an address in a separate browser context and returns the page."""
    with launched_browser() as browser:

        def opened(address: str) -> Any:
            context = browser.new_context()
            context.set_default_timeout(MILLISECONDS)
            tab = context.new_page()
            tab.goto(address)
            return tab

        yield opened


def is_over(tab: Any) -> bool:
    return "won by" in tab.text_content("#news")


def ply_of(tab: Any) -> int:
    return int(tab.locator("#log").get_attribute("data-ply"))


def play(players: list[Any], plies: int | None = None) -> None:
    """Push the first button of the player whose turn it is, `plies` times or until the game is over."""
    played = 0
    while played != plies:
        newest = max(ply_of(tab) for tab in players)
        for tab in players:
            tab.wait_for_function(_PLY_AFTER, arg=newest - 1)
        if is_over(players[0]):
            return
        actor = next((tab for tab in players if tab.locator("#choice button").count() > 0), None)
        if actor is None:
            continue
        actor.locator("#choice button").first.click()
        actor.wait_for_function(_PLY_AFTER, arg=newest)
        played += 1


def test_two_players_finish_a_game_while_a_third_person_watches(
    page: Path, serve: Callable[..., Served], visit: Callable[[str], Any]
) -> None:
    with served_files(page) as origin:
        server = serve("--web-origins", origin)
        script = page / "build/live.js"
        script.write_text(script.read_text().replace(SERVICE, f"http://{server.address}"))
        anna = visit(origin)
        anna.wait_for_function("() => location.hash.length > 20")
        anna.fill("#name", "Anna")
        anna.press("#name", "Enter")
        ben = visit(anna.url)
        ben.fill("#name", "Ben")
        ben.press("#name", "Enter")
        for tab in (anna, ben):
            tab.wait_for_function("() => news.textContent.includes('Anna') && news.textContent.includes('Ben')")
        cleo = visit(anna.url)
        play([anna, ben], 4)
        # The service restarts without any memory of the room.
        server.close()
        assert serve("--web-origins", origin, "--web-address", server.address).address == server.address
        play([anna, ben], 4)
        # Ben's browser reloads the page and is still the same player.
        ben.reload()
        ben.wait_for_function(_PLY_AFTER, arg=ply_of(anna) - 1)
        play([anna, ben])
        cleo.wait_for_function("() => news.textContent.includes('won by')")
        assert len({tab.text_content("#news") for tab in (anna, ben, cleo)}) == 1
        assert re.search(r"won by (Anna|Ben)", anna.text_content("#news"))
        assert [tab.text_content("#hand") != "" for tab in (anna, ben, cleo)] == [True, True, False]
        assert cleo.locator("#choice button").count() == 0
