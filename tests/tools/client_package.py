"""@chatiere/client built as its README describes, Chromium, and pages of other origins to use it in."""

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from release.npm import PACKAGE, pack

from .needs import require
from .node_modules import install

ROOT = Path(__file__).parents[2]


def build_package(repository: Path) -> Path:
    """Build and pack a copy of the package inside `repository`, at the same path. Return the path of the copy."""
    modules = install(PACKAGE)
    return pack(repository, modules).parent


@contextmanager
def launched_browser() -> Iterator[Any]:
    """Run Chromium. Skip the test if it is missing."""
    require("Chromium")
    chromium = shutil.which("chromium")
    with sync_playwright() as started:
        # As root, Chromium only runs without its sandbox. It loads only pages of this test.
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write no log."""


@contextmanager
def served_files(folder: Path) -> Iterator[str]:
    """Serve a folder as docs/frontends.md describes. Yield its origin."""
    handler = functools.partial(_Files, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
