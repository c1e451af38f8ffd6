"""Packages: reproducible archives, editable installs, and the compilers that the engine accepts."""

import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from tools.needs import needs

from release.packages import normalise_tarball, normalise_wheel, unpack

pytestmark = pytest.mark.long

BITS = Path(__file__).parents[2] / "engine/chatiere/engine/core/bits.pxd"
# The files of two builds. The builds differ in the times, the order and the permissions of the files.
FILES = {"chatiere-1/b.py": b"b", "chatiere-1/a.so": b"a", "chatiere-1/sub/c.py": b"c"}
RECORD = "chatiere-1.dist-info/RECORD"

ROOT = Path(__file__).parents[2]
ROOTS = ("engine", "http2", "service", "clients/chatiere", "proto", "web")
# A program that makes the wheel of an editable install as pip does, but without compiling.
EDITABLE = """
import runpy, setuptools, sys
setup = setuptools.setup
setuptools.setup = lambda **options: setup(**options | {"ext_modules": []})
sys.argv[1:] = ["--quiet", "editable_wheel", "--mode", sys.argv[1], "--dist-dir", "dist"]
runpy.run_path("setup.py", run_name="__main__")
"""
# A program that imports only from an installed folder.
ORIGINS = """
import site, sys
from importlib.util import find_spec
site.addsitedir(sys.argv[1])
sys.path.append(sys.argv[2])
for name in ("chatiere.__main__", "chatiere.command", "chatiere.clients", "chatiere.web.shared"):
    spec = find_spec(name)
    print(spec.origin or list(spec.submodule_search_locations)[0], flush=True)
import runpy
sys.argv = ["chatiere", "--version"]
runpy.run_module("chatiere", run_name="__main__")
"""


@pytest.fixture(autouse=True)
def dated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def sdist(path: Path, order: int, mode: int, time: int) -> bytes:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in sorted(FILES.items())[::order]:
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime, member.uid, member.uname = len(content), mode, time, time, str(time)
            archive.addfile(member, io.BytesIO(content))
    normalise_tarball(path)
    return path.read_bytes()


def wheel(path: Path, order: int, mode: int, year: int) -> bytes:
    with zipfile.ZipFile(path, "w") as archive:
        lines = "".join(f"{name},,\n" for name in sorted(FILES)[::order])
        for name, content in [*sorted(FILES.items()), (RECORD, lines.encode())][::order]:
            entry = zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0))
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    normalise_wheel(path)
    return path.read_bytes()


def test_sdists_do_not_depend_on_how_they_were_built(tmp_path: Path) -> None:
    path = tmp_path / "chatiere-1.tar.gz"
    assert sdist(path, 1, 0o600, 5) == sdist(path, -1, 0o664, 1_800_000_000)
    source = unpack(path, tmp_path / "unpacked")
    assert {str(each.relative_to(source.parent)): each.read_bytes() for each in source.rglob("*.*")} == FILES


def test_wheels_do_not_depend_on_how_they_were_built(tmp_path: Path) -> None:
    path = tmp_path / "chatiere-1.whl"
    assert wheel(path, 1, 0o600, 1990) == wheel(path, -1, 0o664, 2026)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [*sorted(FILES), RECORD]
        assert {name: archive.read(name) for name in FILES} == FILES
        assert archive.getinfo("chatiere-1/a.so").external_attr >> 16 == 0o100755
        assert archive.getinfo(RECORD).date_time == (2023, 11, 14, 22, 13, 20)


@pytest.mark.parametrize("mode", ["lenient", "strict"])
def test_an_editable_install_imports_the_sources(mode: str, tmp_path: Path) -> None:
    source, installed = tmp_path / "source", tmp_path / "installed"
    for name in ROOTS:
        shutil.copytree(
            ROOT / name, source / name, ignore=shutil.ignore_patterns("node_modules", "*.so", "__pycache__")
        )
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source)
    scripts = {path: path.read_bytes() for path in source.rglob("*.js")}
    environment = os.environ | {"CHATIERE_BUILD": "trial"}
    subprocess.run([sys.executable, "-c", EDITABLE, mode], cwd=source, env=environment, check=True, capture_output=True)
    assert scripts == {path: path.read_bytes() for path in scripts}
    (wheel,) = (source / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    command = [sys.executable, "-S", "-c", ORIGINS, str(installed), sysconfig.get_path("purelib")]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    *origins, version = done.stdout.splitlines()
    assert [Path(origin).resolve() for origin in origins[:3]] == [
        source / "service/chatiere/__main__.py",
        source / "service/chatiere/command/__init__.py",
        source / "clients/chatiere/clients/__init__.py",
    ]
    assert (Path(origins[3], "records.js").resolve()) == source / "web/shared/records.js"
    assert version.startswith("chatiere, version ")


@needs("gcc")
def test_other_compilers_are_refused_with_a_clear_message() -> None:
    blocks = re.findall(r'"""\n(.*?)"""', BITS.read_text(encoding="utf-8"), re.DOTALL)
    command = ("gcc", "-U__GNUC__", "-E", "-x", "c", "-")
    done = subprocess.run(
        command, input=blocks[0], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    assert done.returncode != 0
    assert "Chatiere's engine is compiled by GCC or Clang, as it needs their vectors and builtins." in done.stderr
