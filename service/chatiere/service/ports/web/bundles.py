"""Bundles: files that contain all modules that the start page loads. The service makes them when it starts.

The page's modules are small, and a request for each of them would take many round trips. In a bundle, each module is a
function that runs once and returns the module's exports. Other modules import these exports from the bundle. The file
at the path of a bundled module exports them again.

The functions of this module expect statements that Prettier has formatted, and imports without cycles.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping

MAIN = "main.js"
"""The bundle that the page loads first. Its last module is the module of the same name."""

COMMON = "common.js"
"""The bundle of the modules that both the page and records in frames use."""

# The modules that the start page loads, in the order in which they run, and the modules that a frame loads.
_FIRST = ("pages/lobby.js", "offline.js", MAIN)
_FRAME = re.compile(r"embed/embed\.js|games/\w+/game\.js")

_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{([^}]*)\}) from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
# The path, or its constant beginning, in `import("./x.js")` or import(`./${x}.js`).
_LATER = re.compile(r'\bimport\((["`])(\.[^"`$]*)("\))?')

# The name of a property at the beginning of a line.
_DECLARED = re.compile(r"^([\w-]+): ")


def bundled(modules: Mapping[str, str]) -> dict[str, str]:
    """Return the modules and the bundles by path. If a module of `_FIRST` is missing, return the modules unchanged."""
    if not modules.keys() >= set(_FIRST):
        return dict(modules)
    first, frame = _closure(modules, _FIRST), set(_closure(modules, filter(_FRAME.fullmatch, modules)))
    place = {path: COMMON if path in frame else MAIN for path in first}
    made = {path: _importing(path, text, place) for path, text in modules.items() if path not in place}
    names = [_name(path) for path in first if place[path] == COMMON]
    heads = {COMMON: "", MAIN: f'import {{ {", ".join(names)} }} from "./{COMMON}";\n'}
    for bundle, head in heads.items():
        own = [path for path in first if place[path] == bundle]
        passed = f"export {{ {', '.join(map(_name, own))} }};\n"
        made[bundle] = head + "".join(_function(path, modules[path], place) for path in own) + passed
    for path in first[:-1]:
        source = posixpath.relpath(place[path], posixpath.dirname(path) or ".")
        exports = ", ".join(_EXPORT.findall(modules[path]))
        name = _name(path)
        made[path] = f'import {{ {name} }} from "{_dotted(source)}";\nexport const {{ {exports} }} = {name};\n'
    return made


def short_style(text: str) -> str:
    """Return a style sheet without indentation, empty lines, and unnecessary line breaks and spaces."""
    lines = (_DECLARED.sub(r"\1:", line.strip()) for line in text.splitlines())
    return "".join(line if line.endswith((",", ";", "{", "}")) else f"{line}\n" for line in lines if line)


def _short_script(text: str) -> str:
    """Return a script without indentation and empty lines. Its strings must not contain line breaks."""
    return "".join(f"{line.strip()}\n" for line in text.splitlines() if line.strip())


def _closure(modules: Mapping[str, str], roots: Iterable[str]) -> list[str]:
    """Return the paths of modules and their direct and indirect imports. Imported modules come first."""
    found: dict[str, None] = {}

    def add(path: str) -> None:
        # Skip a missing module, because browsers report it.
        if path not in found and path in modules:
            for *_, source in _IMPORT.findall(modules[path]):
                add(_resolved(path, source))
            found[path] = None

    for root in roots:
        add(root)
    return list(found)


def _function(path: str, text: str, place: Mapping[str, str]) -> str:
    """Return a module as a constant of its bundle."""

    def later(found: re.Match[str]) -> str:
        quote, source, end = found.groups(default="")
        target = _resolved(path, source)
        if (bundle := place.get(target)) is not None:
            return f'import("./{bundle}").then((all) => all.{_name(target)})'
        return f"import({quote}./{target}{'/' if source.endswith('/') else ''}{end}"

    def taken(found: re.Match[str]) -> str:
        return _taking(path, found)

    text = _LATER.sub(later, _IMPORT.sub(taken, text))
    exports = ", ".join(_EXPORT.findall(text))
    lines = _short_script(_EXPORT.sub("", text))
    return f"const {_name(path)} = (() => {{\n{lines}return {{ {exports} }};\n}})();\n"


def _importing(path: str, text: str, place: Mapping[str, str]) -> str:
    """Return a module that imports bundled modules from their bundles. Line numbers do not change."""

    def imported(found: re.Match[str]) -> str:
        target = _resolved(path, found[3])
        if (bundle := place.get(target)) is None:
            return found[0]
        source = _dotted(posixpath.relpath(bundle, posixpath.dirname(path) or "."))
        lines = "\n" * found[0].count("\n")
        return f'import {{ {_name(target)} }} from "{source}"; {_taking(path, found)}{lines}'

    return _IMPORT.sub(imported, text)


def _taking(path: str, found: re.Match[str]) -> str:
    """Return the statement that takes the imported names from a module's exports."""
    whole, names, source = found.groups()
    exports = whole or "{" + " ".join(names.split()).replace(" as ", ": ") + "}"
    return f"const {exports} = {_name(_resolved(path, source))};"


def _resolved(path: str, source: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), source))


def _dotted(source: str) -> str:
    return source if source.startswith(".") else f"./{source}"


def _name(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))
