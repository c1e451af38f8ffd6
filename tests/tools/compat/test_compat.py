"""The plan of `make compat`: the releases that are tried, and the extras that it covers."""

import pytest
from packaging.requirements import Requirement

from .__main__ import PROGRAMS, PROJECT, ROWS, lowest, requirements

# The extras of the client and the service. Other tests install them.
OTHERS = {"client", "redis", "service", "traces", "web"}


def test_every_extra_of_a_library_is_tried() -> None:
    assert {extra for row in ROWS for extra in row.extras} == set(PROJECT["optional-dependencies"]) - OTHERS
    assert {row.program for row in ROWS} == {path.stem for path in PROGRAMS.glob("*.py")}


@pytest.mark.parametrize(
    ("allowed", "found"),
    [("gymnasium>=1.2,<2", "gymnasium==1.2"), ("ray[rllib]>=2.50", "ray[rllib]==2.50"), ("click~=8.5", "click==8.5")],
)
def test_the_lowest_release_is_the_lower_bound(allowed: str, found: str) -> None:
    assert lowest(Requirement(allowed)) == found


def test_an_extra_includes_the_extras_that_it_names() -> None:
    (row,) = (row for row in ROWS if "ray" in row.extras)
    names = [Requirement(text).name for text in requirements(row, is_lowest=True)]
    assert "pyarrow" in names
    assert PROJECT["name"] not in names
