"""The page's modules by themselves, in Node: tests/page/unit."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from service.process import Served

from .contexts import write_contexts

FOLDER = Path(__file__).parent / "unit"
# The first with all that the modules use.
OLDEST_NODE = 20


@pytest.fixture(scope="module")
def contexts(server: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("unit") / "contexts.json"
    write_contexts(server.address, path)
    return path


@pytest.fixture(scope="module")
def node() -> str:
    path = shutil.which("node")
    if path is None:
        pytest.skip("Node is not installed")
    version = subprocess.run((path, "--version"), capture_output=True, text=True, check=True).stdout
    if int(version[1:].split(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node is too old: {version}")
    return path


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.test.mjs")))
def test_modules(node: str, contexts: Path, name: str) -> None:
    environment = os.environ | {"CHATIERE_CONTEXTS": str(contexts)}
    command = (node, "--test", str(FOLDER / name))
    tested = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert tested.returncode == 0, tested.stdout + tested.stderr
