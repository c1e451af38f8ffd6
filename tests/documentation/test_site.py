"""The documentation's site as built by `make docs`: accessible, and without requests to other hosts."""

import re
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from tools.client_package import ROOT, launched_browser, served_files
from tools.node_modules import install

from chatiere import engine

pytestmark = pytest.mark.site
SITE = ROOT / "build/site"
PAGES = (
    *(
        "index",
        "CONTRIBUTING",
        "docs/index",
        "docs/first_game",
        "docs/frontends",
        "docs/architecture",
        "docs/benchmarks",
        "docs/rules/discat",
    ),
    *("docs/site/generated/game_service", "docs/site/generated/api", "docs/site/python/engine"),
    *("docs/site/generated/sheets/discat", "docs/site/generated/typescript/classes/HostTable"),
)
SIZES = [(390, "light"), (1280, "light"), (1280, "dark")]


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with served_files(SITE) as origin:
        yield origin


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def axe() -> str:
    return (install(ROOT / "tests/page") / "axe-core" / "axe.min.js").read_text()


@pytest.mark.parametrize(("width", "theme"), SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible_and_make_no_requests_to_other_hosts(
    origin: str, browser: Any, axe: str, name: str, width: int, theme: Literal["light", "dark"]
) -> None:
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme) as context:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{origin}/{name}.html", wait_until="networkidle")
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
        assert [f"{each['id']}: {each['nodes'][0]['html']}" for each in found] == []
        assert asked
        assert {url for url in asked if not url.startswith((origin, "data:"))} == set()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_reference_has_all_services_and_messages() -> None:
    pages = {path.stem: path.read_text("utf-8") for path in (SITE / "docs/site/generated").glob("*.html")}
    protos = {path.stem: path.read_text("utf-8") for path in (ROOT / "proto/chatiere/v1").glob("*.proto")}
    for stem in protos.keys() & pages.keys():
        for line in protos[stem].splitlines():
            kind, _, rest = line.partition(" ")
            if kind in ("service", "message", "enum"):
                assert f'id="{rest.split()[0].lower()}"' in pages[stem]
    assert {"game_service", "table_service", "room_service", "errors", "discat"} <= pages.keys()


def test_the_typescript_reference_has_all_exports_of_the_package() -> None:
    lines = (ROOT / "clients/typescript/src/index.ts").read_text("utf-8")
    exported = [name for names in re.findall(r"^export \{([^}]+)\}", lines, re.MULTILINE) for name in names.split(",")]
    pages = {path.stem for path in (SITE / "docs/site/generated/typescript").glob("*/*.html")}
    assert pages == {name.strip().removeprefix("type ") for name in exported if name.strip()}


def test_every_game_has_a_rule_sheet_with_an_example() -> None:
    for game in engine.games():
        sheet = (SITE / f"docs/site/generated/sheets/{game.name}.html").read_text("utf-8")
        assert "1. seat " in sheet


def test_llms_txt_lists_existing_pages() -> None:
    listed = [line.rpartition("](")[2].rstrip(")") for line in (SITE / "llms.txt").read_text("utf-8").splitlines()[2:]]
    assert "docs/first_game.html" in listed
    assert [name for name in listed if not (SITE / name).is_file()] == []


def test_the_search_finds_pages(origin: str, browser: Any) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{origin}/search.html?q=resample")
        page.wait_for_selector("#search-results li a[href*='game_service']")
