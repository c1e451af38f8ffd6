"""The build recompiles a module when its compiler flags change, and only then."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from setuptools import Distribution, Extension
from tools.needs import needs

pytestmark = needs("gcc")

SETUP = Path(__file__).parents[2] / "setup.py"
MODULE = """\
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "empty"};
PyMODINIT_FUNC PyInit_empty(void) { return PyModule_Create(&module); }
"""


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return the module `setup.py`, loaded in a folder with the source of one extension."""
    spec = spec_from_file_location("setup_py", SETUP)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CFLAGS", raising=False)
    Path("empty.c").write_text(MODULE)
    return module


def is_compiled(build: Any, *flags: str) -> bool:
    """Build the extension with these flags, as an editable install does. Return whether it was compiled."""
    before = {each: each.stat().st_mtime_ns for each in Path("build").rglob("*.so")}
    extension = Extension("empty", ["empty.c"], extra_compile_args=list(flags))
    command = build.BuildExtensions(Distribution({"name": "empty", "ext_modules": [extension]}))
    command.editable_mode = True
    command.ensure_finalized()
    folder = command.build_lib
    command.run()
    (made,) = Path("build").rglob("*.so")
    # Setuptools finds the modules of a strict editable install by this path.
    assert command.build_lib == folder
    return before.get(made) != made.stat().st_mtime_ns


def test_a_module_is_recompiled_only_with_other_flags(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_compiled(build, "-O0")
    assert not is_compiled(build, "-O0")
    assert is_compiled(build, "-O1")
    assert not is_compiled(build, "-O1")
    monkeypatch.setenv("CFLAGS", "-DOTHER")
    assert is_compiled(build, "-O1")
    assert not is_compiled(build, "-O1")


def test_only_a_trial_keeps_modules_compiled_with_other_flags(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_compiled(build, "-O0")
    with monkeypatch.context() as patch:
        patch.setattr(build, "TRIAL", True)
        assert not is_compiled(build, "-O1")
    assert is_compiled(build, "-O0")
