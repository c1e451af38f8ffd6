"""The service's layers: each folder imports only itself and the folders listed before it."""

import re
from pathlib import Path

import pytest

from chatiere import service

SERVICE = Path(service.__file__).parent
FLOORS = ("base", "guards", "tables", "calls", "exchange", "rooms", "ports", "process")
IMPORT = re.compile(r"^\s*(?:from|import) chatiere\.service\.(\w+)", re.MULTILINE)
SOURCES = sorted(path for path in SERVICE.rglob("*.py") if path.parent != SERVICE)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.relative_to(SERVICE).as_posix())
def test_a_module_imports_only_from_its_layer_and_lower_ones(source: Path) -> None:
    floor = FLOORS.index(source.relative_to(SERVICE).parts[0])
    assert set(IMPORT.findall(source.read_text())) <= set(FLOORS[: floor + 1])


def test_every_module_belongs_to_a_layer() -> None:
    assert {path.name for path in SERVICE.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(FLOORS)
