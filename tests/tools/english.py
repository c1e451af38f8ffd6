"""Check docstrings, comments and pages for the constructions that english.toml lists: make lint."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# The prose of a file, by suffix: docstrings and comments in Python and Cython, all text of Markdown except code, and
# comments elsewhere.
_HASH = re.compile(
    r'"""(?P<block>.*?)"""|(?P<lines>(?:^[ \t]*# [^\n]*\n)+)|\s# (?P<tail>[^\n]*)', re.DOTALL | re.MULTILINE
)
_SLASH = re.compile(
    r"/\*(?P<block>.*?)\*/|(?P<lines>(?:^[ \t]*// [^\n]*\n)+)|\s// (?P<tail>[^\n]*)", re.DOTALL | re.MULTILINE
)
_MARKDOWN = re.compile(r"^```.*?^```|(?P<block>(?:(?!^```).)+)", re.DOTALL | re.MULTILINE)
_FORMS = {
    **dict.fromkeys((".py", ".pyi", ".pyx", ".pxd"), _HASH),
    **dict.fromkeys((".c", ".h", ".js", ".mjs", ".proto", ".ts"), _SLASH),
    ".md": _MARKDOWN,
}
# Code and quoted text in prose, and the marks at the starts of a comment's lines.
_NOT_PROSE = re.compile(r'`[^`]*`|"[^"\n]*"|^[ \t]*(?:#|\*|//)', re.MULTILINE)


class Construction(NamedTuple):
    """A construction to avoid."""

    pattern: re.Pattern[str]
    instead: str
    allowed: list[str]
    """Patterns for the paths of the files that may contain it."""


def constructions(file: Path) -> list[Construction]:
    """Read the constructions to avoid from a file with the form of english.toml."""
    entries = tomllib.loads(file.read_text("utf-8"))["avoid"]
    return [construction(each["pattern"], each["instead"], each.get("allowed", [])) for each in entries]


def construction(pattern: str, instead: str, allowed: list[str]) -> Construction:
    """Return a construction whose words may be on several lines."""
    words = pattern.replace(" ", r"\s+")
    return Construction(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), instead, allowed)


def faults(path: str, text: str, avoid: list[Construction]) -> Iterator[str]:
    """Yield a line for each construction found in a file. `path` is relative to the repository."""
    wanted = [each for each in avoid if not any(fnmatch(path, pattern) for pattern in each.allowed)]
    for part in _FORMS[Path(path).suffix].finditer(text):
        if part.lastgroup is None:
            continue
        # The prose has the same length as the part, so that places in it are places in the file.
        prose = _NOT_PROSE.sub(lambda found: " " * len(found[0]), part[part.lastgroup])
        for each in wanted:
            for found in each.pattern.finditer(prose):
                line = text.count("\n", 0, part.start(part.lastgroup) + found.start()) + 1
                yield f"{path}:{line}: avoid '{' '.join(found[0].split())}'; usual: {each.instead}"


def main() -> int:
    """Return the number of faults in the files of the repository."""
    avoid = constructions(Path(__file__).with_name("english.toml"))
    listed = subprocess.run(
        ("git", "ls-files", "--cached", "--others", "--exclude-standard"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    paths = [path for path in listed.splitlines() if Path(path).suffix in _FORMS]
    found = [fault for path in paths for fault in faults(path, (ROOT / path).read_text("utf-8"), avoid)]
    print("\n".join(found))
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
