"""Chromium, a server of the page, and people with browsers of their own."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

pytest.importorskip("httptools")

from playwright.sync_api import Browser, expect, sync_playwright
from service.process import Served, served

from .person import PATIENCE, Person

expect.set_options(timeout=PATIENCE)

ELSEWHERE = "chatiere.test"
"""A name of this machine that browsers take for another one: pages from there are not secure."""
NAMED = f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"


@pytest.fixture(scope="package")
def running_chromium() -> Iterator[Callable[[], Browser]]:
    """Return what returns a Chromium that runs, the same as long as it does."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("Chromium is not installed")
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
def visit(chromium: Browser, server: Served) -> Iterator[Callable[..., Person]]:
    """Open the page as somebody with a browser of their own: `visit(**options of Person)`."""
    with ExitStack() as people:

        def opened(**options: Any) -> Person:
            return people.enter_context(Person(chromium, server.address, **options))

        yield opened
