"""Report which lines of engine and search the debug build's tests ran: `make coverage`.

The debug build counts the executed lines of C (gcc's --coverage). Cython's comments in the C code give the source file
and line. Tests with several threads have separate counts, in build/debug/threads. A line that never ran needs a reason
at its end (`# uncovered: reason`). The report fails if a line that did not run has no reason, or if a line with a
reason ran.
"""

import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

# The modules whose counts are exact with several threads (THREADED in setup.py).
THREADED = ("batch", "parts", "threads")
# The code that tests have to run: all compiled parts except those that use libnghttp2.
COUNTED = ("chatiere/engine/", "chatiere/bots/")
# The folders of their object files have the modules' names.
MODULES = ("chatiere.engine.", "chatiere.bots.")
MARK = "# uncovered: "
ORIGIN = re.compile(r'^ *(?:/\* )?"(.+\.p(?:yx|xd))":(\d+)$')


def origins(source: Path) -> dict[int, tuple[str, int]]:
    """Return the file and line from which Cython generated each line of a C file."""
    made_of = {}
    origin = None
    for number, text in enumerate(source.read_text().splitlines(), 1):
        if found := ORIGIN.match(text):
            origin = (found[1], int(found[2]))
        elif text == "}":
            origin = None
        if origin:
            made_of[number] = origin
    return made_of


def counts(build: Path) -> dict[str, dict[int, int]]:
    """Return how often each line ran, by file (chatiere/…) and line number."""
    ran: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    apart = (build / "threads").absolute()
    for data in sorted(build.absolute().rglob("*.gcda")):
        if not any(part.startswith(MODULES) for part in data.parts):
            continue
        if data.is_relative_to(apart):
            if data.stem not in THREADED:
                continue
            # gcov searches for the notes of a file next to the counts.
            shutil.copy(Path("/", data.relative_to(apart)).with_suffix(".gcno"), data.parent)
        gcov = ["gcov", "--json-format", "--stdout", "--object-directory", str(data.parent), str(data)]
        report = json.loads(subprocess.run(gcov, capture_output=True, check=True).stdout)
        for file in report["files"]:
            if not file["file"].endswith(".c"):
                continue
            made_of = origins(Path(file["file"]))
            for line in file["lines"]:
                name, number = made_of.get(line["line_number"], ("", 0))
                if name.startswith(COUNTED):
                    ran[name][number] += line["count"]
    return ran


def main(build: Path) -> int:
    """Print the table. Return 1 if a line that did not run has no reason, or if a line with a reason ran."""
    failed = False
    ran = counts(build)
    if not ran:
        print(f"no coverage data under {build}: run the tests in the debug build first")
        return 1
    for name, lines in sorted(ran.items()):
        source = Path("engine", name).read_text().splitlines()
        missed = [number for number, count in sorted(lines.items()) if count == 0]
        print(f"{name:<50} {len(lines):>5} lines {100 * (1 - len(missed) / len(lines)):6.1f} %")
        for number in missed:
            text = source[number - 1]
            explained = MARK in text
            failed |= not explained
            print(f"    {number:>4}{' ' if explained else '!'} {text.strip()}")
        for number, text in enumerate(source, 1):
            if MARK in text and lines.get(number):
                failed = True
                print(f"    {number:>4}! has a reason, but ran: {text.strip()}")
    if failed:
        print(f"lines marked ! need a test or a reason ({MARK}reason)")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
