"""@chatiere/client built as its README says, Chromium, and pages of other origins to try it in."""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from node_modules import install

from chatiere.command import main

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "clients/typescript"
SHARED = ROOT / "web/chatiere/web/shared"
"""Its modules that the page has, too."""
LEGAL = ("LICENSE", "NOTICE")
"""Files of the repository that are packed with it."""
# Products of its README's commands.
_MADE = ("api", "build", "dist", "generated", "shared", "node_modules", "*.tgz", *LEGAL)


def run(folder: Path, *command: str, **environment: str) -> str:
    """Run a command that has to succeed; return what it prints."""
    # buf comes with the Python environment.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = os.environ | {"PATH": path} | environment
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_package(repository: Path) -> Path:
    """Build and pack a copy of the package, in its place of a folder like the repository; return where it is."""
    modules = install(PACKAGE)
    version = run(PACKAGE, "node", "--version")
    if int(version[1:].split(".")[0]) < 20:
        pytest.skip(f"Node is too old: {version}")
    folder = repository / PACKAGE.relative_to(ROOT)
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns(*_MADE))
    shutil.copytree(SHARED, repository / SHARED.relative_to(ROOT))
    for name in LEGAL:
        shutil.copy(ROOT / name, repository)
    (folder / "node_modules").symlink_to(modules)
    assert CliRunner().invoke(main, ["protos", str(folder / "api")]).exit_code == 0
    run(folder, "npm", "run", "generate")
    run(folder, "npm", "pack")
    return folder


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
