"""The page's modules by themselves, in Node: tests/page/unit."""

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "unit"
# The first with all that the modules use.
OLDEST_NODE = 20


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.test.mjs")))
def test_modules(name: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    version = subprocess.run((node, "--version"), capture_output=True, text=True, check=True).stdout
    if int(version[1:].split(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node is too old: {version}")
    tested = subprocess.run((node, "--test", FOLDER / name), capture_output=True, text=True, timeout=300)
    assert tested.returncode == 0, tested.stdout + tested.stderr
