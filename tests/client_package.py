"""@chatiere/client built as its README says, Chromium, and pages of other origins to try it in."""

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from node_modules import install

from release.npm import PACKAGE, pack, run

ROOT = Path(__file__).parents[1]


def build_package(repository: Path) -> Path:
    """Build and pack a copy of the package, in its place of a folder like the repository; return where it is."""
    modules = install(PACKAGE)
    version = run(PACKAGE, "node", "--version")
    if int(version[1:].split(".")[0]) < 20:
        pytest.skip(f"Node is too old: {version}")
    return pack(repository, modules).parent


@contextmanager
def launched_browser() -> Iterator[Any]:
    """Run Chromium; the test is skipped where it or Playwright is missing."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as started:
        # As root, Chromium does without its sandbox; it sees pages of this test alone.
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served_files(folder: Path) -> Iterator[str]:
    """Serve a folder as docs/frontends.md says; its origin."""
    handler = functools.partial(_Files, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
