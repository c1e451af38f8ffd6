"""Unit tests of the page's modules, in Node: tests/page/unit."""

import os
import subprocess
from pathlib import Path

import pytest
from service.process import Served
from tools.needs import require

from .contexts import write_contexts

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parent / "unit"


@pytest.fixture(scope="module")
def contexts(server: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("unit") / "contexts.json"
    write_contexts(server.address, path)
    return path


@pytest.fixture(scope="module")
def node() -> str:
    require("Node")
    return "node"


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.test.mjs")))
def test_modules(node: str, contexts: Path, name: str) -> None:
    environment = os.environ | {"CHATIERE_CONTEXTS": str(contexts)}
    command = (node, "--test", str(FOLDER / name))
    tested = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert tested.returncode == 0, tested.stdout + tested.stderr
