"""Editors and debuggers use the source files: Pyright resolves names in all roots, pdb stops at breakpoints there."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.node_modules import install

from .language_server import LanguageServer, Place, language_server

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
ROOTS = ("engine", "http2", "service", "clients")
# Names that several folders import, with the files that define them.
NAMES = {
    "EngineError": "engine/chatiere/engine/core/errors.py",
    "Description": "engine/chatiere/engine/core/description.py",
    "Batch": "engine/chatiere/envs/batch.py",
    "DRAWINGS": "engine/chatiere/drawing/__init__.py",
    "Refusal": "service/chatiere/service/base/errors.py",
    "split_address": "service/chatiere/service/base/settings.py",
    "Holding": "service/chatiere/service/guards/memory.py",
    "Keyring": "service/chatiere/service/tables/keys.py",
    "ChatiereError": "clients/chatiere/clients/calls/errors.py",
    "Arena": "engine/chatiere/arena/tournament.py",
}
# For one file of each root, a function in the file and a program that calls the function.
CALLS = {
    "engine/chatiere/engine/core/options.py": (
        "read_number",
        "from chatiere.engine.core.options import read_number; read_number('players', 2, 2, 4)",
    ),
    "http2/chatiere/http2/__init__.py": ("is_built", "from chatiere import http2; http2.is_built()"),
    "service/chatiere/service/tables/hkdf.py": (
        "derived",
        "from chatiere.service.tables.hkdf import derived; derived(bytes(32), 'test')",
    ),
    "clients/chatiere/clients/records.py": (
        "printable",
        "from chatiere.clients import records; records.printable('x')",
    ),
    "proto/chatiere/v1/game_service_pb2_grpc.py": (
        "add_GameServiceServicer_to_server",
        "from chatiere.v1 import game_service_pb2_grpc as api\n"
        "try: api.add_GameServiceServicer_to_server(api.GameServiceServicer(), None)\n"
        "except AttributeError: pass",
    ),
}


def definition_of(name: str, file: Path) -> tuple[Place, int]:
    """Return the place where a file defines a name, and the name's column, numbered from 1."""
    for number, text in enumerate(file.read_text().splitlines(), 1):
        words = text.replace("(", " ").replace(":", " ").split(" ")
        if name in words[:2] and not text.startswith((" ", "from", "import")):
            return Place(file, number), text.index(name) + 1
    raise AssertionError(f"{file} does not define {name}")


def imports_of(name: str, file: str) -> Iterator[tuple[Place, int]]:
    """Yield the places where the roots import a name from the module that defines it, with the column."""
    module = ".".join(Path(file).with_suffix("").parts[1:]).removesuffix(".__init__")
    for source in sorted(path for root in ROOTS for path in (ROOT / root).rglob("*.py")):
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == module:
                for each in node.names:
                    if each.name == name:
                        yield Place(source, each.lineno), each.col_offset + 1


@pytest.fixture(scope="module")
def pyright() -> Iterator[LanguageServer]:
    command = install(Path(__file__).parent) / ".bin/pyright-langserver"
    with language_server(command, ROOT) as server:
        yield server


@pytest.mark.parametrize("name", NAMES)
def test_an_editor_finds_definitions_and_uses_in_the_source_files(pyright: LanguageServer, name: str) -> None:
    defined, column = definition_of(name, ROOT / NAMES[name])
    imported = list(imports_of(name, NAMES[name]))
    assert any(place.file.parent != defined.file.parent for place, _ in imported)
    for (file, line), at in imported:
        pyright.open(file)
        assert pyright.definitions(file, line, at) == {defined}
    pyright.open(defined.file)
    assert {place for place, _ in imported} <= pyright.references(*defined, column)


@pytest.mark.parametrize("file", CALLS)
def test_a_debugger_stops_in_the_source_file(file: str, tmp_path: Path) -> None:
    name, program = CALLS[file]
    path = ROOT / file
    function = next(
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    has_docstring = ast.get_docstring(function) is not None
    line = function.body[has_docstring].lineno
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "pdb", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        input=f"break {path}:{line}\ncontinue\nquit\n",
    )
    assert f"> {path}({line}){name}()" in done.stdout, done.stdout + done.stderr
