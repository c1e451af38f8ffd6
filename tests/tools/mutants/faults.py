"""The faults that can be planted in a file of Cython, Python or C: small changes to a statement in a function.

No library for mutations reads Cython. Statements are analysed only by their tokens. This is sufficient because a fault
that does not compile does not count.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from .statements import CLOSING, OPENING, c_statements, cython_statements, tokens

# Statements that are not changed: declarations, lines that only the debug build runs, and lines with `# uncovered`.
_LEFT_ALONE = re.compile(r"cdef (?!.* = )|pass\b|debug_assert\b|.*# uncovered: ")
# Words that can be before a parenthesis but are not calls.
_WORDS = {"if", "elif", "while", "and", "or", "not", "in", "return", "else", "for", "switch", "sizeof"}
# The beginnings of statements that cannot be left out.
_NEEDED = re.compile(r"cdef |return\b|(if|elif|else|while|for|with|async|try|except|finally|global|nonlocal)\b|@")
_NEEDED_IN_C = re.compile(
    r"return\b|goto\b|(\} )?(if|else|while|for|switch|do|case|default)\b|\w+:|[{}]"
    r"|(const |static |struct |unsigned )*\w+ \**\w+(\[.*\])*( = |;|, )"
)
_NAMED = re.compile(r"\w+ ?=(?!=)")
_OTHER = {
    "==": "!=",
    "!=": "==",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "and": "or",
    "or": "and",
    "&&": "||",
    "||": "&&",
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
    "true": "false",
    "false": "true",
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
        """A key that does not change if the code around the fault changes."""
        return self.file, self.function, flat(self.before), flat(self.after)

    def plant(self, text: str) -> str:
        """Return the file's text with the fault in it."""
        lines = text.split("\n")
        first = self.line - 1
        last = first + self.before.count("\n")
        assert "\n".join(lines[first : last + 1]).strip() == self.before
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        # The lines after the fault keep their numbers.
        return "\n".join(
            [*lines[:first], indent + self.after, *[""] * (last - first - self.after.count("\n")), *lines[last + 1 :]]
        )


def flat(text: str) -> str:
    """Join text to one line."""
    return " ".join(text.split())


def _pieces_changed(pieces: list[str], index: int, count: int, new: str) -> str:
    return "".join([*pieces[:index], new, *pieces[index + count :]])


def _other_tokens(pieces: list[str]) -> Iterator[str]:
    for index, piece in enumerate(pieces):
        if piece in _OTHER:
            # If there is a space on only one side, it is a sign, an address or a pointer.
            around = pieces[index - 1 : index] + pieces[index + 1 : index + 2]
            if piece.isalpha() or (len(around) == 2 and all(space.isspace() for space in around)):
                yield _pieces_changed(pieces, index, 1, _OTHER[piece])
        elif piece == "not":
            yield _pieces_changed(pieces, index, 2, "")
        elif piece == "!":
            yield _pieces_changed(pieces, index, 1, "")
        elif piece.isdigit():
            yield _pieces_changed(pieces, index, 1, str(int(piece) + 1))
            if int(piece):
                yield _pieces_changed(pieces, index, 1, str(int(piece) - 1))


def _closing(pieces: list[str], opening: int) -> int:
    depth = 0
    for index in range(opening, len(pieces)):
        depth += (pieces[index] in OPENING) - (pieces[index] in CLOSING)
        if depth == 0:
            return index
    raise ValueError("unbalanced brackets")


def _swapped_arguments(pieces: list[str]) -> Iterator[str]:
    for index, (piece, following) in enumerate(pairwise(pieces)):
        if following != "(" or not piece.isidentifier() or piece in _WORDS:
            continue
        end = _closing(pieces, index + 1)
        commas = []
        depth = 0
        for place in range(index + 2, end):
            depth += (pieces[place] in OPENING) - (pieces[place] in CLOSING)
            if pieces[place] == "," and depth == 0:
                commas.append(place)
        edges = [index + 1, *commas, end]
        for start, middle, stop in zip(edges, edges[1:], edges[2:], strict=False):
            one, two = "".join(pieces[start + 1 : middle]).strip(), "".join(pieces[middle + 1 : stop]).strip()
            # The order of named arguments has no meaning.
            if one != two and two and not _NAMED.match(two):
                space = " " if start > index + 1 else ""
                yield _pieces_changed(pieces, start + 1, stop - start - 1, f"{space}{two}, {one}")


def _conditions(statement: str) -> Iterator[str]:
    if found := re.match(r"(if|elif|while) (.*):(\s*#.*)?$", statement, re.DOTALL):
        yield f"{found[1]} not ({found[2]}):"


def _conditions_in_c(statement: str) -> Iterator[str]:
    # Only if the line contains no other statement.
    if found := re.match(r"((?:\} )?(?:else )?(?:if|while)) \((.*)\)( \{|;)?$", statement, re.DOTALL):
        yield f"{found[1]} (!({found[2]})){found[3] or ''}"


def changes(statement: str, is_c: bool = False) -> list[str]:
    """Return every fault that a statement can have."""
    if _LEFT_ALONE.match(statement):
        return []
    pieces = tokens(statement)
    conditions = _conditions_in_c(statement) if is_c else _conditions(statement)
    found = {*_other_tokens(pieces), *_swapped_arguments(pieces), *conditions}
    if not (_NEEDED_IN_C if is_c else _NEEDED).match(statement):
        found.add(";" if is_c else "pass")
    return sorted(found - {statement})


def faults_in(path: Path, root: Path) -> list[list[Fault]]:
    """Return all faults of a file, statement by statement."""
    name = str(path.relative_to(root))
    is_c = path.suffix == ".c"
    listed = (c_statements if is_c else cython_statements)(path.read_text(encoding="utf-8"))
    return [
        [Fault(name, line, function, statement, change) for change in found]
        for line, function, statement in listed
        if (found := changes(statement, is_c))
    ]
