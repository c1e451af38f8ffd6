"""The parts of the package import only the listed parts, and only some parts import gRPC or protobuf."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# For each part, the parts that it may import. Imported parts are listed first, so there are no cycles.
BELOW: dict[str, set[str]] = {
    "fields": set(),
    "v1": set(),
    "engine": {"fields"},
    "drawing": {"v1", "engine"},
    "text": {"v1", "engine", "drawing"},
    "bots": {"v1", "engine", "drawing", "text"},
    "envs": {"v1", "engine", "bots", "drawing", "text"},
    "arena": {"engine", "bots", "envs"},
    "training": {"engine", "bots", "envs", "arena"},
    "http2": {"engine"},
    "web": set(),
    "clients": {"v1", "engine", "bots", "envs", "http2"},
    "selfplay": {"v1", "engine", "bots", "envs", "arena", "clients"},
    "terminal": {"v1", "bots", "drawing", "clients"},
    "service": {"v1", "engine", "bots", "http2", "web"},
    "mcp": {"v1", "engine", "text", "clients", "service"},
    "command": {
        *("v1", "engine", "bots", "arena", "training", "http2", "clients", "selfplay", "terminal", "service", "mcp")
    },
    "__main__": {"command"},
}
# Parts that import gRPC, and parts that import protobuf's modules in addition to the API's messages.
WITH_GRPC = {"clients", "service", "mcp", "command"}
WITH_PROTOBUF = WITH_GRPC | {"bots", "envs"}
IMPORT = re.compile(
    r"^\s*(?:from|import|cimport) (?:chatiere\.(\w+)|chatiere c?import ([\w, ]+)|(grpc|google)\b)", re.MULTILINE
)
SOURCES = [
    path
    for root in ("engine", "http2", "service", "clients")
    for path in sorted((ROOT / root / "chatiere").rglob("*.p*"))
    if path.suffix in (".py", ".pyi", ".pyx", ".pxd")
]


def part_of(source: Path) -> str:
    return source.relative_to(ROOT).parts[2].removesuffix(".py")


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: "/".join(path.relative_to(ROOT).parts[2:]))
def test_a_module_imports_only_the_modules_allowed_for_its_part(source: Path) -> None:
    part = part_of(source)
    found = IMPORT.findall(source.read_text())
    imported = {name for one, several, _ in found for name in (one, *several.replace(",", " ").split()) if name}
    assert imported <= BELOW[part] | {part}
    assert {library for *_, library in found if library} <= (
        ({"grpc"} if part in WITH_GRPC else set()) | ({"google"} if part in WITH_PROTOBUF else set())
    )


def test_every_part_is_listed_and_there_are_no_cycles() -> None:
    assert {part_of(source) for source in SOURCES} == BELOW.keys() - {"fields", "v1", "web"}
    before: set[str] = set()
    for part, below in BELOW.items():
        assert below <= before, part
        before.add(part)
