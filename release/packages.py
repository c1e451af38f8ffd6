"""Build the sdist and the wheel. Their contents do not depend on the user, the machine or the time of packing.

All times in these files are SOURCE_DATE_EPOCH (reproducible-builds.org), by default the time of the last commit.
"""

import csv
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import zopfli

ROOT = Path(__file__).parent.parent
CONSTRAINTS = ROOT / "deploy/constraints.txt"
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
# Asks the build backend for an sdist; pip cannot do this.
SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"


def epoch() -> int:
    """Return the time that all files in packages have, in seconds since 1970."""
    last_commit = ("git", "log", "-1", "--format=%ct")
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or subprocess.run(last_commit, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)


def build_sdist(source: Path, target: Path) -> Path:
    """Build the sdist of a source tree into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-c", SDIST, target], cwd=source, stdout=subprocess.DEVNULL, check=True)
    (sdist,) = target.glob("chatiere-*.tar.gz")
    normalise_tarball(sdist)
    return sdist


def normalise_tarball(tarball: Path) -> None:
    """Rewrite an sdist or an npm package: sort files, give all the same time, and remove owners and the umask."""
    archive = io.BytesIO()
    with tarfile.open(tarball) as given, tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as made:
        for member in sorted(given.getmembers(), key=lambda each: each.name):
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, member.size, epoch()
            plain.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            made.addfile(plain, given.extractfile(member) if member.isfile() else None)
    with tarball.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch()) as packed:
        packed.write(archive.getvalue())


def unpack(sdist: Path, folder: Path) -> Path:
    """Unpack an sdist into a folder, and return the source tree."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.glob("chatiere-*")
    return source


def take_generated_c(source: Path) -> None:
    """Copy the C code that Cython generated in the repository, from the same sources, to a source tree."""
    # Do not copy the times, because the C must be newer than its sources.
    with suppress(FileNotFoundError):
        shutil.copytree(ROOT / "build/cython", source / "build/cython", copy_function=shutil.copy)


def build_wheel(source: Path, target: Path, python: str | Path = sys.executable) -> Path:
    """Build a source tree's wheel for a Python. On Linux, it includes libnghttp2, and a bill of materials for it."""
    built = source / "dist"
    shutil.rmtree(built, ignore_errors=True)
    dated = os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}
    command: list[str | Path] = [python, *PIP, "wheel", "--no-deps", "--wheel-dir", built, source]
    # Run pip outside the source tree, because it would import the tree's folders.
    subprocess.run(command, cwd=source.parent, env=dated, check=True)
    (wheel,) = built.glob("chatiere-*.whl")
    target.mkdir(parents=True, exist_ok=True)
    if needs_libraries(wheel):
        dated["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        command = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", target, wheel]
        subprocess.run(command, cwd=source.parent, env=dated, check=True)
    else:
        shutil.copy(wheel, target)
    (wheel,) = target.glob("chatiere-*.whl")
    normalise_wheel(wheel)
    return wheel


def needs_libraries(wheel: Path) -> bool:
    """Return True if a wheel is linked with libnghttp2. The library is not available on every machine."""
    return any(name.startswith("chatiere/http2/server.") and name.endswith(".so") for name in names_in(wheel))


def names_in(wheel: Path) -> list[str]:
    """Return the names of the files in a wheel."""
    with zipfile.ZipFile(wheel) as opened:
        return opened.namelist()


def normalise_wheel(wheel: Path) -> None:
    """Rewrite and compress a wheel. RECORD is the last file, all files have the same time, and modes omit the umask."""
    with zipfile.ZipFile(wheel) as given:
        files = {name: given.read(name) for name in given.namelist() if not name.endswith("/")}
    (record,) = (name for name in files if name.endswith(".dist-info/RECORD"))
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(sorted(csv.reader(io.StringIO(files.pop(record).decode()))))
    files = dict(sorted(files.items())) | {record: lines.getvalue().encode()}
    time = datetime.fromtimestamp(epoch(), UTC).timetuple()[:6]
    # Zopfli takes a minute, and saves 4 % of a download compared with zlib. More iterations save little.
    with zopfli.ZipFile(wheel, "w", iterations=1) as made:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, time)
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(".gz") else zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if ".so" in Path(name).suffixes else 0o100644) << 16
            made.writestr(entry, content)


def write_bill(wheel: Path) -> None:
    """Write a bill of materials next to a wheel: the wheel, and the releases that the image installs with it."""
    tool = (sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements", CONSTRAINTS, "--output-reproducible")
    about = ("--pyproject", ROOT / "pyproject.toml", "--output-file", wheel.with_suffix(".cdx.json"))
    subprocess.run([*tool, *about], cwd=ROOT, check=True)
