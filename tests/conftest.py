"""Hooks for all tests."""

import ctypes
import os

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let xdist's workers write the coverage of the compiled engine: they exit without running exit()'s handlers."""
    if hasattr(config, "workerinput") and "CHATIERE_COVERAGE" in os.environ:
        ctypes.CDLL(None).exit(0)
