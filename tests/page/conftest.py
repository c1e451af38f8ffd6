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


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=path) as browser:
        yield browser


@pytest.fixture(scope="package")
def server() -> Iterator[Served]:
    with served(door="web") as server:
        yield server


@pytest.fixture
def visit(chromium: Browser, server: Served) -> Iterator[Callable[..., Person]]:
    """Open the page as somebody with a browser of their own: `visit(**options of Person)`."""
    with ExitStack() as people:

        def opened(**options: Any) -> Person:
            return people.enter_context(Person(chromium, server.address, **options))

        yield opened
