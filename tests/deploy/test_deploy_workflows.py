"""Workflows of a public forge run only the Makefile's targets, with actions pinned by hash."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z][a-z0-9-]*):.*?## ", MAKEFILE, re.M))
SETTINGS = set(re.findall(r"^([A-Z_]+) \?=", MAKEFILE, re.M))
# The steps that do not run make.
OTHER_STEPS = ("bash .ci/install", 'git config --global --add safe.directory "$GITHUB_WORKSPACE"')
of_workflows = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def jobs(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load(path.read_text("utf-8"))["jobs"].values())


def made(path: Path) -> Iterator[str]:
    """Yield the arguments of the make commands in a workflow."""
    for job in jobs(path):
        commands = [step["run"] for step in job["steps"] if "run" in step and step["run"] not in OTHER_STEPS]
        (command,) = commands
        assert command.startswith("make "), command
        arguments = command.removeprefix("make ")
        if arguments == "${{ matrix.targets }}":
            yield from job["strategy"]["matrix"]["targets"]
        else:
            assert "${{" not in arguments
            yield arguments


def test_there_are_workflows_for_changes_nightly_runs_and_releases() -> None:
    assert [path.stem for path in WORKFLOWS] == ["ci", "nightly", "release"]


@of_workflows
def test_every_target_and_setting_is_in_the_makefile(path: Path) -> None:
    for arguments in made(path):
        for argument in shlex.split(arguments):
            name, is_setting, _ = argument.partition("=")
            assert name in (SETTINGS if is_setting else TARGETS), argument


def test_workflows_run_the_required_targets() -> None:
    arguments = set(" ".join(made(ROOT / ".github/workflows/ci.yml")).split())
    assert {"lint", "test", "test-all", "compat", "clients", "docs", "debug", "coverage", "wheel"} <= arguments
    assert {"fuzz", "fuzz-tables", "fuzz-http2"} <= set(" ".join(made(ROOT / ".github/workflows/nightly.yml")).split())
    script = (ROOT / ".ci/run").read_text("utf-8")
    tried = {word for line in re.findall(r"^make (.*)", script, re.M) for word in shlex.split(line, comments=True)}
    assert arguments & TARGETS <= tried


@of_workflows
def test_actions_are_pinned_with_the_version_in_a_comment(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text("utf-8"))
    assert used
    for each in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each), each


@of_workflows
def test_jobs_have_minimal_permissions(path: Path) -> None:
    assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {}
    for job in jobs(path):
        assert job["permissions"]["contents"] == "read"
        attests = any("attest@" in step.get("uses", "") for step in job["steps"])
        assert set(job["permissions"]) == {"contents"} | ({"id-token", "attestations"} if attests else set())
        for step in job["steps"]:
            if "actions/checkout@" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def test_each_action_is_used_in_one_version() -> None:
    used = {each for path in WORKFLOWS for each in re.findall(r"uses: (.*)", path.read_text("utf-8"))}
    assert len({each.partition("@")[0] for each in used}) == len(used)
