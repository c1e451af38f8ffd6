"""Make a release: `make release VERSION=1.0.0`, in a clean clone.

The command writes the new version into all files that contain the version, adds its heading to CHANGELOG.md, and
rebuilds the API's image. It writes the sdist, the wheel, the wheel's bill of materials, the npm tarball and their
checksums (SHA256SUMS) to dist/. Then it commits and tags all changes. The commit, the tag and the packages have the
time of the last commit, so that two runs from the same commit give the same result. The packages are not uploaded.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from release import npm
from release.packages import ROOT, build_sdist, build_wheel, epoch, take_generated_c, unpack, write_bill

DIST = ROOT / "dist"
CHANGELOG = ROOT / "CHANGELOG.md"
IMAGE = "proto/image/v1.binpb"
SUMS = "SHA256SUMS"
# The files that contain the version, each with a pattern whose group is the version.
PLACES = {
    "pyproject.toml": r'^version = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "clients/typescript/package.json": r'^  "version": "(.+)",$',
    "clients/typescript/package-lock.json": r'"name": "@chatiere/client",\s+"version": "(.+)",$',
    "clients/typescript/README.md": r"chatiere-client-(.+?)\.tgz",
    "deploy/Dockerfile": r'image\.version="(.+)"',
    "deploy/kubernetes/base/kustomization.yaml": r"^ +newTag: (.+)$",
}


class ReleaseError(Exception):
    """The release cannot be made. The message states the reason."""


def git(*arguments: str, **environment: str) -> str:
    """Run git in the repository, and return its output."""
    command = ("git", *arguments)
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()


def check(version: str) -> None:
    """Raise ReleaseError if the release cannot be made."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ReleaseError(f"{version!r} is not a version: give one, such as make release VERSION=1.0.0")
    if git("tag", "--list", f"v{version}"):
        raise ReleaseError(f"v{version} is already released: the tag exists")
    if changed := git("status", "--porcelain"):
        raise ReleaseError(f"the repository has changes that are not committed:\n{changed}")
    if shutil.which("npm") is None:
        raise ReleaseError("npm is not installed, but is needed to pack @chatiere/client")


def with_version(text: str, pattern: str, version: str) -> str:
    """Replace each version that `pattern` finds in a string. Raises ReleaseError if `pattern` finds no version."""

    def replaced(found: re.Match[str]) -> str:
        return found[0].replace(found[1], version)

    changed, count = re.subn(pattern, replaced, text, flags=re.MULTILINE)
    if count == 0:
        raise ReleaseError(f"no version is found by the pattern {pattern}")
    return changed


def with_heading(changelog: str, version: str, date: str) -> str:
    """Return a changelog with a new version's heading above the unreleased changes, as Keep a Changelog describes."""
    if not re.search(r"^## Unreleased\n+(?!## )[^\n]", changelog, re.MULTILINE):
        raise ReleaseError("CHANGELOG.md has nothing under 'Unreleased'")
    return changelog.replace("## Unreleased\n", f"## Unreleased\n\n## {version} - {date}\n", 1)


def build() -> None:
    """Build the published packages into dist/, with checksums in the format of sha256sum."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        for name in ("source", "modules", "npm"):
            (work / name).mkdir()
        source = unpack(build_sdist(ROOT, DIST), work / "source")
        take_generated_c(source)
        write_bill(build_wheel(source, DIST))
        shutil.copy(npm.pack(work / "npm", npm.install(work / "modules")), DIST)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(DIST.iterdir())]
    (DIST / SUMS).write_text("".join(sums), "utf-8")


def commit(version: str) -> None:
    """Commit the changed files and tag the commit. Both have the time of the packages."""
    dated = {name: f"@{epoch()} +0000" for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")}
    git("commit", "--quiet", "--message", f"Release {version}", *PLACES, CHANGELOG.name, IMAGE, **dated)
    git("tag", "--annotate", "--message", f"Chatière {version}", f"v{version}", **dated)


def main(version: str) -> None:
    """Run all steps. Stop at the first step that fails."""
    check(version)
    # Use the time of the last commit. The release's own commit has the same date.
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch())
    # Do this first: after a change to pyproject.toml, make would build the package again.
    subprocess.run(("make", "image"), cwd=ROOT, check=True)
    for name, pattern in PLACES.items():
        path = ROOT / name
        path.write_text(with_version(path.read_text("utf-8"), pattern, version), "utf-8")
    date = datetime.fromtimestamp(epoch(), UTC).date().isoformat()
    CHANGELOG.write_text(with_heading(CHANGELOG.read_text("utf-8"), version, date), "utf-8")
    build()
    commit(version)
    print((DIST / SUMS).read_text("utf-8"), end="")
    print(f"v{version} is tagged and dist/ is built; nothing was uploaded")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "")
    except ReleaseError as error:
        sys.exit(f"make release: {error}")
