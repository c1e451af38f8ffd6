"""The page without a server: the stored files and records, how long they are kept, and the page's installation."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from service.process import served
from service.support import Running, running

from chatiere.service.ports.web import pages, port

from .conftest import ELSEWHERE
from .person import Person
from .test_page_games import GAMES

pytestmark = pytest.mark.long

# Returns true once the page has stored its files, and all data of the rule sheets in the page's language.
PREPARED = """async () => {
  const [{ kept }, { shelfOfGames }] = await Promise.all([import("./kept.js"), import("./games.js")]);
  return (await caches.has("chatiere kept")) && (await kept(shelfOfGames(), "version")) !== undefined;
}"""
RECORDS = "async (count) => (await (await import('./kept_records.js')).keptRecords()).length === count"
# Returns the versions of the kept files, and the workers.
FILES = """async () => {
  const versions = (await caches.keys()).filter((name) => name.startsWith("chatiere page "));
  return [versions, await navigator.serviceWorker.getRegistrations()];
}"""
_REPLACED = f"""async (before) => {{
  const [versions, [worker]] = await ({FILES})();
  return versions.length === 1 && versions[0] !== before && !worker.waiting && !worker.installing;
}}"""
# Keeps twenty records, then the first record again, and finally another record.
_KEEP_MANY = """async () => {
  const [{ keepRecord }, { keep, shelves }] = await Promise.all([import("./kept_records.js"), import("./kept.js")]);
  for (const number of [...Array(20).keys(), 0]) await keep(`record-${number}`, "record", {});
  await keepRecord({ game: "discat", rulesVersion: 1, players: 2, stream: { seed: "7" }, actions: [] });
  return shelves("record-");
}"""
# Keeps the data of rule sheets after the files of one version were deleted, and before the next version is stored.
_KEEP_MEANWHILE = """async () => {
  const old = (await caches.keys()).filter((name) => name.startsWith("chatiere page "));
  await Promise.all(old.map((name) => caches.delete(name)));
  await (await import("./offline.js")).prepare();
  const [{ kept }, { shelfOfGames }] = await Promise.all([import("./kept.js"), import("./games.js")]);
  return [old[0], await kept(shelfOfGames(), "version")];
}"""
# Returns the maximum difference of a colour between the SVG icon and the icon for browsers without SVG icons.
_DIFFERENCE = """async () => {
  const drawn = async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 180, height: 180 });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, 180, 180);
    return context.getImageData(0, 0, 180, 180).data;
  };
  const [one, other] = [
    await drawn(document.querySelector("link[rel=apple-touch-icon]").href), await drawn("icon_app.svg")
  ];
  return one.reduce((most, value, at) => Math.max(most, Math.abs(value - other[at])), 0);
}"""
_WATCH = """(promises, arg) => {
  window.isFulfilled = false;
  const look = async () => ((await promises(arg)) ? (window.isFulfilled = true) : requestAnimationFrame(look));
  look();
}"""
WAITING = ".waiting:not([hidden])"


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Running]]:
    """Return a folder with the page's files, and a server that serves it. At a request for /, it checks the folder."""
    folder = shutil.copytree(pages.FOLDER, tmp_path / "web", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(port, "Pages", lambda **settings: pages.Pages(folder, **settings))
    monkeypatch.setattr(pages, "_LOOK", 0.0)
    with running(door="web") as server:
        yield folder, server


def await_promised(person: Person, function: str, arg: Any = None) -> None:
    """Call a function repeatedly until the value of its promise is true."""
    person.evaluate(f"(arg) => ({_WATCH})({function}, arg)", arg)
    person.await_true("() => window.isFulfilled")


def prepared(person: Person) -> None:
    """Open the page, and wait until it works without a server."""
    person.open("")
    await_promised(person, PREPARED)


def test_rules_and_records_open_without_a_server(chromium: Browser) -> None:
    with served(door="web") as server, Person(chromium, server.address, keeps_page=True) as person:
        page = person.page
        prepared(person)
        person.open("record/discat/3")
        await_promised(person, RECORDS, 1)
        person.open("")
        server.close()
        page.reload()
        expect(page.locator(".games [data-game]")).to_have_count(len(GAMES))
        expect(page.locator(WAITING)).to_contain_text("this is what your browser has kept")
        for game in GAMES:
            page.locator(f"[data-game={game}] a[href='rules/{game}.html']").click()
            expect(page.locator("dialog.rules .totals tbody tr").first).to_be_visible()
            page.keyboard.press("Escape")
        page.locator(WAITING).get_by_role("link", name="Available without a connection").click()
        page.locator(".tables a[href='#/record/own']").click()
        output = page.locator(".slider output")
        expect(output).to_contain_text("0 of")
        page.locator(".slider input").focus()
        page.keyboard.press("End")
        expect(page.locator(".scores .rank").first).to_be_visible()
        # All other parts report that there is no connection, and link to the parts that are available.
        page.goto(f"{person.origin}/#/new/momistigri")
        expect(page.locator(WAITING)).to_contain_text("Trying again")
        page.locator(WAITING).get_by_role("link").click()
        page.get_by_role("button", name="Forget this record of Discat").click()
        await_promised(person, RECORDS, 0)
        # The browser reports unanswered requests as errors.
        person.errors.clear()


def test_the_least_recently_viewed_records_are_removed(visit: Callable[..., Person]) -> None:
    person = visit(keeps_page=True)
    person.open("")
    *left, newest = person.evaluate(_KEEP_MANY)
    assert left == [f"record-{number}" for number in (*range(2, 20), 0)]
    assert newest not in left


def test_no_file_is_stale_after_an_update(chromium: Browser, edited: tuple[Path, Running]) -> None:
    folder, server = edited
    with Person(chromium, server.address, keeps_page=True) as person:
        prepared(person)
        before = person.evaluate(f"async () => (await ({FILES})())[0][0]")
        index = folder / "index.html"
        index.write_text(index.read_text().replace("<title>", "<title>New "))
        source = person.page.goto(person.origin)
        assert source
        assert "<title>New " in source.text()
        await_promised(person, _REPLACED, before)
        assert "<title>New " in person.evaluate("async () => (await caches.match('index.html')).text()")


def test_no_data_is_kept_during_an_update(visit: Callable[..., Person]) -> None:
    person = visit(keeps_page=True)
    prepared(person)
    before, after = person.evaluate(_KEEP_MEANWHILE)
    assert after == before


def test_an_old_worker_removes_itself(chromium: Browser, edited: tuple[Path, Running]) -> None:
    folder, server = edited
    with Person(chromium, server.address, keeps_page=True) as person:
        prepared(person)
        # The worker finds that its file no longer exists.
        person.may_be_refused = True
        (folder / "sw.js").unlink()
        (folder / "offline.js").write_text("export const prepare = () => undefined;")
        person.page.goto(person.origin)
        await_promised(person, f"async () => (await ({FILES})()).flat().length === 0")


def test_a_browser_offers_to_install_the_page(visit: Callable[..., Person]) -> None:
    person = visit()
    person.open("")
    session = person.context.new_cdp_session(person.page)
    manifest = session.send("Page.getAppManifest")
    assert manifest["url"] == f"{person.origin}/manifest.webmanifest"
    assert manifest["errors"] == []
    # The only obstacle is that this window is private.
    errors = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [each["errorId"] for each in errors] == ["in-incognito"]


def test_the_icon_without_svg_looks_the_same(visit: Callable[..., Person]) -> None:
    person = visit()
    person.open("")
    assert person.evaluate(_DIFFERENCE) <= 8


def test_a_page_that_is_not_secure_works_without_a_worker(chromium: Browser) -> None:
    """A page that comes from another machine over plain HTTP has neither workers nor caches."""
    with served("--web-hosts", ELSEWHERE, door="web") as server:
        address = f"{ELSEWHERE}:{server.address.rpartition(':')[2]}"
        with Person(chromium, address, keeps_page=True) as person:
            person.open("record/discat/3")
            expect(person.page.locator(".slider output")).to_contain_text("3 of")
            assert person.evaluate("[isSecureContext, 'serviceWorker' in navigator, 'caches' in window]") == [False] * 3
            # The browser logs that it ignores a header on a page that is not secure.
            assert all("Cross-Origin-Opener-Policy" in error for error in person.errors)
            person.errors.clear()
