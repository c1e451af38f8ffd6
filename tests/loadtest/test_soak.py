"""A soak of a few seconds. Its budget detects memory and descriptors that are not released."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tools.needs import require

from loadtest import soak
from loadtest.siege import attacks, plan

pytestmark = pytest.mark.long

QUARTERS = {
    "resident": [90.0, 100.0, 120.0, 116.0],
    "descriptors": [20.0, 30.0, 40.0, 32.0],
    "threads": [9.0, 12.0, 12.0, 14.0],
    "tasks": [8.0, 8.0, 8.0, 7.0],
}
GOOD = soak.SoakResult(20.0, QUARTERS, {}, {}, {}, {}, errors=[], has_stopped=True)


def test_the_plan_can_be_read() -> None:
    read = plan.read_plan(soak.NAME)
    assert read.meaning
    assert {attack.kind for attack in read.attacks} <= attacks.KINDS.keys()
    assert {door for attack in read.attacks for door in attack.doors} == plan.DOORS.keys()


def test_a_soak_ends_with_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    require("libnghttp2")
    few = [each for each in plan.read_plan(soak.NAME).attacks if each.kind in ("half_open", "failing")]
    soak.soak(plan.Plan("", [replace(each, doors=("web", "fast")) for each in few]), 0.15, tmp_path / "soak.json")
    reported = json.loads((tmp_path / "soak.json").read_text())
    assert reported["failures"] == {}
    assert reported["errors"] == []
    assert reported["came"]["begun"] > 0
    assert all(reported["calls"].values())
    assert all(len(quarters) == 4 and min(quarters) > 0 for quarters in reported["quarters"].values())
    assert "| descriptors | " in capsys.readouterr().out


def test_a_result_within_its_budget_passes() -> None:
    assert GOOD.broken() == []


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            replace(GOOD, quarters={"resident": [0, 100, 0, 117]}),
            "resident grew from 100 to 117 between the second quarter and the last",
        ),
        (
            replace(GOOD, quarters={"descriptors": [0, 30, 0, 33]}),
            "descriptors grew from 30 to 33 between the second quarter and the last",
        ),
        (replace(GOOD, failures={"web: game: oh": 2}), "2 calls failed at web: game: oh"),
        (replace(GOOD, errors=["… ERROR … incident"]), "the server logged … ERROR … incident"),
        (replace(GOOD, has_stopped=False), "the server did not stop when requested"),
    ],
)
def test_violations_of_the_budget_are_reported(result: soak.SoakResult, message: str) -> None:
    assert result.broken() == [message]
