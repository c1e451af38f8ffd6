"""The map of modules as Markdown: each module with the first sentence of its own docstring or comment."""

import ast
import re
from collections import defaultdict
from pathlib import Path

_ROOT = Path(__file__).parents[2]
ROOTS = ("engine", "http2", "service", "clients", "proto")
"""The folders that contain a folder `chatiere`, with parts of the package."""
# Sources by suffix. A .pxd or .c file has the description of the file with the same name that is earlier in the list.
_SUFFIXES = (".py", ".pyx", ".h", ".pxd", ".c", ".js")
_GENERATED = re.compile(r"_pb2(_grpc)?\.py$|/fields/|/(fields|words)\.js$")


def modules(root: Path) -> dict[Path, str]:
    """Map each module below a folder to its first sentence. A package has the first sentence of its `__init__.py`."""
    found: dict[Path, str] = {}
    described = set()
    for suffix in _SUFFIXES:
        for path in sorted(root.rglob(f"*{suffix}")):
            if "node_modules" in path.parts or _GENERATED.search(path.as_posix()) or path.with_suffix("") in described:
                continue
            described.add(path.with_suffix(""))
            found[path] = first_sentence(path)
    return found


def first_sentence(path: Path) -> str:
    """Return the first sentence of a module's docstring or comment in one line, or "" if the module has neither."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        comment = ast.get_docstring(ast.parse(text)) or ""
    elif path.suffix == ".pyx":
        comment = _matched(r'\s*"""(.*?)"""', text)
    elif path.suffix == ".pxd":
        comment = re.sub(r"(?m)^# ?", "", _matched(r"((?:#.*\n)+)", text))
    else:
        lines = _matched(r"((?://.*\n)+)", text) or _matched(r"\s*/\*\*?(.*?)\*/", text)
        comment = re.sub(r"(?m)^\s*(//|\*) ?", "", lines)
    paragraph = re.sub(r"\s+", " ", comment.strip().partition("\n\n")[0])
    return _matched(r"(.*?\.(?= [A-Z`]|$))", paragraph) or paragraph


def write(file: Path) -> None:
    """Write the page of all modules."""
    folders: defaultdict[Path, list[str]] = defaultdict(list)
    about: dict[Path, str] = {}
    for folder in (*(_ROOT / root / "chatiere" for root in ROOTS), _ROOT / "web"):
        for path, sentence in modules(folder).items():
            if path.name == "__init__.py":
                about[path.parent] = sentence
            else:
                folders[path.parent].append(f"- `{path.name}`: {sentence}")
    lines = ["# Modules", "Every module of the package, with the first sentence of its own docstring or comment."]
    for folder in sorted(folders.keys() | about.keys()):
        lines += ["", f"## `{folder.relative_to(_ROOT)}`", about.get(folder, ""), "", *sorted(folders[folder])]
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join([*lines, ""]), "utf-8")


def _matched(pattern: str, text: str) -> str:
    found = re.match(pattern, text, re.DOTALL if '"""' in pattern or r"/\*" in pattern else 0)
    return found[1] if found else ""


if __name__ == "__main__":
    write(Path(__file__).parent / "generated" / "modules.md")
