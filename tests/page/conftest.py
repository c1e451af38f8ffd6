"""Chromium, a server of the page, and people with separate browsers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from service.process import Served, served, served_rooms
from tools.needs import require

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from .person import Person

ELSEWHERE = "chatiere.test"
"""A name of this machine. To browsers, it is the name of another machine, so its pages are not secure."""
NAMED = f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"


@pytest.fixture(scope="package")
def running_chromium() -> Iterator[Callable[[], Browser]]:
    """Return a function that returns a running Chromium. It returns the same server until the server ends."""
    require("Chromium")
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    launched: list[Browser] = []
    with sync_playwright() as playwright, ExitStack() as browsers:

        def running() -> Browser:
            if not launched or not launched[-1].is_connected():
                browser = playwright.chromium.launch(executable_path=path, args=[NAMED])
                launched.append(browsers.enter_context(browser))
            return launched[-1]

        yield running


@pytest.fixture
def chromium(running_chromium: Callable[[], Browser]) -> Browser:
    return running_chromium()


@pytest.fixture(scope="package")
def server() -> Iterator[Served]:
    with served("--relay", "memory", door="web") as server:
        yield server


@pytest.fixture
def serve_rooms(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Return a function that runs a server with rooms: `serve(*arguments)`. All servers share their keys."""
    with served_rooms(tmp_path) as serve:
        yield serve


@pytest.fixture
def visit(chromium: Browser, server: Served) -> Iterator[Callable[..., Person]]:
    """Return a function that opens the page as a person with a separate browser: `visit(**options of Person)`."""
    from .person import Person

    with ExitStack() as people:

        def opened(**options: Any) -> Person:
            return people.enter_context(Person(chromium, server.address, **options))

        yield opened
