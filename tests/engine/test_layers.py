"""The engine's layers: rules, position, messages and wire. A module imports only from its own and lower layers."""

import re
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[2] / "engine/chatiere/engine"
LAYERS = {
    "rules": {
        "bits",
        "cancellation",
        "clearing",
        "loops",
        "masks",
        "moves",
        "operations",
        "packed",
        "stream",
        "threads",
        "weights",
    },
    "position": {
        "arguments",
        "arrays",
        "batch",
        "blocks",
        "choices",
        "columns",
        "compact",
        "description",
        "encoders",
        "errors",
        "events",
        "game",
        "integers",
        "languages",
        "observation",
        "observation_parts",
        "output",
        "parts",
        "position",
        "record",
        "steps",
    },
    "messages": {"codec", "game_info", "game_package", "messages", "options", "phrases", "rules_file"},
}
BELOW = {
    "rules": {"rules"},
    "position": {"arrays", "rules", "position"},
    "messages": {"rules", "position", "messages", "wire"},
    "wire": {"wire"},
}
IMPORT = re.compile(r"^\s*(?:from|cimport|import) chatiere\.engine\.(\w+)(?:\.(\w+))?", re.MULTILINE)
SOURCES = [
    path
    for folder in ("core", "wire")
    for path in sorted((ENGINE / folder).glob("*.p*"))
    if path.suffix in (".py", ".pyi", ".pyx", ".pxd") and path.stem != "__init__"
]


def layer_of(folder: str, module: str) -> str:
    if folder == "core":
        return next(layer for layer, modules in LAYERS.items() if module in modules)
    return folder


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_module_imports_only_from_its_layer_and_lower_layers(source: Path) -> None:
    allowed = BELOW[layer_of(source.parent.name, source.stem)]
    imported = {layer_of(*found) for found in IMPORT.findall(source.read_text())}
    assert imported <= allowed


def test_every_module_of_the_core_is_in_one_layer() -> None:
    modules = sorted({path.name.split(".")[0] for path in SOURCES if path.parent.name == "core"})
    assert modules == sorted(module for layer in LAYERS.values() for module in layer)
