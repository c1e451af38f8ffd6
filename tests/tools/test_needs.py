"""Tests that need a missing program or library are skipped, all with the same reason."""

import importlib.util
from typing import Any

import pytest

from . import needs

pytest_plugins = "pytester"


def test_a_module_that_imports_a_missing_library_is_skipped(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec

    def find_others(name: str, package: str | None = None) -> Any:
        return None if name == "absent" else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_others)
    monkeypatch.setitem(needs._NEEDS, "absent", needs._library("absent"))
    needs.missing.cache_clear()
    pytester.makeconftest(
        "from tools.needs import Module\n"
        "def pytest_pycollect_makemodule(module_path, parent):\n"
        "    return Module.from_parent(parent, path=module_path)\n"
    )
    pytester.makepyfile(
        test_missing="import absent.part\ndef test_it(): ...\n",
        test_wrong="import chatiere.absent\ndef test_it(): ...\n",
        test_there="def test_it(): ...\n",
    )
    result = pytester.inline_run("-p", "no:cacheprovider", "--continue-on-collection-errors")
    result.assertoutcome(passed=1, skipped=1, failed=1)
