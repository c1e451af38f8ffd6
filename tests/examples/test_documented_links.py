"""Links between pages, and from pages to files, have targets that exist."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(
        page
        for folder in ("docs", "clients", "examples", "loadtest", "deploy", "tests/data")
        for page in sorted((ROOT / folder).rglob("*.md"))
        if "node_modules" not in page.parts
    ),
]


def prose(page: Path) -> str:
    """Return a page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    """Return the targets of a page's links and pictures, except those on other sites."""
    found = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    return [link for link in found if "://" not in link]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_targets_of_links_exist(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_links_and_anchors_are_found() -> None:
    assert "docs/rules/discat.md" in links(ROOT / "README.md")
    assert "a-players-update" in anchors(ROOT / "docs/games/discat.md")
