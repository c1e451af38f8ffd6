"""The faults that `make mutants` plants, and the explanations of those that nobody can see."""

from pathlib import Path

import pytest

from .__main__ import ROOMS, all_faults, explanations
from .faults import changes, faults_in

SOURCE = """# A comment.
cdef enum:
    SIZE = 5

cdef inline int first(const State* state, int seat) noexcept nogil:
    \"\"\"A docstring with a < b.\"\"\"
    cdef int other
    cdef int size = <int> state.size[seat]
    if (
        seat < SIZE
        and not other
    ):
        clear(state, seat)
    debug_assert(size == 1)
    return size
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("if a < 0:", ["if a <= 0:", "if a < 1:", "if not (a < 0):"]),
        ("return a and not b", ["return a or not b", "return a and b"]),
        ("x = f(a, b)", ["x = f(b, a)", "pass"]),
        (
            "x += <int> y << 8",
            ["x -= <int> y << 8", "x += <int> y >> 8", "x += <int> y << 7", "x += <int> y << 9", "pass"],
        ),
        ("memset(&x[1], -1, 2)", ["memset(&x[0], -1, 2)", "memset(&x[2], -1, 2)", "memset(&x[1], -0, 2)"]),
        ("cdef int a, b", []),
        ("debug_assert(a == b)", []),
        ("return GAME_IS_OVER  # uncovered: the core asks who acts first", []),
    ],
)
def test_what_becomes_of_a_statement(statement: str, expected: list[str]) -> None:
    assert set(expected) <= set(changes(statement))
    assert bool(expected) == bool(changes(statement))


def test_faults_are_planted_in_functions_and_leave_other_lines_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / "kernel.pyx"
    path.write_text(SOURCE)
    faults = [fault for listed in faults_in(path, tmp_path) for fault in listed]
    assert {(fault.line, fault.function) for fault in faults} == {(9, "first"), (13, "first")}
    for fault in faults:
        planted = fault.plant(SOURCE)
        assert planted != SOURCE
        assert len(planted.splitlines()) == len(SOURCE.splitlines())
        assert planted.splitlines()[13:] == SOURCE.splitlines()[13:]


def test_explained_faults_can_be_planted() -> None:
    keys = {fault.key for room in ROOMS for listed in all_faults(room) for fault in listed}
    explained = explanations()
    assert set(explained) <= keys
    assert all(explanation.why for explanation in explained.values())
