"""The npm package @chatiere/client."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from release.packages import ROOT, normalise_tarball

PACKAGE = ROOT / "clients/typescript"
SHARED = ROOT / "web/shared"
"""Modules of the page that the package includes."""
LEGAL = ("LICENSE", "NOTICE")
"""Files of the repository that the package includes."""
MADE = ("api", "build", "dist", "generated", "shared", "node_modules", "*.tgz", *LEGAL)
"""Files that the commands in the package's README write, and copies of LEGAL. `prepare` does not copy them."""


def run(folder: Path, *command: str, **environment: str) -> str:
    """Run a command in a folder, and return its output. Raises RuntimeError if the command fails."""
    # buf and chatiere are in the Python environment.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = os.environ | {"PATH": path} | environment
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def install(folder: Path) -> Path:
    """Install the packages named in the package's lock file into a folder. Return its node_modules."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PACKAGE / name, folder)
    run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    return folder / "node_modules"


def prepare(repository: Path, modules: Path) -> Path:
    """Copy the package, with node_modules and generated code, into a folder laid out like the repository.

    Returns:
        The folder of the copy.
    """
    folder = repository / PACKAGE.relative_to(ROOT)
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns(*MADE))
    shutil.copytree(SHARED, repository / SHARED.relative_to(ROOT))
    for name in LEGAL:
        shutil.copy(ROOT / name, repository)
    (folder / "node_modules").symlink_to(modules)
    run(folder, "chatiere", "protos", "api")
    run(folder, "npm", "run", "generate")
    return folder


def pack(repository: Path, modules: Path) -> Path:
    """Build and pack a copy of the package (see `prepare`). Return the tarball."""
    folder = prepare(repository, modules)
    run(folder, "npm", "pack")
    (packed,) = folder.glob("*.tgz")
    normalise_tarball(packed)
    return packed
