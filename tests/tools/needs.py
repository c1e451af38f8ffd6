"""Programs, libraries and rights that some tests need and that the README does not require.

A test or module has the mark `needs("Redis")`. A fixture or helper calls `require("Redis")`. If one is missing, the
tests are skipped, all with the same reason, and the last lines of the run count them (`summary`).
"""

import importlib
import importlib.util
import os
import shutil
import socket
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache

import pytest

OLDEST_NODE = 20
"""The oldest release of Node with all features that the page and the TypeScript package use."""


def _is_fast_door_built() -> bool:
    try:
        importlib.import_module("chatiere.http2.server")
    except ImportError:
        return False
    return True


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def _has_node() -> bool:
    if shutil.which("npm") is None or shutil.which("node") is None:
        return False
    version = subprocess.run(("node", "--version"), capture_output=True, text=True, check=True).stdout
    return int(version.removeprefix("v").partition(".")[0]) >= OLDEST_NODE


def _programs(*names: str) -> Callable[[], bool]:
    return lambda: None not in map(shutil.which, names)


def _library(name: str) -> tuple[Callable[[], bool], str]:
    return lambda: importlib.util.find_spec(name) is not None, "make build"


# Libraries of the dependency group `dev`. A module that imports one of them at its top is skipped without a mark.
_LIBRARIES = (
    "cma",
    "datasets",
    "duckdb",
    "jax",
    "onnx",
    "onnxruntime",
    "pandas",
    "playwright",
    "polars",
    "pyspiel",
    "ray",
)

# For each need, how to detect it, and how to install it. `.ci/install` installs all programs but the last three.
_NEEDS: dict[str, tuple[Callable[[], bool], str]] = {
    "libnghttp2": (_is_fast_door_built, "apt install libnghttp2-dev pkg-config, then make"),
    "Redis": (_programs("redis-server"), "apt install redis-server"),
    "Prometheus": (_programs("prometheus", "promtool"), "apt install prometheus"),
    "Chromium": (_programs("chromium"), "apt install chromium"),
    "Firefox": (lambda: bool(shutil.which("firefox-esr") or shutil.which("firefox")), "apt install firefox-esr"),
    "WebKit": (_programs("WebKitWebDriver", "Xvfb"), "apt install webkit2gtk-driver xvfb"),
    "Node": (_has_node, f"install Node {OLDEST_NODE} or later, with npm"),
    "IPv6": (_has_ipv6, "give the loopback interface the address ::1"),
    "root": (lambda: os.geteuid() == 0, "run make as root"),
    "/proc": (lambda: os.path.exists("/proc/self/task"), "run make on Linux"),
    "kubectl": (_programs("kubectl"), "install Kubernetes' kubectl"),
    "grpcurl": (_programs("grpcurl"), "go install github.com/fullstorydev/grpcurl/cmd/grpcurl@latest"),
    "conformance": (_programs("conformance"), "npm install -g @modelcontextprotocol/conformance (Node 22 or later)"),
    **{name: _library(name) for name in _LIBRARIES},
    # These are not in a dependency group, because PyPI's torch depends on CUDA's wheels.
    **{name: (_library(name)[0], "pip install torch tensorboard") for name in ("torch", "tensorboard")},
}


@cache
def missing(name: str) -> str | None:
    """Return the reason to skip tests that need `name` (an entry of the table, or a program); None if it is there."""
    is_there, source = _NEEDS.get(name, (_programs(name), "bash .ci/install"))
    return None if is_there() else f"needs {name} ({source})"


def needs(*names: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test, or with `pytestmark` a module's tests, if one of `names` is missing."""
    reason = next(filter(None, map(missing, names)), "")
    return pytest.mark.skipif(bool(reason), reason=reason)


class Module(pytest.Module):
    """A test module that is skipped if it imports a library that is not installed."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Return the module's tests and classes."""
        try:
            return super().collect()
        except self.CollectError as error:
            library = str(getattr(error.__cause__, "name", "")).partition(".")[0]
            if library in _NEEDS:
                require(library)
            raise


def require(*names: str) -> None:
    """Skip the test, or the module that is being imported, if one of `names` is missing."""
    for name in names:
        if reason := missing(name):
            pytest.skip(reason, allow_module_level=True)


def summary(reasons: Iterable[str]) -> str:
    """Return a line that counts the skipped tests by what they need, or an empty string if no tests were skipped."""
    counts = Counter(reason.removeprefix("needs ") for reason in reasons if reason.startswith("needs "))
    return ", ".join(f"{count} for {need}" for need, count in counts.most_common())
