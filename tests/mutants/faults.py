"""The faults that may be planted in a Cython file: small changes of one statement within a function.

No mutation library reads Cython. Statements are analysed by their tokens, which is enough: a fault that makes invalid
Cython does not compile, and does not count.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

_TOKEN = re.compile(
    r"""\"\"\"[\s\S]*?\"\"\"|"[^"\n]*"|'[^'\n]*'|\#[^\n]*|[A-Za-z_]\w*|\d\w*"""
    r"""|<[\w ]*\w(?:\ ?\*+)?>|[-+*/%&|^]=|<<|>>|//|\*\*|[<>=!]=|\.\.\.|\s+|."""
)
_FUNCTION = re.compile(r"(?:c?p?def) [^=(]*?(\w+)\(")
# Left alone: mere declarations, lines that only the debug build runs, and lines with a reason for not running.
_LEFT_ALONE = re.compile(r"cdef (?!.* = )|pass\b|debug_assert\b|.*# uncovered: ")
# Words before a parenthesis that are not calls.
_WORDS = {"if", "elif", "while", "and", "or", "not", "in", "return", "else"}
_OPENING, _CLOSING = "([{", ")]}"
_OTHER = {
    "==": "!=",
    "!=": "==",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "and": "or",
    "or": "and",
    "+": "-",
    "-": "+",
    "*": "+",
    "//": "*",
    "/": "*",
    "%": "+",
    "<<": ">>",
    ">>": "<<",
    "&": "|",
    "|": "&",
    "^": "|",
    "+=": "-=",
    "-=": "+=",
    "|=": "&=",
    "&=": "|=",
    "^=": "|=",
    "min": "max",
    "max": "min",
    "True": "False",
    "False": "True",
}


@dataclass(frozen=True, order=True)
class Fault:
    """A statement of a file, and its replacement."""

    file: str
    line: int
    function: str
    before: str
    after: str

    def __str__(self) -> str:
        """Return the place and the change."""
        return f"{self.file}:{self.line} in {self.function}: {flat(self.before)} → {flat(self.after)}"

    @property
    def key(self) -> tuple[str, str, str, str]:
        """A key that survives changes around the fault."""
        return self.file, self.function, flat(self.before), flat(self.after)

    def plant(self, text: str) -> str:
        """Return the file's text with the fault in it."""
        lines = text.split("\n")
        first = self.line - 1
        last = first + self.before.count("\n")
        assert "\n".join(lines[first : last + 1]).strip() == self.before
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        # The lines after it keep their numbers.
        return "\n".join(
            [*lines[:first], indent + self.after, *[""] * (last - first - self.after.count("\n")), *lines[last + 1 :]]
        )


def flat(text: str) -> str:
    """Join text to one line."""
    return " ".join(text.split())


def tokens(statement: str) -> list[str]:
    """Split a statement into tokens; a cast is one token."""
    return _TOKEN.findall(statement)


def statements(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the statements of a file's functions: first line, function, statement. Without docstrings."""
    function: re.Match[str] | None = None
    lines: list[str] = []
    depth = 0
    in_docstring = False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if in_docstring or bare.startswith('"""'):
            in_docstring ^= bare.count('"""') == 1
        elif lines or (bare and not bare.startswith("#")):
            lines.append(line)
            depth += sum((token in _OPENING) - (token in _CLOSING) for token in tokens(line) if len(token) == 1)
            if depth == 0:
                if not lines[0][0].isspace():
                    function = _FUNCTION.match(lines[0])
                elif function:
                    yield number - len(lines) + 1, function[1], "\n".join(lines).strip()
                lines = []


def _pieces_changed(pieces: list[str], index: int, count: int, new: str) -> str:
    return "".join([*pieces[:index], new, *pieces[index + count :]])


def _other_tokens(pieces: list[str]) -> Iterator[str]:
    for index, piece in enumerate(pieces):
        if piece in _OTHER:
            # With a space on one side only, it is a sign, an address or a pointer.
            around = pieces[index - 1 : index] + pieces[index + 1 : index + 2]
            if piece.isalpha() or (len(around) == 2 and all(space.isspace() for space in around)):
                yield _pieces_changed(pieces, index, 1, _OTHER[piece])
        elif piece == "not":
            yield _pieces_changed(pieces, index, 2, "")
        elif piece.isdigit():
            yield _pieces_changed(pieces, index, 1, str(int(piece) + 1))
            if int(piece):
                yield _pieces_changed(pieces, index, 1, str(int(piece) - 1))


def _closing(pieces: list[str], opening: int) -> int:
    depth = 0
    for index in range(opening, len(pieces)):
        depth += (pieces[index] in _OPENING) - (pieces[index] in _CLOSING)
        if depth == 0:
            return index
    raise ValueError("brackets that do not close")


def _swapped_arguments(pieces: list[str]) -> Iterator[str]:
    for index, (piece, following) in enumerate(pairwise(pieces)):
        if following != "(" or not piece.isidentifier() or piece in _WORDS:
            continue
        end = _closing(pieces, index + 1)
        commas = []
        depth = 0
        for place in range(index + 2, end):
            depth += (pieces[place] in _OPENING) - (pieces[place] in _CLOSING)
            if pieces[place] == "," and depth == 0:
                commas.append(place)
        edges = [index + 1, *commas, end]
        for start, middle, stop in zip(edges, edges[1:], edges[2:], strict=False):
            one, two = "".join(pieces[start + 1 : middle]).strip(), "".join(pieces[middle + 1 : stop]).strip()
            if one != two and two:
                space = " " if start > index + 1 else ""
                yield _pieces_changed(pieces, start + 1, stop - start - 1, f"{space}{two}, {one}")


def _conditions(statement: str) -> Iterator[str]:
    if found := re.match(r"(if|elif|while) (.*):(\s*#.*)?$", statement, re.DOTALL):
        yield f"{found[1]} not ({found[2]}):"


def changes(statement: str) -> list[str]:
    """Return every fault that a statement may have."""
    if _LEFT_ALONE.match(statement):
        return []
    pieces = tokens(statement)
    found = {*_other_tokens(pieces), *_swapped_arguments(pieces), *_conditions(statement)}
    if not re.match(r"cdef |return |(if|elif|else|while|for)\b", statement):
        found.add("pass")
    return sorted(found - {statement})


def faults_in(path: Path, root: Path) -> list[list[Fault]]:
    """Return all faults of a file, statement by statement."""
    name = str(path.relative_to(root))
    return [
        [Fault(name, line, function, statement, change) for change in listed]
        for line, function, statement in statements(path.read_text(encoding="utf-8"))
        if (listed := changes(statement))
    ]
