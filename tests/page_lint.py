"""Check the types (TypeScript), the form (Prettier) and the length of functions of the page in web/: make lint.

Without Node or npm this is left out. The types of the API's messages are generated into build/web-types.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from node_modules import install

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "web/chatiere/web"
TYPES = ROOT / "build/web-types"
FORMED = ("web/chatiere/web/**/*.js", "tests/page/**/*.mjs")


def main() -> int:
    """Return the number of checks that failed."""
    try:
        modules = install(ROOT / "web")
    except pytest.skip.Exception as reason:
        print(f"the page is not checked: {reason}")
        return 0
    tools = os.pathsep.join((str(modules / ".bin"), str(Path(sys.executable).parent), os.environ["PATH"]))

    def passes(*command: str) -> bool:
        return subprocess.run(command, cwd=ROOT, env=os.environ | {"PATH": tools}).returncode == 0

    shutil.rmtree(TYPES, ignore_errors=True)
    if not passes("buf", "generate", "--template", "web/buf.gen.yaml"):
        return 1
    # What the generated types import.
    (TYPES / "node_modules").symlink_to(modules)
    failed = 0
    for project in ("web", "web/tsconfig.worker.json"):
        if not passes("tsc", "--project", project):
            failed += 1
    if not passes("prettier", "--check", *FORMED, "--config", "web/package.json"):
        command = f"{(modules / '.bin/prettier').relative_to(ROOT)} --config web/package.json --write"
        print(f"to mend it: {command} {' '.join(map(repr, FORMED))}", flush=True)
        failed += 1
    typescript = modules / "typescript/lib/typescript.js"
    if not passes("node", "tests/page/long_functions.mjs", str(typescript), *map(str, sorted(SOURCES.rglob("*.js")))):
        failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
