"""Published packages: archives without traces of who packed them, and the compilers that the engine accepts."""

import io
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from release.packages import normalise_tarball, normalise_wheel, unpack

BITS = Path(__file__).parents[2] / "engine/chatiere/engine/core/bits.pxd"
# Two builds: of other times, orders and permissions.
FILES = {"chatiere-1/b.py": b"b", "chatiere-1/a.so": b"a", "chatiere-1/sub/c.py": b"c"}
RECORD = "chatiere-1.dist-info/RECORD"


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


def test_sdists_tell_nothing_of_their_building(tmp_path: Path) -> None:
    path = tmp_path / "chatiere-1.tar.gz"
    assert sdist(path, 1, 0o600, 5) == sdist(path, -1, 0o664, 1_800_000_000)
    source = unpack(path, tmp_path / "unpacked")
    assert {str(each.relative_to(source.parent)): each.read_bytes() for each in source.rglob("*.*")} == FILES


def test_wheels_tell_nothing_of_their_building(tmp_path: Path) -> None:
    path = tmp_path / "chatiere-1.whl"
    assert wheel(path, 1, 0o600, 1990) == wheel(path, -1, 0o664, 2026)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [*sorted(FILES), RECORD]
        assert {name: archive.read(name) for name in FILES} == FILES
        assert archive.getinfo("chatiere-1/a.so").external_attr >> 16 == 0o100755
        assert archive.getinfo(RECORD).date_time == (2023, 11, 14, 22, 13, 20)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_other_compilers_are_refused_in_a_sentence() -> None:
    blocks = re.findall(r'"""\n(.*?)"""', BITS.read_text(encoding="utf-8"), re.DOTALL)
    command = ("gcc", "-U__GNUC__", "-E", "-x", "c", "-")
    done = subprocess.run(
        command, input=blocks[0], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    assert done.returncode != 0
    assert "Chatiere's engine is compiled by GCC or Clang, as it needs their vectors and builtins." in done.stderr
