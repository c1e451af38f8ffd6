"""The statements of functions in Cython, Python and C, found by their tokens. This is sufficient to change them."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""\"\"\"[\s\S]*?\"\"\"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|/\*[\s\S]*?\*/|\#[^\n]*|[A-Za-z_]\w*|\d\w*"""
    r"""|<[\w ]*\w(?:\ ?\*+)?>|->|&&|\|\||\+\+|--|[-+*/%&|^]=|<<|>>|//|\*\*|[<>=!]=|\.\.\.|\s+|."""
)
_FUNCTION = re.compile(r"(?:async )?(?:c?p?def) [^=(]*?(\w+)\(")
_C_FUNCTION = re.compile(r"\w[^=;]*?(\w+)\(")
# A line of C that is a statement, or the beginning of a statement up to its body.
_C_WHOLE = re.compile(r".*[;{}]$|(\} )?(else )?(if|while|for|switch)\b|(\} )?else$|do$|(case\b.*|default|\w+):$")
OPENING, CLOSING = "([{", ")]}"


def tokens(statement: str) -> list[str]:
    """Split a statement into tokens. A cast of Cython is one token."""
    return _TOKEN.findall(statement)


def _depth(line: str, opening: str, closing: str) -> int:
    return sum((token in opening) - (token in closing) for token in tokens(line) if len(token) == 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def cython_statements(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the statements of functions and methods as first line, function and statement, without docstrings."""
    function: re.Match[str] | None = None
    indent = 0
    lines: list[str] = []
    depth = 0
    in_docstring = False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if in_docstring or bare.startswith('"""'):
            in_docstring ^= bare.count('"""') == 1
        elif lines or (bare and not bare.startswith("#")):
            lines.append(line)
            depth += _depth(line, OPENING, CLOSING)
            if depth == 0:
                if function and _indent(lines[0]) <= indent:
                    function = None
                if found := _FUNCTION.match(lines[0].strip()):
                    function, indent = found, _indent(lines[0])
                elif function:
                    yield number - len(lines) + 1, function[1], "\n".join(lines).strip()
                lines = []


def c_statements(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the statements of C functions as first line, function and statement, formatted by clang-format."""
    function: re.Match[str] | None = None
    lines: list[str] = []
    depth = 0
    in_comment = in_macro = False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if in_comment or bare.startswith("/*"):
            in_comment = "*/" not in bare
        elif in_macro or line.startswith("#"):
            in_macro = line.endswith("\\")
        elif bare:
            lines.append(line)
            # Braces do not count, because they contain statements.
            depth += _depth(line, "([", ")]")
            if depth == 0 and (_C_WHOLE.match(bare) or not lines[0][0].isspace()):
                if not lines[0][0].isspace():
                    function = _C_FUNCTION.match(lines[0]) if bare.endswith("{") else None
                elif function:
                    yield number - len(lines) + 1, function[1], "\n".join(lines).strip()
                lines = []
