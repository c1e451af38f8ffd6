"""Third-party clients at the web door, in Chromium (from a page of another origin) and in Node."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import Error, Page, sync_playwright
from tools.needs import require
from tools.node_modules import install
from tools.over import over

from chatiere import engine
from chatiere.command import main

from ..process import Served, served
from ..support import PATIENCE

pytestmark = pytest.mark.long

HERE = Path(__file__).parent / "browsers"
# The files that are not generated.
MADE = ("api", "generated", "node_modules")
SEED = 4
# Map each client to the games that it plays, with their numbers of players.
IN_CHROMIUM = {
    "connect-web": ("discat", 4),
    "connect-web in JSON": ("momistigri", 3),
    "connect-web by gRPC-Web": ("chat_cartonne", 2),
    "grpc-web": ("chatpentiers", 3),
    "fetch": ("chat_perche", 2),
}
IN_NODE = {"connect": ("momistigri", 5), "grpc-web": ("discat", 2)}
# The messages of the clients if the browser withholds a response from them.
KEPT_FROM_THEM = {
    "connect-web": r"ConnectError: \[unknown\] Failed to fetch",
    "connect-web in JSON": r"ConnectError: \[unknown\] Failed to fetch",
    "connect-web by gRPC-Web": r"ConnectError: \[unknown\] Failed to fetch",
    "grpc-web": "RpcError: Http response at 400 or 500 level, http status code: 0",
    "fetch": "TypeError: Failed to fetch",
}


def run(folder: Path, *command: str) -> str:
    # buf is installed with the Python environment.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check(played: dict[str, Any], game: str, players: int) -> None:
    """Check that a client played a whole game. To check this, play the game again."""
    position = engine.game(game).new_game(players, seed=SEED)
    for action in played["actions"]:
        position.apply(action)
    assert position.is_terminal()
    assert played["totals"] == list(position.totals())
    assert played["refused"] == "INVALID_ACTION"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the clients, with their generated code."""
    modules = install(HERE)
    folder = tmp_path_factory.mktemp("clients") / "browsers"
    shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns(*MADE))
    (folder / "node_modules").symlink_to(modules)
    assert CliRunner().invoke(main, ["protos", str(folder / "api")]).exit_code == 0
    run(folder, "buf", "generate")
    run(folder, "node_modules/.bin/esbuild", "page.js", "--bundle", "--outfile=page.bundle.js", "--log-level=warning")
    return folder


class PageHandler(SimpleHTTPRequestHandler):
    """Serves files, without a log line for each."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def origin(built: Path) -> Iterator[str]:
    """Serve the page, and yield its origin."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(PageHandler, directory=str(built))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(PATIENCE)


@pytest.fixture
def page(origin: str) -> Iterator[Page]:
    require("Chromium")
    chromium = shutil.which("chromium")
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=chromium) as browser:
        page = browser.new_page()
        page.goto(origin)
        yield page


@pytest.fixture(scope="module")
def open_to_page(origin: str) -> Iterator[Served]:
    """Run a service that admits pages of the origin."""
    with served("--web-origins", origin, door="web") as server:
        yield server


@pytest.fixture(scope="module")
def closed() -> Iterator[Served]:
    """Run a service that does not admit pages of other origins."""
    with served(door="web") as server:
        yield server


def play(page: Page, server: Served, client: str) -> Any:
    game, players = IN_CHROMIUM[client]
    arguments = [client, f"http://{server.address}", game, players, SEED]
    return page.evaluate("(given) => playWith(...given)", arguments)


def list_games(page: Page, server: Served) -> Any:
    return page.evaluate("listGames", f"http://{server.address}")


def says_cors(page: Page) -> Any:
    """Check that, according to the browser's console, a response is withheld because of CORS."""
    return page.expect_console_message(lambda message: "CORS policy" in message.text)


@pytest.mark.parametrize("client", IN_CHROMIUM)
def test_a_page_of_another_origin_plays_a_game(page: Page, open_to_page: Served, client: str) -> None:
    check(play(page, open_to_page, client), *IN_CHROMIUM[client])


def test_a_page_of_another_origin_may_get_methods_without_side_effects(page: Page, open_to_page: Served) -> None:
    assert list_games(page, open_to_page) == [game.name for game in engine.games()]


@pytest.mark.parametrize("client", IN_CHROMIUM)
def test_without_origins_the_page_s_calls_fail(page: Page, closed: Served, client: str) -> None:
    with says_cors(page), pytest.raises(Error, match=KEPT_FROM_THEM[client]):
        play(page, closed, client)
    # The browser sent a preflight request, and after its response it did not make the call.
    assert closed.total("grpc_server_started_total", grpc_method="NewGame") == 0


def test_without_origins_the_page_cannot_read_the_response_to_a_get(page: Page, closed: Served) -> None:
    with says_cors(page), pytest.raises(Error, match=KEPT_FROM_THEM["fetch"]):
        list_games(page, closed)


@over("protocol", IN_NODE)
def test_connect_node_plays_a_game(built: Path, open_to_page: Served, protocol: str) -> None:
    game, players = IN_NODE[protocol]
    url = f"http://{open_to_page.address}"
    check(json.loads(run(built, "node", "node.js", protocol, url, game, str(players), str(SEED))), game, players)
