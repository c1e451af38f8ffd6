"""The faults that `make mutants` plants, and the explanations of faults that no test detects."""

import sys
from pathlib import Path

import pytest

from . import trial
from .__main__ import Verdicts, explanations
from .faults import changes, faults_in
from .parts import ROOT, parts
from .trial import COMPILER, detecting

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
def test_faults_of_a_statement(statement: str, expected: list[str]) -> None:
    assert set(expected) <= set(changes(statement))
    assert bool(expected) == bool(changes(statement))


def test_faults_are_planted_in_functions_and_keep_the_numbers_of_other_lines(tmp_path: Path) -> None:
    path = tmp_path / "kernel.pyx"
    path.write_text(SOURCE)
    faults = [fault for listed in faults_in(path, tmp_path) for fault in listed]
    assert {(fault.line, fault.function) for fault in faults} == {(9, "first"), (13, "first")}
    for fault in faults:
        planted = fault.plant(SOURCE)
        assert planted != SOURCE
        assert len(planted.splitlines()) == len(SOURCE.splitlines())
        assert planted.splitlines()[13:] == SOURCE.splitlines()[13:]


C_SOURCE = """#include "a.h"
#define TWICE(a) \\
    ((a) + (a))

/* A comment with a < b;
   and more. */
static int first(const stream *stream,
                 int seat) {
    int size = 0;
    if (!stream->is_ready && seat < 5)
        clear(stream, seat);
    return size;
}
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("if (a == 0) {", ["if (a != 0) {", "if (a == 1) {", "if (!(a == 0)) {"]),
        ("} else if (a && !b)", ["} else if (a || !b)", "} else if (a && b)", "} else if (!(a && !b))"]),
        ("free(a->first, b);", ["free(b, a->first);", ";"]),
        ("a->size++;", [";"]),
        ("stream *next;", []),
        ("return NULL;", []),
    ],
)
def test_faults_of_a_statement_in_c(statement: str, expected: list[str]) -> None:
    assert set(changes(statement, is_c=True)) == set(expected)


def test_faults_are_planted_in_functions_of_c(tmp_path: Path) -> None:
    path = tmp_path / "kernel.c"
    path.write_text(C_SOURCE)
    faults = [fault for listed in faults_in(path, tmp_path) for fault in listed]
    assert {(fault.line, fault.function) for fault in faults} == {(9, "first"), (10, "first"), (11, "first")}
    for fault in faults:
        planted = fault.plant(C_SOURCE)
        assert planted != C_SOURCE
        assert planted.splitlines()[11:] == C_SOURCE.splitlines()[11:]


def test_faults_are_planted_in_methods(tmp_path: Path) -> None:
    path = tmp_path / "limits.py"
    path.write_text("class Limits:\n    MOST = 1\n\n    def end(self) -> None:\n        self.n -= 1\n\n    LEAST = 0\n")
    faults = [fault for listed in faults_in(path, tmp_path) for fault in listed]
    assert {(fault.line, fault.function) for fault in faults} == {(5, "end")}


def test_every_source_is_in_one_part_and_all_tests_exist() -> None:
    sources = [path for part in parts().values() for path in part.sources]
    assert len(sources) == len(set(sources))
    assert all(part.faults() for part in parts().values())
    assert all((ROOT / test).exists() for part in parts().values() for test in (*part.quick, *part.others))


def test_verdicts_are_stored_immediately(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    (first, *_), (second, *_), *_ = parts()["tables"].faults()
    Verdicts(path).add(first, "tests/a.py::test_a")
    Verdicts(path).add(second, None)
    again = Verdicts(path)
    assert again.of(first, None) == ("seen", "tests/a.py::test_a")
    assert again.of(second, None)[0] == "SURVIVED"
    again.forget(second)
    assert first in again
    assert second not in again


def test_a_fault_whose_test_no_longer_exists_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    here = str(Path(__file__).relative_to(ROOT))
    by = [
        f"{here}::test_faults_of_a_statement[debug_assert(a == b)-expected6]",
        here,
        COMPILER,
        None,
        f"{here}::test_faults_of_a_statement_in_c[no statement]",
        f"{here}::test_that_is_gone[1]",
        "tests/test_gone.py::test_it",
    ]
    faults = [fault for fault, *_ in parts()["tables"].faults()[: len(by)]]
    for fault, test in zip(faults, by, strict=True):
        Verdicts(path).add(fault, test)
    verdicts = Verdicts(path)
    verdicts.forget_gone()
    assert [fault in verdicts for fault in faults] == [True] * 4 + [False] * 3


def test_explained_faults_can_be_planted() -> None:
    keys = {fault.key for part in parts().values() for listed in part.faults() for fault in listed}
    explained = explanations()
    assert set(explained) <= keys
    assert all(explanation.why for explanation in explained.values())


def test_the_tests_of_the_file_with_the_fault_run_first() -> None:
    quick, others, release_only = parts()["guards"].runs("service/chatiere/service/guards/idle.py")
    files = [argument for argument in others if argument.endswith(".py")]
    assert files[0] == "tests/service/test_service_idle_streams.py"
    assert "tests/service/fast_door/test_fast_door_calls.py" in files
    assert not set(files) & set(quick)
    assert set(files) < set(release_only)


def test_a_detecting_test_is_named_with_its_parameters() -> None:
    output = "tests/a.py::test_a[x 1] PASSED   [ 3%]\ntests/a.py::test_b[x 2] Fatal Python error: Aborted\n"
    assert detecting(output) == "tests/a.py::test_b[x 2]"
    assert detecting(f"{output}FAILED tests/a.py::test_a[x 1] - assert [1] == [2]") == "tests/a.py::test_a[x 1]"
    assert detecting("ERROR tests/a.py - ImportError: [x]") == "tests/a.py"
    assert detecting("Fatal Python error") is None


def test_a_run_that_does_not_end_after_a_failure_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(trial, "SECONDS_TO_END", 0.1)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_endless.py").write_text(
        "import threading\n"
        "import pytest\n"
        "@pytest.fixture(scope='module')\n"
        "def endless():\n"
        "    yield\n"
        "    threading.Event().wait()\n"
        "def test_it(endless):\n"
        "    assert False\n"
    )
    pytest_run = [sys.executable, "-m", "pytest", "-v", "-x", "-p", "no:xdist", "tests"]
    code, output = trial._run(pytest_run, tmp_path)
    assert code < 0
    assert detecting(output) == "tests/test_endless.py::test_it"
