"""@chatiere/client, the TypeScript package: its own tests, the packed files, and the page in docs/frontends.md."""

import base64
import re
import secrets
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from prometheus_client import CollectorRegistry
from tools.client_package import ROOT, build_package, launched_browser, served_files
from tools.cutting_proxy import cutting_proxy
from tools.node_modules import install

from chatiere.clients import Room, new_room_id
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server
from release.npm import LEGAL, MADE, PACKAGE, SHARED, run

pytestmark = pytest.mark.long


@contextmanager
def serving(*origins: str) -> Iterator[tuple[str, str]]:
    """Run a service for pages with these origins. Yield its URLs for browsers and for gRPC."""
    settings = Settings(address="127.0.0.1:0", web_address="127.0.0.1:0", web_origins=origins, relay="memory")
    server, port = create_server(settings, CollectorRegistry())
    server.start()
    try:
        yield f"http://127.0.0.1:{server.web_port}", f"http://127.0.0.1:{port}"
    finally:
        server.stop(grace=None).wait()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, built and packed."""
    return build_package(tmp_path_factory.mktemp("package"))


@contextmanager
def cutting(port: str, grpc: str, *, is_http2: bool) -> Iterator[tuple[str, str]]:
    """Run a proxy to a port of a service, and cut its connections while names are posted in a room.

    Args:
        port: The URL of the port.
        grpc: The URL of the service's gRPC port.
        is_http2: False if the protocol of the port is HTTP/1.1.

    Yields:
        The URL of the proxy and the id of the room.
    """
    room, is_over = new_room_id(), threading.Event()

    def post() -> None:
        with Room(urlsplit(grpc).netloc, room) as poster:
            while not is_over.wait(0.02):
                poster.post_name("last" if proxy.all_cut.is_set() else secrets.token_hex(8))

    with cutting_proxy(urlsplit(port).netloc, 0, is_http2=is_http2) as (proxy, address):
        proxy.cut()
        poster = threading.Thread(target=post)
        poster.start()
        try:
            yield f"http://{address}", base64.urlsafe_b64encode(room).rstrip(b"=").decode()
        finally:
            is_over.set()
            poster.join()


def test_its_own_tests_pass(built: Path) -> None:
    with (
        serving() as (door, grpc),
        cutting(door, grpc, is_http2=False) as (cut, room),
        cutting(grpc, grpc, is_http2=True) as (cut_grpc, grpc_room),
    ):
        ports = {"CHATIERE_DOOR": door, "CHATIERE_GRPC": grpc, "CHATIERE_CUT": cut, "CHATIERE_CUT_GRPC": cut_grpc}
        rooms = {"CHATIERE_CUT_ROOM": room, "CHATIERE_CUT_GRPC_ROOM": grpc_room}
        tested = run(built, "npm", "test", CHATIERE_VECTORS=str(ROOT / "tests/data"), **ports, **rooms)
    (passed,) = re.findall(r"^\S+ pass (\d+)$", tested, re.M)
    assert int(passed) >= 40


def test_the_package_has_only_its_modules_types_and_licences(built: Path) -> None:
    (packed,) = built.glob("*.tgz")
    with tarfile.open(packed) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    others = {"package.json", "README.md", *LEGAL, "dist/bundle.js"}
    assert others <= names
    modules = {name.removesuffix(".js") for name in names if name.endswith(".js")} - {"dist/bundle"}
    sources = {path.relative_to(built / "src").with_suffix("") for path in (built / "src").rglob("*.[jt]s")}
    assert {Path("shared", path.stem) for path in SHARED.glob("*.js")} <= sources
    assert modules == {f"dist/{source.as_posix()}" for source in sources}
    assert names - others == {f"{module}{ending}" for module in modules for ending in (".js", ".d.ts")}
    assert packed.stat().st_size < 300_000


@pytest.mark.parametrize("command", ["pack", "run generate", "test"])
def test_an_unbuilt_clone_states_the_missing_step(command: str, tmp_path: Path) -> None:
    install(PACKAGE)
    folder = tmp_path / "clients/typescript"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns(*MADE))
    done = subprocess.run(["npm", *command.split()], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1
    for step in ("Missing: node_modules", "npm ci", "chatiere protos api", "npm run generate"):
        assert step in done.stderr


@pytest.mark.slow
def test_the_packed_files_can_be_installed(built: Path, tmp_path: Path) -> None:
    # Install the package next to its dependencies, as npm would.
    (packed,) = built.glob("*.tgz")
    shutil.copytree(built / "node_modules", tmp_path / "node_modules")
    (tmp_path / "node_modules/@chatiere").mkdir()
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "package").rename(tmp_path / "node_modules/@chatiere/client")
    program = "".join(re.findall(r"^```ts\n(.*?)^```$", (PACKAGE / "README.md").read_text("utf-8"), re.M | re.S))
    with serving() as (door, _):
        (tmp_path / "program.mts").write_text(program.replace("http://127.0.0.1:8080", door), "utf-8")
        options = ("--strict", "--noUncheckedIndexedAccess", "--module", "nodenext", "--target", "es2022")
        run(tmp_path, "node", "node_modules/typescript/lib/tsc.js", *options, "program.mts")
        # The program prints the record of a game, then the seat of an invited player.
        assert re.search("game: 'discat'.*^seat 2$", run(tmp_path, "node", "program.mjs"), re.M | re.S)


@pytest.fixture
def browser() -> Iterator[Any]:
    with launched_browser() as browser:
        yield browser


@pytest.fixture
def page(built: Path, tmp_path: Path) -> tuple[Path, str]:
    """A folder with the bundle, and the text of the page."""
    shutil.copy(built / "dist/bundle.js", tmp_path / "chatiere.js")
    (html,) = re.findall(r"^```html\n(.*?)^```$", (ROOT / "docs/frontends.md").read_text("utf-8"), re.M | re.S)
    assert html.count("\n") <= 40
    return tmp_path, html


def test_the_page_plays_a_game_from_another_origin(page: tuple[Path, str], browser: Any) -> None:
    folder, html = page
    with served_files(folder) as origin, serving(origin) as (door, _):
        (folder / "index.html").write_text(html.replace("http://127.0.0.1:8080", door), "utf-8")
        tab = browser.new_page()
        tab.goto(origin)
        tab.wait_for_selector("button")
        # Click the first button repeatedly until the game is over.
        tab.evaluate(
            "new Promise((over) => { const click = () => news.textContent.includes('won by') ? over() "
            ": (document.querySelector('button')?.click(), setTimeout(click)); click(); })"
        )
        assert re.search(r"; won by seat [01]( and 1)?$", tab.text_content("#news"))
        log = tab.locator("#log li").all_text_contents()
        assert any(text.startswith("seat 0 plays") for text in log)
        assert any(text.startswith("seat 1") for text in log)


def test_the_page_is_refused_if_its_origin_is_not_named(page: tuple[Path, str], browser: Any) -> None:
    folder, html = page
    with served_files(folder) as origin, serving("http://127.0.0.1:1") as (door, _):
        (folder / "index.html").write_text(html.replace("http://127.0.0.1:8080", door), "utf-8")
        tab = browser.new_page()
        complaints: list[str] = []
        tab.on("console", lambda message: complaints.append(message.text))
        tab.goto(origin)
        tab.wait_for_function("news.textContent !== '…'")
        assert tab.text_content("#news").startswith("Unavailable: ")
        assert any("CORS policy" in complaint for complaint in complaints)
        assert tab.locator("button").count() == 0


SEAT = """async (door) => {
    const { Chatiere, LocalStorageStore } = await import("./chatiere.js");
    const seat = await new Chatiere(door).takeSeat(new LocalStorageStore("anna"));
    return Array.from(seat.seat.holder.value).join(" ");
}"""
FORK = """async (door) => {
    const { Chatiere, LocalStorageStore, MapStore, Acknowledgement } = await import("./chatiere.js");
    const chatiere = new Chatiere(door);
    const me = await chatiere.takeSeat(new LocalStorageStore("anna"));
    const other = await chatiere.takeSeat(new MapStore());
    const begun = { game: "discat", seats: [me.seat, other.seat], acknowledgement: Acknowledgement.NEXT,
                    options: { game: { case: "discat", value: { firstSeat: 0 } } } };
    const { table } = await me.newTable(begun);
    const open = await other.acknowledge(await me.acknowledge(table));
    const { legalActions } = await me.look(open);
    await me.move(open, legalActions[0]);
    return me.move(open, legalActions[1]).then(() => "moved twice", ({ name }) => name);
}"""


def test_a_seat_outlives_its_page(page: tuple[Path, str], browser: Any) -> None:
    folder, _ = page
    (folder / "index.html").write_text("<!doctype html>")
    with served_files(folder) as origin, serving(origin) as (door, _):
        tab = browser.new_page()
        tab.goto(origin)
        before = tab.evaluate(SEAT, door)
        assert len(before.split()) == 32
        assert tab.evaluate(FORK, door) == "ForkError"
        tab.reload()
        assert tab.evaluate(SEAT, door) == before
