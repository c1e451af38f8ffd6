"""MCP's own conformance runner tests a server over HTTP."""

import subprocess
from pathlib import Path

import pytest
from tools.needs import needs

from .support import served

EXCEPTIONS = Path(__file__).with_name("conformance.yml")


@pytest.mark.long
@needs("conformance")
def test_the_conformance_runner_finds_only_the_listed_exceptions(tmp_path: Path) -> None:
    with served() as server:
        command: list[str | Path] = ["conformance", "server", "--url", server.url, "--expected-failures", EXCEPTIONS]
        run = subprocess.run([*command, "--output-dir", tmp_path], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    for scenario in ("server-initialize", "ping", "tools-list", "tools-call-error", "dns-rebinding-protection"):
        assert f"✓ {scenario}: " in run.stdout
