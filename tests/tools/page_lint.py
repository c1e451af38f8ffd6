"""Check the page in web/: types (TypeScript), format (Prettier) and the length of functions (make lint).

The checks are skipped without Node or npm. The types of the API's messages are generated into build/web-types.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .node_modules import install

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "web"
TOOLS = "tests/tools/page"
TYPES = ROOT / "build/web-types"
FORMED = ("web/**/*.js", "tests/page/**/*.mjs")


def main() -> int:
    """Return the number of checks that failed."""
    try:
        modules = install(ROOT / TOOLS)
    except pytest.skip.Exception as reason:
        print(f"the page is not checked: {reason}")
        return 0
    tools = os.pathsep.join((str(modules / ".bin"), str(Path(sys.executable).parent), os.environ["PATH"]))

    def passes(*command: str) -> bool:
        return subprocess.run(command, cwd=ROOT, env=os.environ | {"PATH": tools}).returncode == 0

    shutil.rmtree(TYPES, ignore_errors=True)
    if not passes("buf", "generate", "--template", f"{TOOLS}/buf.gen.yaml"):
        return 1
    # The generated types import these modules.
    (TYPES / "node_modules").symlink_to(modules)
    failed = 0
    for project in (TOOLS, f"{TOOLS}/tsconfig.worker.json"):
        if not passes("tsc", "--project", project):
            failed += 1
    if not passes("prettier", "--check", *FORMED, "--config", f"{TOOLS}/package.json"):
        command = f"{(modules / '.bin/prettier').relative_to(ROOT)} --config {TOOLS}/package.json --write"
        print(f"to fix it, run: {command} {' '.join(map(repr, FORMED))}", flush=True)
        failed += 1
    typescript = modules / "typescript/lib/typescript.js"
    if not passes("node", "tests/page/long_functions.mjs", str(typescript), *map(str, sorted(SOURCES.rglob("*.js")))):
        failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
